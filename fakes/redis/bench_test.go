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

// job is what is measured: once prepare, then again and again each.
type job struct {
	prepare, each func(context.Context, *goredis.Client) error
}

// inWorld returns a function that does the job n times in a task of a world, within
// a second of virtual time each.
func inWorld(b *testing.B, o redis.Options, seed func(*redis.DB), j job) func(n int) {
	w := sim.New(sim.Options{Keep: 100, Steps: 1 << 40})
	b.Cleanup(w.Close)
	p := w.Process("e1")
	s := redis.New(w, o)
	if seed != nil {
		seed(s.DB())
	}
	rdb, n := s.Client(p), 0
	p.Go(p.Context(), "t", func(ctx context.Context) {
		require.NoError(b, j.prepare(ctx, rdb))
		for {
			_ = p.Sleep(ctx, time.Second)
			for range n {
				require.NoError(b, j.each(ctx, rdb))
			}
		}
	})
	w.RunFor(0)
	return func(times int) {
		n = times
		w.RunFor(time.Second)
		require.Empty(b, w.Failures())
	}
}

// onPipe is inWorld for a client on miniredis' pipe.
func onPipe(b *testing.B, j job) func(n int) {
	m := miniredis.NewMiniRedis()
	b.Cleanup(m.Close)
	rdb := goredis.NewClient(&goredis.Options{
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
	})
	b.Cleanup(func() { _ = rdb.Close() })
	ctx := context.Background()
	require.NoError(b, j.prepare(ctx, rdb))
	return func(n int) {
		for range n {
			require.NoError(b, j.each(ctx, rdb))
		}
	}
}

// ratio times both ways by turns and compares the best rounds, so that what else the
// machine does disturbs neither.
func ratio(b *testing.B, n int, ours, theirs func(n int)) {
	timed := func(fn func(n int)) time.Duration {
		start := time.Now()
		fn(n)
		return time.Since(start)
	}
	mine, other := time.Hour, time.Hour
	for b.Loop() {
		for range 10 {
			mine, other = min(mine, timed(ours)), min(other, timed(theirs))
		}
	}
	b.ReportMetric(float64(mine)/float64(other), "ratio")
	b.ReportMetric(float64(mine.Nanoseconds())/float64(n), "ns/ours")
	b.ReportMetric(float64(other.Nanoseconds())/float64(n), "ns/theirs")
}

// BenchmarkGet: at most 0.5.
func BenchmarkGet(b *testing.B) {
	get := job{
		prepare: func(ctx context.Context, rdb *goredis.Client) error { return rdb.Set(ctx, "k", "v", 0).Err() },
		each:    func(ctx context.Context, rdb *goredis.Client) error { return rdb.Get(ctx, "k").Err() },
	}
	ratio(b, 1000, inWorld(b, redis.Options{}, nil, get), onPipe(b, get))
}

// BenchmarkScript: at most 0.05.
func BenchmarkScript(b *testing.B) {
	script := job{
		prepare: func(ctx context.Context, rdb *goredis.Client) error {
			rdb.ScriptLoad(ctx, beginSource)
			return rdb.HSet(ctx, "intent", "generation", 7, "status", "active").Err()
		},
		each: func(ctx context.Context, rdb *goredis.Client) error {
			reply, err := rdb.EvalSha(ctx, beginSHA, beginKeys, beginArgs...).Slice()
			if err == nil && reply[0] != "ok" {
				return fmt.Errorf("refused: %v", reply)
			}
			return err
		},
	}
	ratio(b, 100, inWorld(b, redis.Options{Scripts: beginScripts}, nil, script), onPipe(b, script))
}

// BenchmarkClock asks once a second of virtual time, with 10,000 keys that expire
// and with 100: at most 1.5.
func BenchmarkClock(b *testing.B) {
	with := func(keys int) func(n int) {
		seed := func(db *redis.DB) {
			for i := range keys {
				db.SetPX(fmt.Sprint("key", i), "v", 1e12)
			}
		}
		ask := func(ctx context.Context, rdb *goredis.Client) error { return rdb.Exists(ctx, "nothing").Err() }
		second := inWorld(b, redis.Options{}, seed, job{ask, ask})
		return func(n int) {
			for range n {
				second(1)
			}
		}
	}
	ratio(b, 1000, with(10_000), with(100))
}
