package redis_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

// forms are commands with holes: k a key, m a member or field, n a number, t a TTL.
var forms = strings.FieldsFunc(`set k m|set k m px t|set k m nx|set k m get|set k m xx get|setnx k m|setex k n m|getset k m|getdel k|append k m|incr k|incrby k n|mset k m k m|msetnx k m k m
del k k|unlink k|expire k n|pexpire k t|pexpire k t nx|pexpire k 0|persist k|rename k k|hset k m n|hset k m n m n|hsetnx k m n|hdel k m m|hincrby k m n
lpush k m|rpush k m m|lpushx k m|rpushx k m|lpop k|rpop k|lrem k 0 m|ltrim k 0 1|ltrim k 5 9|lset k 0 m|linsert k before m m|lmove k k left right|rpoplpush k k
sadd k m m|srem k m|smove k k m|zadd k n m|zadd k nx n m|zincrby k n m|zrem k m|zremrangebyscore k -inf n|zremrangebyrank k 0 0|zpopmin k|xadd k * m n|xadd k nomkstream * m n|xtrim k maxlen 1
get k|mget k k|exists k k|ttl k|pttl k|type k|hgetall k|hget k m|llen k|lrange k 0 -1|smembers k|sinter k k|sunion k k|zrange k 0 -1|zcount k -inf n|zscore k m|xlen k|xrange k - +|dbsize|keys *|time`, func(r rune) bool { return r == '|' || r == '\n' })

var command = rapid.Custom(func(t *rapid.T) []any {
	var args []any
	for _, word := range strings.Fields(rapid.SampledFrom(forms).Draw(t, "form")) {
		switch word {
		case "k":
			args = append(args, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"))
		case "m":
			args = append(args, rapid.SampledFrom([]string{"x", "y", "1"}).Draw(t, "member"))
		case "n":
			args = append(args, rapid.IntRange(1, 3).Draw(t, "number"))
		case "t":
			args = append(args, rapid.IntRange(1, 3000).Draw(t, "ttl"))
		default:
			args = append(args, word)
		}
	}
	return args
})

// Every key that a command changes is reported, and no key is that it does not name
// or that an error kept as it was.
func TestOnWriteMissesNothing(t *testing.T) {
	reported := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		cmds := rapid.SliceOfN(command, 20, 60).Draw(t, "commands")
		w := sim.New(sim.Options{})
		defer w.Close()
		s := redis.New(w, redis.Options{})
		var written []string
		s.OnWrite(func(info redis.WriteInfo) { written = append(written, info.Keys...) })
		p := w.Process("e1")
		rdb := s.Client(p)
		p.Go(p.Context(), "t", func(ctx context.Context) {
			for _, cmd := range cmds {
				_ = p.Sleep(ctx, 700*time.Millisecond)
				before := byKey(s)
				written = nil
				err := rdb.Do(ctx, cmd...).Err()
				after := byKey(s)
				for _, k := range []string{"a", "b", "c"} {
					if before[k] != after[k] {
						require.Contains(t, written, k, "%v changed %s from %q to %q", cmd, k, before[k], after[k])
					}
				}
				for _, k := range written {
					require.True(t, slices.Contains(cmd, any(k)), "%v is said to have written %s", cmd, k)
				}
				if err != nil && strings.Contains(err.Error(), "WRONGTYPE") {
					require.Empty(t, written, "%v failed: %v", cmd, err)
				}
				if len(written) > 0 {
					reported[cmd[0].(string)] = true
				}
			}
		})
		w.RunFor(time.Hour)
		require.Empty(t, w.Failures())
	})
	for _, form := range forms {
		name, _, _ := strings.Cut(form, " ")
		if slices.Index(forms, form) >= slices.Index(forms, "get k") {
			require.False(t, reported[name], "%s only reads", name)
		}
	}
	require.Greater(t, len(reported), 15, "few commands ever wrote: %v", reported)
}

// byKey is the dump of each key.
func byKey(s *redis.Server) map[string]string {
	all := map[string]string{}
	for _, line := range dump(s) {
		k, rest, _ := strings.Cut(line, " ")
		all[k] = rest
	}
	return all
}

func TestOnWriteNamesTheCall(t *testing.T) {
	sc := newScene(t, 1, true, redis.Options{Scripts: beginScripts, Subject: func(verb string, _ []string) string { return "of " + verb }})
	sc.s.DB().HSet("intent", "generation", "7", "status", "active")
	var infos []redis.WriteInfo
	sc.s.OnWrite(func(info redis.WriteInfo) { infos = append(infos, info) })
	sc.s.DB().Set("past all calls", "v")
	sc.fault("set", sim.Rule{Effect: "lost"})
	sc.fault("del", sim.Rule{Effect: "refuse"})
	sc.run(func(ctx context.Context) {
		sc.rdb.EvalSha(ctx, beginSHA, beginKeys, beginArgs...)
		sc.rdb.EvalSha(ctx, beginSHA, beginKeys, append([]any{"image", "d2"}, beginArgs[2:]...)...) // refused: duplicate
		sc.rdb.Set(ctx, "k", "v", 0)
		sc.rdb.Del(ctx, "k")
		sc.rdb.Get(ctx, "k")
	})
	require.Equal(t, []redis.WriteInfo{
		{Task: "e1/task", Verb: "begin", Subject: "of begin", Keys: []string{"asset-state", "jobs", "lease", "outbox", "record", "slots"}},
		{Task: "e1/task", Verb: "set", Subject: "of set", Keys: []string{"k"}},
	}, infos)
}

func TestPeekDisturbsNothing(t *testing.T) {
	digest := func(peek bool) string {
		sc := newScene(t, 1, true, redis.Options{Scripts: beginScripts})
		sc.s.DB().HSet("intent", "generation", "7", "status", "active")
		sc.w.Trace().Watch(func(*sim.Event) {
			if peek {
				dump(sc.s)
			}
		})
		sc.run(func(ctx context.Context) {
			for range 5 {
				sc.rdb.EvalSha(ctx, beginSHA, beginKeys, beginArgs...)
				sc.rdb.PExpire(ctx, "outbox", 500*time.Millisecond)
				sc.rdb.Scan(ctx, 0, "*", 3)
				_ = sc.p.Sleep(ctx, 400*time.Second)
			}
		})
		return sc.w.Trace().Digest()
	}
	require.Equal(t, digest(false), digest(true))
}
