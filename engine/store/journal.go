package store

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
)

// Journal appends an event to the journal of a scene, without a place in the
// outbox: it may be lost, and must be bounded by its caller.
func (s *Store) Journal(ctx context.Context, stage asset.StageID, event string) error {
	key := keys.Journal(stage.SceneID)
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.XAdd(ctx, &redis.XAddArgs{Stream: key, MaxLen: journalLengthMax, Approx: true,
			Values: []string{"event", event, "stage", stage.Stage}})
		p.PExpire(ctx, key, journalTTL)
		return nil
	})
	if err != nil {
		return unread("journal", stage.String(), key, err)
	}
	return nil
}

// SlotsUsed counts the holders of the slots of each stage that are unexpired at now,
// which is Redis' own time (design 5.4.1). Corrupt ones are as with SlotHolders.
func (s *Store) SlotsUsed(ctx context.Context, stages []string, now time.Time) (map[string]int, error) {
	counts := make([]*redis.IntCmd, len(stages))
	_, _ = s.client.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its error
		for i, stage := range stages {
			counts[i] = p.ZCount(ctx, keys.Slots(stage), "("+strconv.FormatInt(now.UnixMilli(), 10), "+inf")
		}
		return nil
	})
	used := map[string]int{}
	err := eachSlots(stages, func(i int) error { return counts[i].Err() }, func(i int) { used[stages[i]] = int(counts[i].Val()) })
	return used, err
}
