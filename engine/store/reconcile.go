package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// What Restore did.
const (
	Restored Verdict = "restored" // its state was lost, or generating without a dispatch
	Indexed  Verdict = "indexed"  // its scene was not in the index
	Dirty    Verdict = "dirty"    // Dirty: it was ready, and is to be made again
)

// Restore puts a stage that is asked for back to where a tick finds it: Restored, Indexed
// (also one that has a live dispatch), or Kept if nothing was wrong.
func (s *Store) Restore(ctx context.Context, stage ports.StageID) (Verdict, error) {
	return s.restore(ctx, stage, "")
}

// Dirty puts a stage back that is ready, and of whose artifacts one was proved absent:
// Dirty, or Kept if a dispatch, a cancel or another state came after the view.
func (s *Store) Dirty(ctx context.Context, v StageView) (Verdict, error) {
	return s.restore(ctx, v.Stage, strconv.FormatInt(v.Fence, 10))
}

func (s *Store) restore(ctx context.Context, stage ports.StageID, gone string) (Verdict, error) {
	r, err := s.run(ctx, &scripts.restore, stage.String(),
		[]string{keys.AssetState(stage.SceneID), keys.Intent(stage), keys.ActiveScenes(), keys.ScenesOf(stage.Book), keys.Cancel(stage.Book)},
		stage.Stage, keys.SceneMember(stage.SceneID), keys.BookSceneMember(stage.SceneID), gone)
	if err != nil {
		return "", err
	}
	return r.verdict(), nil
}

// SlotHolders lists who holds the slots of each stage, expired ones included. Slots that
// are corrupt spoil their stage alone: it is left out, and the error says so.
func (s *Store) SlotHolders(ctx context.Context, stages []string) (map[string][]string, error) {
	holders := make([]*redis.StringSliceCmd, len(stages))
	_, _ = s.client.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its error
		for i, stage := range stages {
			holders[i] = p.ZRange(ctx, keys.Slots(stage), 0, -1)
		}
		return nil
	})
	byStage := map[string][]string{}
	err := eachSlots(stages, func(i int) error { return holders[i].Err() }, func(i int) { byStage[stages[i]] = holders[i].Val() })
	return byStage, err
}

// eachSlots takes the answers about the slots of each stage. Corrupt ones are left out
// and reported; any other error leaves nothing to rely on, and says so alone.
func eachSlots(stages []string, failure func(i int) error, take func(i int)) error {
	var corrupt []error
	for i, stage := range stages {
		err := failure(i)
		if err == nil {
			take(i)
			continue
		}
		err = unread("read slots of", stage, keys.Slots(stage), err)
		var bad *CorruptError
		if !errors.As(err, &bad) {
			return err
		}
		corrupt = append(corrupt, err)
	}
	return errors.Join(corrupt...)
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

// suspicionTTL is how long a suspicious pass waits for the next one that agrees.
const suspicionTTL = 10 * time.Minute

// Suspicion is what suspicious passes in a row have found, whichever replicas made them.
type Suspicion struct {
	Agreed int    // passes; 0: there is no row
	What   string // they found, in a form of which nothing but equality counts
}

// Suspicion reads the row of suspicious passes. A value that makes no sense is no row.
func (s *Store) Suspicion(ctx context.Context) (row Suspicion, err error) {
	text, err := s.client.Get(ctx, keys.Suspicion()).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return row, unread("read", "suspicion", keys.Suspicion(), err)
	}
	agreed, what, _ := strings.Cut(text, "|")
	if n := number(agreed); n > 0 {
		row = Suspicion{Agreed: int(n), What: what}
	}
	return row, nil
}

// SetSuspicion replaces the row; one of none ends it.
func (s *Store) SetSuspicion(ctx context.Context, row Suspicion) (err error) {
	if row.Agreed == 0 {
		err = s.client.Del(ctx, keys.Suspicion()).Err()
	} else {
		err = s.client.Set(ctx, keys.Suspicion(), strconv.Itoa(row.Agreed)+"|"+row.What, suspicionTTL).Err()
	}
	if err != nil {
		return failed("write", "suspicion", err)
	}
	return nil
}

// progressTTL is how long the count of ready pictures is shown (schema 2).
const progressTTL = 14_400 * time.Second

// SetProgress tells how many image units of a scene are ready, for display; 0 takes the
// count away.
func (s *Store) SetProgress(ctx context.Context, scene ports.SceneID, ready int) error {
	key := keys.ImageProgress(scene)
	var err error
	if ready == 0 {
		err = s.client.Del(ctx, key).Err()
	} else {
		err = s.client.Set(ctx, key, ready, progressTTL).Err()
	}
	if err != nil {
		return failed("progress of", scene.String(), err)
	}
	return nil
}

// ReleaseSlots takes slots from holders that are over, and returns how many had one.
func (s *Store) ReleaseSlots(ctx context.Context, stage string, holders []string) (int, error) {
	if len(holders) == 0 {
		return 0, nil
	}
	members := make([]any, len(holders))
	for i, h := range holders {
		members[i] = h
	}
	n, err := s.client.ZRem(ctx, keys.Slots(stage), members...).Result()
	if err != nil {
		return 0, failed("release slots", stage, err)
	}
	return int(n), nil
}

// Purges lists the dispatches that ended longest ago and whose jobs may still be at the
// hub, at most n.
func (s *Store) Purges(ctx context.Context, n int) ([]string, error) {
	ids, err := s.client.ZRange(ctx, keys.Purges(), 0, int64(n-1)).Result()
	if err != nil {
		return nil, unread("read", "purges", keys.Purges(), err)
	}
	return ids, nil
}

// Purged notes that the hub has none of the jobs of a dispatch any more.
func (s *Store) Purged(ctx context.Context, dispatch string) error {
	if err := s.client.ZRem(ctx, keys.Purges(), dispatch).Err(); err != nil {
		return failed("note the purge of", dispatch, err)
	}
	return nil
}

// KnownScenes lists every scene that has a state, and those of also. It is the one
// SCAN of the engine, and only for the check of the index (design 5.2); keys that the
// family cannot have are left out.
func (s *Store) KnownScenes(ctx context.Context, also []ports.SceneID) ([]ports.SceneID, error) {
	scenes := slices.Clone(also)
	for cursor := uint64(0); ; {
		page, next, err := s.client.Scan(ctx, cursor, keys.AssetStatePattern, 500).Result()
		if err != nil {
			return nil, unread("scan", "states from "+strconv.FormatUint(cursor, 10), "", err)
		}
		for _, name := range page {
			if key, err := keys.Parse(name); err == nil && key.Family == keys.FamilyAssetState {
				scenes = append(scenes, key.SceneID)
			}
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	slices.SortFunc(scenes, ports.SceneID.Compare)
	return slices.Compact(scenes), nil
}
