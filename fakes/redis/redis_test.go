package redis_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

// scene is a world with one server and one process.
type scene struct {
	t   *testing.T
	w   *sim.World
	p   *sim.Process
	s   *redis.Server
	rdb *goredis.Client
}

func newScene(t *testing.T, seed uint64, latency bool, o redis.Options) *scene {
	settings := sim.Options{Seed: seed}
	if latency {
		settings.Latency = map[string]sim.Latency{redis.Service: {Min: 50 * time.Microsecond, Max: 2 * time.Millisecond}}
	}
	w := sim.New(settings)
	t.Cleanup(w.Close)
	p := w.Process("e1")
	s := redis.New(w, o)
	return &scene{t, w, p, s, s.Client(p)}
}

// run runs fn as a task, for an hour of virtual time.
func (sc *scene) run(fn func(ctx context.Context)) {
	sc.p.Go(sc.p.Context(), "task", fn)
	sc.w.RunFor(time.Hour)
	require.Empty(sc.t, sc.w.Failures())
}

// fault injects an effect on the calls of a verb.
func (sc *scene) fault(verb string, rule sim.Rule) {
	rule.ID = "rule " + rule.Effect
	rule.Match = func(n sim.CallName) bool { return n.Service == redis.Service && n.Verb == verb }
	sc.w.Inject(rule)
}

func TestAKeyLivesThroughItsDeadline(t *testing.T) {
	for _, latency := range []bool{false, true} {
		sc := newScene(t, 1, latency, redis.Options{})
		sc.run(func(ctx context.Context) {
			sc.rdb.Set(ctx, "k", "v", 1500*time.Millisecond)
			sc.rdb.HSet(ctx, "h", "f", "v")
			require.True(t, sc.rdb.PExpire(ctx, "h", 1500*time.Millisecond).Val())
			deadline := sc.w.Now().UnixMilli() + sc.s.Peek().PTTL("k")
			for _, left := range []int64{1500, 1499, 700, 1, 0, -1} {
				if latency && left > 700 {
					continue
				}
				_ = sc.p.Sleep(ctx, time.UnixMilli(deadline-left).Sub(sc.w.Now()))
				alive := left >= 0
				require.Equal(t, alive, sc.s.Peek().Exists("k"), "%d ms before the deadline", left)
				if latency {
					continue // a command arrives later than it is sent
				}
				want := map[bool]int64{true: left, false: -2}[alive]
				require.Equal(t, time.Duration(want), sc.rdb.PTTL(ctx, "h").Val()/max(1, time.Duration(boolInt(alive))*time.Millisecond), "%d ms before the deadline", left)
				require.Equal(t, want, sc.s.Peek().PTTL("k"))
				require.EqualValues(t, 2*boolInt(alive), sc.rdb.Exists(ctx, "k", "h").Val(), "%d ms before the deadline", left)
			}
		})
		require.Empty(t, sc.s.Keys())
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestWhatCommandsDoToDeadlines(t *testing.T) {
	sc := newScene(t, 1, false, redis.Options{})
	sc.run(func(ctx context.Context) {
		do := func(args ...any) any { return sc.rdb.Do(ctx, args...).Val() }
		for _, c := range []struct {
			name string
			args []any
			want int64
		}{
			{"set drops it", []any{"set", "k", "w"}, -1},
			{"set keepttl keeps it", []any{"set", "k", "w", "keepttl"}, 6000},
			{"set px replaces it", []any{"set", "k", "w", "px", 9000}, 9000},
			{"append keeps it", []any{"append", "k", "w"}, 6000},
			{"persist drops it", []any{"persist", "k"}, -1},
			{"expire sets it", []any{"expire", "k", 3}, 3000},
			{"pexpireat sets it", []any{"pexpireat", "k", sim.Epoch.UnixMilli() + 8000}, 4000},
			{"pexpire nx leaves it", []any{"pexpire", "k", 1, "nx"}, 6000},
			{"pexpire 0 deletes", []any{"pexpire", "k", 0}, -2},
			{"del deletes", []any{"del", "k"}, -2},
			{"rename takes it along", []any{"rename", "k", "k2"}, -2},
		} {
			sc.s.DB().Do("DEL", "k", "k2")
			at := sc.w.Elapsed()
			do("set", "k", "v", "px", 10_000)
			_ = sc.p.Sleep(ctx, 4*time.Second)
			if c.args[0] == "pexpireat" {
				c.args[2] = sim.Epoch.Add(at).UnixMilli() + 8000
			}
			do(c.args...)
			require.Equal(t, c.want, sc.s.Peek().PTTL("k"), c.name)
			if c.want >= 0 {
				require.EqualValues(t, c.want, do("pttl", "k"), c.name)
				require.EqualValues(t, (c.want+500)/1000, do("ttl", "k"), c.name)
				require.EqualValues(t, sc.w.Now().UnixMilli()+c.want, do("pexpiretime", "k"), c.name)
			}
		}
		require.EqualValues(t, 6000, sc.s.Peek().PTTL("k2"))
	})
}

func TestTenThousandKeysExpireOneByOne(t *testing.T) {
	sc := newScene(t, 1, false, redis.Options{})
	const n = 10_000
	sc.run(func(ctx context.Context) {
		pipe := sc.rdb.Pipeline()
		for i := range n {
			pipe.Set(ctx, fmt.Sprintf("k%05d", i), i, time.Duration(i+1)*100*time.Millisecond)
		}
		_, err := pipe.Exec(ctx)
		require.NoError(t, err)
		for range 10 {
			_ = sc.p.Sleep(ctx, 100*time.Second)
			gone := int64(sc.w.Elapsed()/(100*time.Millisecond)) - 1 // the last one lives through this ms
			require.EqualValues(t, n-gone, sc.rdb.DBSize(ctx).Val())
			require.Len(t, sc.s.Keys(), int(n-gone))
		}
		_ = sc.p.Sleep(ctx, time.Millisecond)
		require.EqualValues(t, 0, sc.rdb.DBSize(ctx).Val())
	})
}

func TestAPipelineIsOneCall(t *testing.T) {
	subject := func(verb string, keys []string) string { return fmt.Sprint(verb, keys) }
	sc := newScene(t, 1, true, redis.Options{Subject: subject})
	sc.run(func(ctx context.Context) {
		pipe := sc.rdb.Pipeline()
		pipe.Set(ctx, "a", 1, 0)
		get := pipe.Get(ctx, "a")
		pipe.HIncrBy(ctx, "a", "f", 1)
		_, err := pipe.Exec(ctx)
		require.ErrorContains(t, err, "WRONGTYPE")
		require.Equal(t, "1", get.Val())
		_, err = sc.rdb.Pipelined(ctx, func(p goredis.Pipeliner) error { p.Get(ctx, "a"); p.Get(ctx, "b"); return nil })
		require.ErrorIs(t, err, goredis.Nil)
	})
	events := sc.w.Trace().Last(10)
	require.Len(t, events, 2)
	require.Equal(t, "redis.pipeline x3", events[0].Detail)
	require.Equal(t, "pipeline[a a a]", events[0].Subject)
	require.Contains(t, events[0].Outcome, "WRONGTYPE")
	require.Equal(t, "redis.get x2", events[1].Detail)
	require.Equal(t, "ok", events[1].Outcome)
}

func TestFaultsOfACall(t *testing.T) {
	for _, c := range []struct {
		rule   sim.Rule
		err    []error // of the first call; none: it answers
		done   int64   // how often the first call was carried out
		within time.Duration
	}{
		{rule: sim.Rule{Effect: "refuse"}, err: []error{syscall.ECONNREFUSED, sim.ErrRefused}},
		{rule: sim.Rule{Effect: "down"}, err: []error{syscall.ECONNREFUSED}},
		{rule: sim.Rule{Effect: "lost"}, err: []error{syscall.ECONNRESET, sim.ErrReset}, done: 1},
		{rule: sim.Rule{Effect: "cut"}, err: []error{syscall.ECONNRESET}},
		{rule: sim.Rule{Effect: "hang"}, err: []error{os.ErrDeadlineExceeded, sim.ErrDeadline}, within: 3 * time.Second},
		{rule: sim.Rule{Effect: "late", Delay: time.Minute}, err: []error{os.ErrDeadlineExceeded}, done: 1, within: 3 * time.Second},
		{rule: sim.Rule{Effect: "slow", Delay: time.Second}, done: 1, within: 1100 * time.Millisecond},
	} {
		t.Run(c.rule.Effect, func(t *testing.T) {
			sc := newScene(t, 1, true, redis.Options{})
			c.rule.NthMax = 1
			sc.fault("incr", c.rule)
			real := time.Now()
			sc.run(func(ctx context.Context) {
				bounded, cancel := sc.p.WithTimeout(ctx, 3*time.Second)
				err := sc.rdb.Incr(bounded, "n").Err()
				cancel()
				require.Equal(t, c.err == nil, err == nil, "%v", err)
				for _, want := range c.err {
					require.ErrorIs(t, err, want)
				}
				require.LessOrEqual(t, sc.w.Elapsed(), c.within+100*time.Millisecond)
				// The client heals at once, on a new connection.
				require.Equal(t, c.done+1, sc.rdb.Incr(ctx, "n").Val())
			})
			require.Len(t, sc.w.Fired(), 1)
			require.Less(t, time.Since(real), 900*time.Millisecond, "go-redis slept in real time")
		})
	}
}

// What would end by the wall clock would never end in a world that hangs.
func TestADeadlineOfTheWallClockFails(t *testing.T) {
	for name, hang := range map[string]func(context.Context, *scene) error{
		"of the context": func(ctx context.Context, sc *scene) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			return sc.rdb.Incr(ctx, "n").Err()
		},
		"of the client": func(ctx context.Context, sc *scene) error {
			return sc.rdb.WithTimeout(time.Hour).Incr(ctx, "n").Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newScene(t, 1, true, redis.Options{})
			sc.fault("incr", sim.Rule{Effect: "hang"})
			sc.p.Go(sc.p.Context(), "task", func(ctx context.Context) { _ = hang(ctx, sc) })
			sc.w.RunFor(time.Hour)
			require.Len(t, sc.w.Failures(), 1)
			require.ErrorContains(t, sc.w.Failures()[0], "e1/task: clock: redis.incr has a deadline of the wall clock")
		})
	}
}

func TestCutCarriesOutTheFirstCommandsOfAPipeline(t *testing.T) {
	sc := newScene(t, 1, true, redis.Options{})
	sc.fault("rpush", sim.Rule{Effect: "cut", Param: "2", Count: 1})
	sc.run(func(ctx context.Context) {
		pipe := sc.rdb.Pipeline()
		for i := range 5 {
			pipe.RPush(ctx, "list", i)
		}
		cmds, err := pipe.Exec(ctx)
		require.ErrorIs(t, err, syscall.ECONNRESET)
		for i, cmd := range cmds {
			require.ErrorIs(t, cmd.Err(), syscall.ECONNRESET, "command %d", i)
		}
		require.Equal(t, []string{"0", "1"}, sc.rdb.LRange(ctx, "list", 0, -1).Val())
	})
}

func TestNoscriptAndEvict(t *testing.T) {
	sc := newScene(t, 1, true, redis.Options{Scripts: beginScripts})
	sc.s.DB().HSet("intent", "generation", "7", "status", "active")
	sc.fault("begin", sim.Rule{Effect: "noscript", NthMin: 1, NthMax: 1})
	sc.fault("get", sim.Rule{Effect: "evict", NthMin: 2, NthMax: 2})
	sc.run(func(ctx context.Context) {
		for range 2 { // later ones too, until EVAL
			require.ErrorContains(t, sc.rdb.EvalSha(ctx, beginSHA, beginKeys, beginArgs...).Err(), "NOSCRIPT")
		}
		require.NoError(t, goredis.NewScript(beginSource).Run(ctx, sc.rdb, beginKeys, beginArgs...).Err())
		require.NoError(t, sc.rdb.EvalSha(ctx, beginSHA, beginKeys, beginArgs...).Err())
		require.NoError(t, sc.rdb.Get(ctx, "lease").Err())
		require.ErrorIs(t, sc.rdb.Get(ctx, "lease").Err(), goredis.Nil)
		require.False(t, sc.s.Evict("lease"))
		require.True(t, sc.s.Evict("record"))
		require.EqualValues(t, -2, sc.s.Peek().PTTL("record"))
	})
}

func TestACrashInMidCall(t *testing.T) {
	for _, after := range []bool{false, true} {
		sc := newScene(t, 1, true, redis.Options{})
		sc.fault("set", sim.Rule{Effect: "crash", After: after})
		returned := false
		sc.run(func(ctx context.Context) {
			sc.rdb.Set(ctx, "k", "v", 0)
			returned = true
		})
		require.False(t, returned)
		require.Equal(t, after, sc.s.Peek().Exists("k"))
		sc.p.Restart()
		sc.rdb = sc.s.Client(sc.p)
		sc.run(func(ctx context.Context) { require.Equal(t, boolInt(after), int(sc.rdb.Exists(ctx, "k").Val())) })
	}
}

func TestTooManyCallsInFlightFailByName(t *testing.T) {
	sc := newScene(t, 1, false, redis.Options{})
	sc.fault("get", sim.Rule{Effect: "hang"})
	var errs []error
	for i := range 1001 {
		sc.p.Go(sc.p.Context(), "t"+strconv.Itoa(i), func(ctx context.Context) { errs = append(errs, sc.rdb.Get(ctx, "k").Err()) })
	}
	sc.w.RunFor(time.Second)
	require.Len(t, errs, 1)
	require.Len(t, sc.w.Failures(), 1)
	require.Contains(t, sc.w.Failures()[0].Message, "1000 calls")
}

func TestWhatCannotBeSimulatedIsRefused(t *testing.T) {
	sc := newScene(t, 1, false, redis.Options{})
	sc.run(func(ctx context.Context) {
		for name, err := range map[string]error{
			"BLPOP":       sc.rdb.BLPop(ctx, time.Second, "k").Err(),
			"XREAD":       sc.rdb.XRead(ctx, &goredis.XReadArgs{Streams: []string{"s", "$"}, Block: time.Second}).Err(),
			"RANDOMKEY":   sc.rdb.RandomKey(ctx).Err(),
			"SPOP":        sc.rdb.SPop(ctx, "k").Err(),
			"SRANDMEMBER": sc.rdb.SRandMember(ctx, "k").Err(),
			"SCRIPT":      sc.rdb.ScriptFlush(ctx).Err(),
			"GEOADD":      sc.rdb.GeoAdd(ctx, "k", &goredis.GeoLocation{Name: "x"}).Err(),
		} {
			require.ErrorContains(t, err, name)
		}
		_, err := sc.rdb.TxPipelined(ctx, func(p goredis.Pipeliner) error { p.Set(ctx, "k", "v", 0); return nil })
		require.ErrorContains(t, err, "MULTI is not simulated: use a script")
		require.False(t, sc.s.Peek().Exists("k"), "a part of a refused transaction was carried out")
	})
}

func TestSetsAnswerSorted(t *testing.T) {
	sc := newScene(t, 1, false, redis.Options{})
	sc.run(func(ctx context.Context) {
		var want []string
		for i := range 20 {
			want = append(want, fmt.Sprintf("m%02d", i))
			sc.rdb.SAdd(ctx, "a", want[i])
			sc.rdb.SAdd(ctx, "b", want[i])
		}
		for range 5 {
			require.Equal(t, want, sc.rdb.SInter(ctx, "a", "b").Val())
			require.Equal(t, want, sc.rdb.SUnion(ctx, "a", "b").Val())
			require.Equal(t, want, sc.rdb.SDiff(ctx, "a", "none").Val())
		}
	})
}

func TestErrorsAreNetErrors(t *testing.T) {
	sc := newScene(t, 1, false, redis.Options{})
	sc.fault("get", sim.Rule{Effect: "hang"})
	sc.run(func(ctx context.Context) {
		bounded, cancel := sc.p.WithTimeout(ctx, time.Second)
		defer cancel()
		var timeout interface{ Timeout() bool }
		err := sc.rdb.Get(bounded, "k").Err()
		require.True(t, errors.As(err, &timeout) && timeout.Timeout(), "%v", err)
	})
}
