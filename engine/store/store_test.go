package store_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// The tests play at time 1000000 ms, on the image stage of one scene.
const start = 1_000_000

var (
	ctx   = context.Background()
	scene = ports.SceneID{Book: "b", Chapter: "c", Scene: "s"}
	stage = scene.Of(asset.Image)
	job1  = keys.Job(stage, "u1", 3)
	job2  = keys.Job(stage, "u2", 3)
)

// at is the instant that is ms after the start of a test.
func at(ms int64) time.Time { return time.UnixMilli(start + ms).UTC() }

// world is a Store on a miniredis whose clock stands still.
type world struct {
	t      *testing.T
	redis  *miniredis.Miniredis
	client *redis.Client
	*store.Store
}

func newWorld(t *testing.T) *world {
	m := miniredis.RunT(t)
	m.SetTime(at(0))
	client := redis.NewClient(&redis.Options{Addr: m.Addr(), MaxRetries: -1, DisableIdentity: true, Protocol: 2})
	t.Cleanup(func() { _ = client.Close() })
	return &world{t, m, client, store.New(client)}
}

// do runs Redis commands, one a line. `K:` stands for `animastor:`.
func (w *world) do(commands string) {
	for _, line := range strings.Split(commands, "\n") {
		var args []any
		for _, word := range strings.Fields(strings.ReplaceAll(line, "K:", "animastor:")) {
			args = append(args, word)
		}
		if len(args) > 0 {
			require.NoError(w.t, w.client.Do(ctx, args...).Err(), line)
		}
	}
}

// dump is the whole database, a line for each field, member or element, and for each TTL.
func (w *world) dump() []string {
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, strings.TrimSpace(strings.ReplaceAll(fmt.Sprintf(format, args...), "animastor:", "K:")))
	}
	for _, k := range w.redis.Keys() {
		if ttl := w.redis.TTL(k); ttl > 0 {
			add("%s lives %d", k, ttl.Milliseconds())
		}
		switch w.redis.Type(k) {
		case "string":
			v, _ := w.redis.Get(k)
			add("%s = %s", k, v)
		case "hash":
			fields, _ := w.redis.HKeys(k)
			for _, f := range fields {
				add("%s %s = %s", k, f, w.redis.HGet(k, f))
			}
		case "zset":
			members, _ := w.redis.SortedSet(k)
			for m, score := range members {
				add("%s %s = %s", k, m, strconv.FormatFloat(score, 'f', -1, 64))
			}
		case "set":
			members, _ := w.redis.Members(k)
			for _, m := range members {
				add("%s has %s", k, m)
			}
		case "list":
			elements, _ := w.redis.List(k)
			for i, e := range elements {
				add("%s %d = %s", k, i, e)
			}
		case "stream":
			entries, _ := w.redis.Stream(k)
			for _, e := range entries {
				add("%s %s = %s", k, e.ID, strings.Join(e.Values, " "))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// changes runs f and says what it did to the database: lines that went (-) and came (+).
func (w *world) changes(f func()) string {
	before := w.dump()
	f()
	after := w.dump()
	var lines []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// test is one line of a script's table: what it answers to a database, and what it
// writes. No writes is a claim too.
type test struct {
	name   string
	given  string // Redis commands on top of the table's own
	want   any
	writes string // as changes prints them
}

// table runs a script against each line of its table, each in a world of its own.
func table[T any](t *testing.T, given string, call func(*world) (T, error), tests []test) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.do(given)
			w.do(tt.given)
			writes := w.changes(func() {
				got, err := call(w)
				require.NoError(t, err)
				require.Equal(t, tt.want, any(got))
			})
			require.Equal(t, unindent(tt.writes), writes)
		})
	}
}

func unindent(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// calls has one call of each script that writes in the world of given.
var calls = []struct {
	name  string
	given string
	call  func(*world) error
}{
	{"begin", pending, func(w *world) error { _, err := begin(w); return err }},
	{"renew", live, func(w *world) error { _, err := renew(w); return err }},
	{"adopt", live + "HSET K:asset-state:b:c:s image.renewed 1", func(w *world) error { _, err := adopt(w); return err }},
	{"admit", live, func(w *world) error { _, err := admit(w); return err }},
	{"mark", live, func(w *world) error { _, err := mark(w); return err }},
	{"forget", live + receipt, func(w *world) error { _, err := w.Forget(ctx, "d1", job1); return err }},
	{"release", live + "HSET K:task-done:" + job1 + " at 1", func(w *world) error { _, err := w.Release(ctx, stage, "d1", job1); return err }},
	{"accept", live, func(w *world) error { _, err := accept(w); return err }},
	{"claim", live, func(w *world) error { _, err := claim(w); return err }},
	{"finish", live + receipt, func(w *world) error { _, err := finish(w); return err }},
	{"intent", live, func(w *world) error { _, err := w.Intent(ctx, store.OpReset, stage, false); return err }},
	{"retire", "SADD K:active-scenes b:c:s", func(w *world) error { _, err := w.Retire(ctx, scene, []string{"image"}); return err }},
	{"restore", "HSET K:intent:b:c:s:image generation 3 status active", func(w *world) error { _, err := w.Restore(ctx, stage); return err }},
	{"lock", "", func(w *world) error { _, err := w.TakeTurn(ctx, keys.CleanupLock(), "t", time.Second); return err }},
	{"unlock", "SET K:cleanup-lock t|7", func(w *world) error {
		_, err := w.Unlock(ctx, store.Lock{Key: keys.CleanupLock(), Token: "t", Fence: 7})
		return err
	}},
	{"undefer", "SET K:runtime:deferred:b:c:s:image x", func(w *world) error { _, err := w.ClearDeferralsForScene(ctx, scene); return err }},
	{"drain", "RPUSH K:runtime:outbox x", func(w *world) error {
		_, err := w.Drain(ctx, []store.Move{{Line: "x", Scene: scene, Event: "started", Tell: true}})
		return err
	}},
	{"due", "ZADD K:runtime:undelivered 1 b:c:s", func(w *world) error { _, err := w.Due(ctx, 1, time.Second); return err }},
	{"delivered", "RPUSH K:result-events:b:c:s x", func(w *world) error { _, err := w.Delivered(ctx, scene, "x", time.Second); return err }},
	{"order", "", func(w *world) error { return w.Order(ctx, "b", store.Order{Op: store.OpRequest}, "x", 2) }},
	{"slide", scope, func(w *world) error {
		_, _, err := w.Slide(ctx, opened(w.t), []ports.SceneID{scene}, func(ports.SceneID) store.Place { return store.Place{Number: 3, Phase: store.Claimed} })
		return err
	}},
	{"conclude", scope, func(w *world) error { _, err := w.Conclude(ctx, opened(w.t), finale); return err }},
}

// spy remembers the keys of the scripts that a client runs.
type spy struct {
	redis.Hook
	keys [][]string
}

func (s *spy) DialHook(next redis.DialHook) redis.DialHook { return next }
func (s *spy) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (s *spy) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); cmd.Name() == "evalsha" {
			var names []string
			for _, k := range args[3 : 3+args[2].(int)] {
				names = append(names, k.(string))
			}
			s.keys = append(s.keys, names)
		}
		return next(ctx, cmd)
	}
}

// TestCorruptKeys: a value of the wrong type under any key of any script changes nothing
// and is reported as that key's (schema 3).
func TestCorruptKeys(t *testing.T) {
	require.Len(t, calls, len(store.Scripts()))
	for _, c := range calls {
		w := newWorld(t)
		w.do(c.given)
		seen := &spy{}
		w.client.AddHook(seen)
		require.NotEmpty(t, w.changes(func() { require.NoError(t, c.call(w)) }), "%s writes nothing", c.name)
		for _, key := range seen.keys[len(seen.keys)-1] { // the last round of an intent
			t.Run(c.name+" "+key, func(t *testing.T) {
				w := newWorld(t)
				w.do(c.given)
				w.redis.Del(key)
				w.do("XADD " + key + " 1-1 a b") // a stream
				if strings.Contains(key, "event-journal") {
					w.redis.Del(key)
					w.do("SET " + key + " x")
				}
				require.Empty(t, w.changes(func() {
					err := c.call(w)
					var bad *store.CorruptError
					require.ErrorAs(t, err, &bad)
					require.Equal(t, key, bad.Key)
					require.NotErrorIs(t, err, store.ErrAmbiguous)
					require.Contains(t, err.Error(), "store: "+c.name+" ")
				}))
			})
		}
	}
}

// TestLostAnswer: an answer that never came is ambiguous; one that could not be asked
// for is not.
func TestLostAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
	}()
	client := redis.NewClient(&redis.Options{Addr: listener.Addr().String(), MaxRetries: -1, DisableIdentity: true, Protocol: 2, DialerRetries: 1})
	defer client.Close()
	_, err = store.New(client).Unlock(ctx, store.Lock{Key: "k", Token: "t"})
	require.ErrorIs(t, err, store.ErrAmbiguous)
	require.ErrorContains(t, err, "store: unlock k: ")

	require.NoError(t, listener.Close())
	_, err = store.New(client).Unlock(ctx, store.Lock{Key: "k", Token: "t"})
	require.Error(t, err)
	require.NotErrorIs(t, err, store.ErrAmbiguous)
	require.False(t, errors.As(err, new(*store.CorruptError)))
}

// TestForgottenScripts: a Redis that lost its scripts learns them again.
func TestForgottenScripts(t *testing.T) {
	for _, c := range calls {
		w := newWorld(t)
		w.do(c.given)
		require.NoError(t, c.call(w), c.name)
		w.do("SCRIPT FLUSH")
		require.NoError(t, c.call(w), c.name)
	}
}

func TestScripts(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range store.Scripts() {
		require.Equal(t, redis.NewScript(s.Source).Hash(), s.SHA)
		require.False(t, seen[s.SHA] || seen[s.Name], s.Name)
		seen[s.SHA], seen[s.Name] = true, true
	}
}
