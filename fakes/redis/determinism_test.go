package redis_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

const crowd = 20

// crowded lets 20 tasks work on one client and returns the world's digest, and how
// many goroutines the run started beyond its tasks and go-redis' dials.
func crowded(t *testing.T, seed uint64) (digest string, strangers int) {
	sc := newScene(t, seed, true, redis.Options{Scripts: beginScripts})
	sc.s.DB().HSet("intent", "generation", "7", "status", "active")
	sc.w.Inject(sim.Rule{ID: "r", Match: func(n sim.CallName) bool { return n.Verb == "incr" }, Effect: "lost", Rate: 0.2})
	dialled := sc.rdb.PoolStats().Misses
	before := goroutinesCreated()
	for i := range crowd {
		sc.p.Go(sc.p.Context(), fmt.Sprintf("t%d", i), func(ctx context.Context) {
			for n := range 10 {
				sc.rdb.Incr(ctx, "n")
				_, _ = sc.rdb.Pipelined(ctx, func(p goredis.Pipeliner) error {
					p.SAdd(ctx, "set", i*n%7)
					p.SMembers(ctx, "set")
					return nil
				})
				sc.rdb.EvalSha(ctx, beginSHA, beginKeys, beginArgs...)
				bounded, cancel := sc.p.WithTimeout(ctx, time.Millisecond)
				sc.rdb.Get(bounded, "n")
				cancel()
				_ = sc.p.Sleep(ctx, time.Millisecond)
			}
		})
	}
	sc.w.RunFor(time.Minute)
	require.Empty(t, sc.w.Failures())
	require.NotEmpty(t, sc.w.Fired())
	dials := int(sc.rdb.PoolStats().Misses - dialled)
	return sc.w.Trace().Digest(), int(goroutinesCreated()-before) - crowd - dials
}

// goroutinesCreated counts goroutines and the coroutines of tasks.
func goroutinesCreated() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestManyTasksOnOneClientAreDeterministic(t *testing.T) {
	want, _ := crowded(t, 1)
	for range 50 {
		got, _ := crowded(t, 1)
		require.Equal(t, want, got)
	}
	other, _ := crowded(t, 2)
	require.NotEqual(t, want, other)
}

func TestARunStartsNoGoroutineButADial(t *testing.T) {
	_, _ = crowded(t, 1)
	runtime.GC() // starts the collector's workers
	_, strangers := crowded(t, 1)
	require.Zero(t, strangers)
}

func TestScansMayRepeatAndMissNothingThatStays(t *testing.T) {
	repeats, orders := 0, map[string]bool{}
	for seed := range uint64(20) {
		sc := newScene(t, seed, false, redis.Options{})
		sc.run(func(ctx context.Context) {
			for i := range 200 {
				sc.rdb.Set(ctx, fmt.Sprintf("stays:%03d", i), 1, 0)
				sc.rdb.Set(ctx, fmt.Sprintf("other:%03d", i), 1, 0)
			}
			seen := map[string]int{}
			cursor, pages, first := uint64(0), 0, ""
			for {
				page, next, err := sc.rdb.Scan(ctx, cursor, "stays:*", 20).Result()
				require.NoError(t, err)
				require.LessOrEqual(t, len(page), 20)
				for _, k := range page {
					require.Regexp(t, "^stays:", k)
					seen[k]++
				}
				if pages == 0 && len(page) > 0 {
					first = page[0]
				}
				pages++
				// The world does not stand still meanwhile.
				sc.rdb.Del(ctx, fmt.Sprintf("other:%03d", pages))
				sc.rdb.Set(ctx, fmt.Sprintf("stays:new%d", pages), 1, 0)
				if cursor = next; cursor == 0 {
					break
				}
			}
			for i := range 200 {
				require.Positive(t, seen[fmt.Sprintf("stays:%03d", i)], "seed %d misses key %d", seed, i)
			}
			require.GreaterOrEqual(t, pages, 20)
			for _, n := range seen { //nolint:maprange // it counts
				if n > 1 {
					repeats++
				}
			}
			orders[first] = true
		})
	}
	require.Positive(t, repeats, "no page of 20 scans came twice")
	require.Greater(t, len(orders), 5, "the order should depend on the seed")
}
