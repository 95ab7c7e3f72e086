package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Lock is a lock (keys.SchedulerLock, keys.CleanupLock) as its holder took it. Locks spare
// load; safety never rests on them.
type Lock struct {
	Key   string
	Token string // of the holder
	Fence int64  // number of the taking; grows with Redis' clock
}

// Hold renews a lock. It returns false if it is not the holder's any more: another
// has it, or it lapsed in between, and what was read under it may be stale (H-54).
func (s *Store) Hold(ctx context.Context, l Lock, life time.Duration) (bool, error) {
	return s.yes(ctx, &scripts.lock, l.Key, []string{l.Key}, l.Token, millis("life", life), l.Fence)
}

// Unlock gives back a lock. It returns false if it is not the holder's any more.
func (s *Store) Unlock(ctx context.Context, l Lock) (bool, error) {
	return s.yes(ctx, &scripts.unlock, l.Key, []string{l.Key}, l.Token, l.Fence)
}

// Turn is the right to tick, and what a tick starts with.
type Turn struct {
	Locked bool // false: it is another's; the rest is zero
	Lock   Lock
	Now    time.Time       // by Redis' clock
	Scenes []ports.SceneID // as Active returns them
	Bad    []string
}

// TakeTurn takes a free lock for a time, or renews the token's own, and reads with it in
// one round trip what Active returns, and the time in which every instant that Redis
// holds was written: a process's own clock says nothing about them.
func (s *Store) TakeTurn(ctx context.Context, lock, token string, life time.Duration) (t Turn, err error) {
	var got *redis.Cmd
	var now *redis.TimeCmd
	var members *redis.StringSliceCmd
	_, _ = s.client.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its own error
		got = p.EvalSha(ctx, scripts.lock.SHA, []string{lock}, token, millis("life", life), "")
		now = p.Time(ctx)
		members = p.SMembers(ctx, keys.ActiveScenes())
		return nil
	})
	answer, err := got.StringSlice()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		answer, err = s.run(ctx, &scripts.lock, lock, []string{lock}, token, millis("life", life), "")
	} else if err != nil {
		err = failed(scripts.lock.Name, lock, err)
	}
	if err != nil || answer[0] != "1" {
		return Turn{}, err
	}
	t.Locked, t.Lock = true, Lock{lock, token, number(answer[1])}
	if t.Now, err = now.Result(); err != nil {
		return Turn{}, unread("read", "time", "", err)
	}
	t.Scenes, t.Bad, err = active(members)
	return t, err
}
