package redis_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

// dump is the whole database, with deadlines.
func dump(s *redis.Server) (lines []string) {
	p := s.Peek()
	for _, k := range p.Keys() {
		str, _ := p.Get(k)
		lines = append(lines, fmt.Sprint(k, " ", p.Type(k), " ", p.PTTL(k), " ", str, p.HGetAll(k), p.ZRange(k), p.SMembers(k), p.LRange(k), p.XLen(k)))
	}
	return lines
}

// both runs a drive with the twins and with the scripts themselves, and demands
// equal replies, databases, traces and writes.
func both(t *rapid.T, scripts []redis.Script, drive func(w *sim.World, s *redis.Server, call func(name string, keys []string, args ...any))) {
	type result struct {
		replies, writes, dump []string
		digest                string
	}
	var results [2]result
	for i, lua := range []bool{false, true} {
		r := &results[i]
		w := sim.New(sim.Options{Seed: 1})
		s := redis.New(w, redis.Options{Scripts: scripts, Lua: lua})
		s.OnWrite(func(info redis.WriteInfo) { r.writes = append(r.writes, fmt.Sprint(info)) })
		p := w.Process("e1")
		rdb := s.Client(p)
		p.Go(p.Context(), "t", func(ctx context.Context) {
			drive(w, s, func(name string, keys []string, args ...any) {
				for _, script := range scripts {
					if script.Name == name {
						v, err := rdb.EvalSha(ctx, script.SHA, keys, args...).Result()
						r.replies = append(r.replies, fmt.Sprint(name, " ", v, err))
						return
					}
				}
				v, err := rdb.Do(ctx, append([]any{name, keys[0]}, args...)...).Result()
				r.replies = append(r.replies, fmt.Sprint(name, " ", v, err))
			})
			r.dump = dump(s)
		})
		w.RunFor(time.Hour)
		if len(w.Failures()) > 0 {
			t.Fatal(w.Failures())
		}
		r.digest = w.Trace().Digest()
		w.Close()
	}
	require.Equal(t, results[0].replies, results[1].replies, "replies: twin, Lua")
	require.Equal(t, results[0].dump, results[1].dump, "database: twin, Lua")
	require.Equal(t, results[0].writes, results[1].writes, "writes: twin, Lua")
	require.Equal(t, results[0].digest, results[1].digest, "digest: twin, Lua")
}

func TestTwinAndScriptAgree(t *testing.T) {
	outcomes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		type step struct {
			kind, key, value string
			sleep            time.Duration
		}
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				kind:  rapid.SampledFrom([]string{"begin", "begin", "begin", "spoil", "intent", "free", "cancel", "clear"}).Draw(t, "kind"),
				key:   rapid.SampledFrom(beginKeys).Draw(t, "key"),
				value: rapid.SampledFrom([]string{"active", "cancelled"}).Draw(t, "value"),
				sleep: time.Duration(rapid.IntRange(0, 700_000).Draw(t, "sleep")) * time.Millisecond,
			}
		}), 1, 12).Draw(t, "steps")
		both(t, beginScripts, func(w *sim.World, s *redis.Server, call func(string, []string, ...any)) {
			p := w.Process("e1")
			call("hset", []string{"intent"}, "generation", "7", "status", "active")
			for i, st := range steps {
				switch st.kind {
				case "begin":
					args := append([]any{}, beginArgs...)
					args[1] = "d" + strconv.Itoa(i)
					call("begin", beginKeys, args...)
				case "spoil":
					call("set", []string{st.key}, "odd")
				case "intent":
					call("hset", []string{"intent"}, "status", st.value)
				case "free":
					call("hdel", []string{"asset-state"}, "image.dispatch")
				case "cancel":
					call("set", []string{"cancel"}, "1", "px", "60000")
				case "clear":
					call("del", []string{st.key})
				}
				_ = p.Sleep(p.Context(), st.sleep)
			}
			for _, e := range w.Trace().Last(100) {
				if e.Detail == "redis.begin" {
					outcomes[e.Outcome]++
				}
			}
		})
	})
	for _, outcome := range []string{"ok", "duplicate", "intent_not_active", "cancelled", redis.ErrWrongType.Error()} {
		require.Positive(t, outcomes[outcome], "no drawn run answered %s: %v", outcome, outcomes)
	}
}

// every is a script that uses each typed method of DB once; its twin is what a
// reader of the Lua would write.
const everySource = `
local function f(x) return string.format('%d', x) end
local k, h, z, s, l, x = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local r = {}
local function add(v) if not v then v = 'none' end if type(v) == 'number' then v = f(v) end r[#r + 1] = v end
redis.call('SET', k, 'v') add(redis.call('GET', k)) add(redis.call('PTTL', k))
redis.call('SET', k, 'w', 'PX', ARGV[1]) add(redis.call('PTTL', k)) add(redis.call('PEXPIRE', k, ARGV[2])) add(redis.call('PTTL', k))
add(redis.call('EXISTS', k)) add(redis.call('DEL', k, 'no')) add(redis.call('PTTL', k)) add(redis.call('PEXPIRE', k, '5'))
redis.call('HSET', h, 'b', '', 'a', '1') add(redis.call('HGET', h, 'b')) add(redis.call('HGET', h, 'c')) add(redis.call('HLEN', h))
add(table.concat(redis.call('HGETALL', h), ',')) add(redis.call('HDEL', h, 'a', 'c')) redis.call('PEXPIRE', h, '5') add(redis.call('HDEL', h, 'b')) add(redis.call('PTTL', h))
redis.call('ZADD', z, '3', 'c') redis.call('ZADD', z, '1', 'a') redis.call('ZADD', z, '2', 'b')
add(redis.call('ZSCORE', z, 'b')) add(redis.call('ZSCORE', z, 'x')) add(redis.call('ZCARD', z)) add(redis.call('ZCOUNT', z, '(1', '+inf'))
add(table.concat(redis.call('ZRANGE', z, '-2', '-1'), ',')) add(redis.call('ZREM', z, 'c', 'x')) add(redis.call('ZREMRANGEBYSCORE', z, '-inf', '1')) add(redis.call('ZCARD', z))
add(redis.call('SADD', s, 'a', 'b')) add(redis.call('SADD', s, 'a')) add(redis.call('SISMEMBER', s, 'a')) add(redis.call('SREM', s, 'a', 'x')) add(redis.call('SISMEMBER', s, 'a'))
add(redis.call('RPUSH', l, '1', '2', '3', '4')) redis.call('LTRIM', l, '-3', '-1') add(redis.call('LLEN', l)) add(redis.call('LINDEX', l, '0')) add(redis.call('LINDEX', l, '-1')) add(redis.call('LPOP', l))
add(redis.call('XADD', x, 'MAXLEN', '~', '2', '*', 'f', 'v'))
return r
`

func every(db *redis.DB, keys, args []string) (any, error) {
	k, h, z, s, l, x := keys[0], keys[1], keys[2], keys[3], keys[4], keys[5]
	var r []string
	add := func(v any, ok ...bool) {
		switch v := v.(type) {
		case bool:
			r = append(r, strconv.Itoa(boolInt(v)))
		case string:
			if len(ok) > 0 && !ok[0] {
				v = "none"
			}
			r = append(r, v)
		default:
			r = append(r, fmt.Sprint(v))
		}
	}
	ms := func(i int) int64 { n, _ := strconv.ParseInt(args[i], 10, 64); return n }
	get := func(v string, ok bool) { add(v, ok) }
	score := func(v float64, ok bool) { add(strconv.FormatFloat(v, 'f', -1, 64), ok) }

	db.Set(k, "v")
	get(db.Get(k))
	add(db.PTTL(k))
	db.SetPX(k, "w", ms(0))
	add(db.PTTL(k))
	add(db.PExpire(k, ms(1)))
	add(db.PTTL(k))
	add(db.Exists(k))
	add(db.Del(k, "no"))
	add(db.PTTL(k))
	add(db.PExpire(k, 5))
	db.HSet(h, "b", "", "a", "1")
	get(db.HGet(h, "b"))
	get(db.HGet(h, "c"))
	add(db.HLen(h))
	add(strings.Join(db.HGetAll(h), ","))
	add(db.HDel(h, "a", "c"))
	db.PExpire(h, 5)
	add(db.HDel(h, "b"))
	add(db.PTTL(h))
	db.ZAdd(z, 3, "c")
	db.ZAdd(z, 1, "a")
	db.ZAdd(z, 2, "b")
	score(db.ZScore(z, "b"))
	score(db.ZScore(z, "x"))
	add(db.ZCard(z))
	add(db.ZCountAbove(z, 1))
	add(strings.Join(db.ZRange(z, -2, -1), ","))
	add(db.ZRem(z, "c", "x"))
	add(db.ZRemUpTo(z, 1))
	add(db.ZCard(z))
	add(db.SAdd(s, "a", "b"))
	add(db.SAdd(s, "a"))
	add(db.SIsMember(s, "a"))
	add(db.SRem(s, "a", "x"))
	add(db.SIsMember(s, "a"))
	add(db.RPush(l, "1", "2", "3", "4"))
	db.LTrimLast(l, 3)
	add(db.LLen(l))
	get(db.LIndex(l, 0))
	get(db.LIndex(l, -1))
	get(db.LPop(l))
	add(db.XAdd(x, 2, "f", "v"))
	return r, nil
}

// sad uses a key that it does not declare, after a write.
const sadSource = `redis.call('SET', KEYS[1], 'v') redis.call('GET', 'undeclared') redis.call('SET', KEYS[1], 'w') return 'ok'`

func sad(db *redis.DB, keys, _ []string) (any, error) {
	db.Set(keys[0], "v")
	db.Get("undeclared")
	db.Set(keys[0], "w")
	return "ok", nil
}

func TestTypedViewIsWhatTheCommandsAre(t *testing.T) {
	scripts := []redis.Script{
		{Name: "every", SHA: shaOf(everySource), Source: everySource, Twin: every},
		{Name: "sad", SHA: shaOf(sadSource), Source: sadSource, Twin: sad},
	}
	keys := []string{"k", "h", "z", "s", "l", "x", "no"}
	rapid.Check(t, func(t *rapid.T) {
		spoilt := rapid.SampledFrom(append(keys, "")).Draw(t, "spoilt")
		other := rapid.SampledFrom([]string{"set", "rpush"}).Draw(t, "other")
		both(t, scripts, func(w *sim.World, s *redis.Server, call func(string, []string, ...any)) {
			call("every", keys, "1000", "2000")
			if spoilt != "" {
				call("del", []string{spoilt})
				call(other, []string{spoilt}, "v")
			}
			call("every", keys, "3", "4000")
			call("sad", []string{"k"})
			require.Equal(t, []string{"v"}, firstOf(s.Peek().Get("k")))
		})
	})
}

func firstOf(v string, _ bool) []string { return []string{v} }
