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

// LockAndActive is Lock and Active in one round trip: how a tick starts. Without the
// lock there are no scenes.
func (s *Store) LockAndActive(ctx context.Context, lock, token string, life time.Duration) (locked bool, scenes []asset.SceneID, bad []string, err error) {
	var got *redis.Cmd
	var members *redis.StringSliceCmd
	_, _ = s.client.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its own error
		got = p.EvalSha(ctx, scripts.lock.SHA, []string{lock}, token, millis("life", life))
		members = p.SMembers(ctx, keys.ActiveScenes())
		return nil
	})
	answer, err := got.StringSlice()
	switch {
	case err != nil && redis.HasErrorPrefix(err, "NOSCRIPT"):
		if locked, err = s.Lock(ctx, lock, token, life); !locked || err != nil {
			return false, nil, nil, err
		}
		scenes, bad, err = s.Active(ctx)
		return true, scenes, bad, err
	case err != nil:
		return false, nil, nil, failed(scripts.lock.Name, lock, err)
	case answer[0] != "1":
		return false, nil, nil, nil
	}
	scenes, bad, err = active(members)
	return true, scenes, bad, err
}
