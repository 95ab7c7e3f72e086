package redis_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

// The fake is measured beside the ordinary way: a go-redis client on miniredis'
// in-memory pipe. Calls have no latency; the trace is on.

// inWorld runs fn in a task of a fresh world.
func inWorld(tb testing.TB, o redis.Options, fn func(ctx context.Context, rdb *goredis.Client)) {
	w := sim.New(sim.Options{Keep: 100})
	defer w.Close()
	p := w.Process("e1")
	rdb := redis.New(w, o).Client(p)
	p.Go(p.Context(), "t", func(ctx context.Context) { fn(ctx, rdb) })
	w.RunFor(time.Hour)
	require.Empty(tb, w.Failures())
}

// onPipe runs fn with a client on miniredis' pipe.
func onPipe(fn func(ctx context.Context, rdb *goredis.Client)) {
	m := miniredis.NewMiniRedis()
	defer m.Close()
	rdb := goredis.NewClient(&goredis.Options{
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
	})
	defer rdb.Close()
	fn(context.Background(), rdb)
}

func gets(b *testing.B, n int) func(context.Context, *goredis.Client) {
	return func(ctx context.Context, rdb *goredis.Client) {
		require.NoError(b, rdb.Set(ctx, "k", "v", 0).Err())
		for range n {
			if err := rdb.Get(ctx, "k").Err(); err != nil {
				b.Error(err)
				return
			}
		}
	}
}

func scripts(b *testing.B, n int) func(context.Context, *goredis.Client) {
	return func(ctx context.Context, rdb *goredis.Client) {
		require.NoError(b, rdb.HSet(ctx, "intent", "generation", 7, "status", "active").Err())
		require.NoError(b, rdb.ScriptLoad(ctx, beginSource).Err())
		for range n {
			reply, err := rdb.EvalSha(ctx, beginSHA, beginKeys, beginArgs...).Slice()
			if err != nil || reply[0] != "ok" {
				b.Error(reply, err)
				return
			}
		}
	}
}

// ratio times both ways by turns and compares the best rounds, so that what else the
// machine does disturbs neither.
func ratio(b *testing.B, ours, theirs func(n int)) {
	const n = 500
	mine, other := time.Hour, time.Hour
	for b.Loop() {
		for range 10 {
			mine, other = min(mine, timed(ours, n)), min(other, timed(theirs, n))
		}
	}
	b.ReportMetric(float64(mine)/float64(other), "ratio")
	b.ReportMetric(float64(mine.Nanoseconds())/n, "ns/ours")
	b.ReportMetric(float64(other.Nanoseconds())/n, "ns/theirs")
}

func timed(fn func(n int), n int) time.Duration {
	start := time.Now()
	fn(n)
	return time.Since(start)
}

// BenchmarkGet: at most 0.5.
func BenchmarkGet(b *testing.B) {
	ratio(b,
		func(n int) { inWorld(b, redis.Options{}, gets(b, n)) },
		func(n int) { onPipe(gets(b, n)) })
}

// BenchmarkScript: at most 0.05.
func BenchmarkScript(b *testing.B) {
	ratio(b,
		func(n int) { inWorld(b, redis.Options{Scripts: beginScripts}, scripts(b, n)) },
		func(n int) { onPipe(scripts(b, n)) })
}

// BenchmarkClock asks once a second of virtual time, with 10,000 keys that expire
// and with 100: at most 1.5.
func BenchmarkClock(b *testing.B) {
	seconds := func(keys int) func(n int) {
		w := sim.New(sim.Options{Keep: 100})
		b.Cleanup(w.Close)
		p := w.Process("e1")
		s := redis.New(w, redis.Options{})
		for i := range keys {
			s.DB().SetPX(fmt.Sprint("key", i), "v", 1e12)
		}
		rdb := s.Client(p)
		p.Go(p.Context(), "t", func(ctx context.Context) {
			for {
				_ = p.Sleep(ctx, time.Second)
				rdb.Exists(ctx, "nothing")
			}
		})
		return func(n int) { w.RunFor(time.Duration(n) * time.Second) }
	}
	ratio(b, seconds(10_000), seconds(100))
}
