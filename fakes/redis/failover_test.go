package redis_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

// held is what a key holds, without the time that it has left.
type held struct {
	value    string
	deadline int64 // in ms since 1970; -1: none
}

func snapshot(w *sim.World, s *redis.Server) map[string]held {
	p, all := s.Peek(), map[string]held{}
	for _, k := range p.Keys() {
		text, _ := p.Get(k)
		h := held{fmt.Sprint(p.Type(k), text, p.HGetAll(k), p.ZRange(k), p.SMembers(k), p.LRange(k), p.XLen(k)), -1}
		if left := p.PTTL(k); left >= 0 {
			h.deadline = w.Now().UnixMilli() + left
		}
		all[k] = h
	}
	return all
}

// Whatever the last calls wrote, a failover that loses them leaves what stood before
// them, but for what has expired since.
func TestFailoverLosesExactlyTheLastWrites(t *testing.T) {
	failovers, expired := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cmds := rapid.SliceOfN(command, 10, 40).Draw(t, "commands")
		w := sim.New(sim.Options{})
		defer w.Close()
		s := redis.New(w, redis.Options{Undo: 12})
		wrote := false
		s.OnWrite(func(redis.WriteInfo) { wrote = true })
		p := w.Process("e1")
		rdb := s.Client(p)
		p.Go(p.Context(), "t", func(ctx context.Context) {
			history := []map[string]held{snapshot(w, s)} // before the first call that wrote, and after each
			for i, cmd := range cmds {
				_ = p.Sleep(ctx, 500*time.Millisecond)
				wrote = false
				if i%7 == 3 {
					_, _ = rdb.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
						pipe.Do(ctx, cmd...)
						pipe.RPush(ctx, "list", i)
						return nil
					})
				} else {
					_ = rdb.Do(ctx, cmd...).Err()
				}
				if wrote {
					history = append(history, snapshot(w, s))
				}
				if i%9 != 8 {
					continue
				}
				lose := rapid.IntRange(0, min(12, len(history)-1)).Draw(t, "lose")
				if i > 9 {
					lose = min(lose, 2) // the log does not remember what came before the last failover but one
				}
				s.Failover(lose)
				failovers++
				history = history[:len(history)-lose]
				want := map[string]held{}
				for k, h := range history[len(history)-1] {
					if h.deadline >= 0 && h.deadline < w.Now().UnixMilli() {
						expired++
					} else {
						want[k] = h
					}
				}
				require.Equal(t, want, snapshot(w, s), "after the loss of %d calls", lose)
			}
		})
		w.RunFor(time.Hour)
		require.Empty(t, w.Failures())
	})
	require.Greater(t, failovers, 100)
	require.Positive(t, expired, "no lost write hid an expiry")
}

// A call is lost as a whole, an eviction with it; scripts are forgotten, and the trace
// says what was lost.
func TestFailover(t *testing.T) {
	for _, lua := range []bool{false, true} {
		sc := newScene(t, 1, false, redis.Options{Scripts: beginScripts, Lua: lua, Undo: 2})
		sc.s.DB().HSet("intent", "generation", "7", "status", "active")
		var told redis.Failover
		sc.w.Trace().Watch(func(e *sim.Event) {
			if f, ok := e.Data.(redis.Failover); ok {
				told = f
			}
		})
		sc.run(func(ctx context.Context) {
			call := func() error { return sc.rdb.EvalSha(ctx, beginSHA, beginKeys, beginArgs...).Err() }
			sc.rdb.Set(ctx, "first", "v", 0)
			require.NoError(t, call())
			sc.rdb.Get(ctx, "first") // no write
			sc.s.Evict("first")
			sc.s.Failover(1)
			require.Equal(t, redis.Failover{Lost: 1, Keys: []string{"asset-state", "cancel", "deferred", "first", "intent", "jobs", "lease", "outbox", "record", "slots"}}, told)
			require.Equal(t, []string{"first", "intent"}, sc.s.Keys())
			require.ErrorContains(t, call(), "NOSCRIPT")
			require.NoError(t, sc.rdb.Eval(ctx, beginSource, beginKeys, beginArgs...).Err())
			require.NoError(t, call())

			sc.s.Failover(100)
			require.Equal(t, 2, told.Lost, "no more calls are remembered")
			require.Equal(t, []string{"first", "intent"}, sc.s.Keys())
		})
	}
}
