package redis_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

// writers are two scripts: one removes before it sets, one sets first.
var writers = []redis.Script{
	{
		Name: "removeFirst", SHA: "a", Source: "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[2], 'v') return '1'",
		Twin: func(db *redis.DB, keys, _ []string) (any, error) {
			db.Del(keys[0])
			db.Set(keys[1], "v")
			return "1", nil
		},
	},
	{
		Name: "setFirst", SHA: "b", Source: "redis.call('SET', KEYS[2], 'v') redis.call('DEL', KEYS[1]) return '1'",
		Twin: func(db *redis.DB, keys, _ []string) (any, error) {
			db.Set(keys[1], "v")
			db.Del(keys[0])
			return "1", nil
		},
	},
}

// TestTrouble: what a server refuses that is short of memory, or a replica.
func TestTrouble(t *testing.T) {
	oom, readonly := redis.ErrOOM.Error(), redis.ErrReadOnly.Error()
	for _, c := range []struct {
		effect, reply string
		keys          []string
		call          []any
	}{
		{"oom", "v", []string{"k"}, []any{"get", "k"}},
		{"oom", oom, []string{"k"}, []any{"set", "n", "v"}},
		{"oom", "1", []string{}, []any{"del", "k"}},
		{"oom", "1", []string{"n"}, []any{"evalsha", "a", 2, "k", "n"}},
		{"oom", oom, []string{"k"}, []any{"evalsha", "b", 2, "k", "n"}},
		{"readonly", "v", []string{"k"}, []any{"get", "k"}},
		{"readonly", readonly, []string{"k"}, []any{"set", "n", "v"}},
		{"readonly", readonly, []string{"k"}, []any{"del", "k"}},
		{"readonly", readonly, []string{"k"}, []any{"evalsha", "a", 2, "k", "n"}},
	} {
		for _, lua := range []bool{false, true} {
			sc := newScene(t, 1, false, redis.Options{Scripts: writers, Lua: lua})
			sc.s.DB().Set("k", "v")
			sc.w.Inject(sim.Rule{ID: "trouble", Effect: c.effect, NthMax: 1, Match: func(sim.CallName) bool { return true }})
			sc.run(func(ctx context.Context) {
				reply, err := sc.rdb.Do(ctx, c.call...).Result()
				if err != nil {
					reply = err
				}
				require.Equal(t, c.reply, fmt.Sprint(reply), "%s: %v", c.effect, c.call)
				require.Equal(t, c.keys, sc.s.Keys(), "%s: %v", c.effect, c.call)
				require.NoError(t, sc.rdb.Set(ctx, "later", "v", 0).Err())
			})
		}
	}
}
