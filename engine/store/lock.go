package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
)

// Lock takes a free lock (keys.SchedulerLock, keys.CleanupLock) for a time, or renews
// the token's own. Locks spare load; safety never rests on them.
func (s *Store) Lock(ctx context.Context, lock, token string, life time.Duration) (bool, error) {
	return s.yes(ctx, &scripts.lock, lock, []string{lock}, token, millis("life", life))
}

// Unlock gives back the token's own lock. It returns false if it is not.
func (s *Store) Unlock(ctx context.Context, lock, token string) (bool, error) {
	return s.yes(ctx, &scripts.unlock, lock, []string{lock}, token)
}

// Turn is the right to tick, and what a tick starts with.
type Turn struct {
	Locked bool            // false: it is another's; the rest is zero
	Now    time.Time       // by Redis' clock
	Scenes []asset.SceneID // as Active returns them
	Bad    []string
}

// TakeTurn is Lock and Active in one round trip, and the time in which every instant
// that Redis holds was written: a process's own clock says nothing about them.
func (s *Store) TakeTurn(ctx context.Context, lock, token string, life time.Duration) (t Turn, err error) {
	var got *redis.Cmd
	var now *redis.TimeCmd
	var members *redis.StringSliceCmd
	_, _ = s.client.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its own error
		got = p.EvalSha(ctx, scripts.lock.SHA, []string{lock}, token, millis("life", life))
		now = p.Time(ctx)
		members = p.SMembers(ctx, keys.ActiveScenes())
		return nil
	})
	if answer, err := got.StringSlice(); err == nil {
		t.Locked = answer[0] == "1"
	} else if !redis.HasErrorPrefix(err, "NOSCRIPT") {
		return Turn{}, failed(scripts.lock.Name, lock, err)
	} else if t.Locked, err = s.Lock(ctx, lock, token, life); err != nil {
		return Turn{}, err
	}
	if !t.Locked {
		return Turn{}, nil
	}
	if t.Now, err = now.Result(); err != nil {
		return Turn{}, unread("read", "time", "", err)
	}
	t.Scenes, t.Bad, err = active(members)
	return t, err
}
