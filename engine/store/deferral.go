package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// undeferMax is how many deferrals one script ends: it must not hold up Redis.
const undeferMax = 500

// Deferral keeps a stage from being begun: finish opens it, Begin obeys it while its
// time lasts and its generation is the current one (design 5.3, DF1).
type Deferral struct {
	Reason     string
	Bucket     string
	Generation int64
	Dispatch   string // whose finish opened it
	Since      time.Time
	Until      time.Time
}

// Holds says whether Begin would refuse a generation at a time because of it.
func (d *Deferral) Holds(generation int64, at time.Time) bool {
	return d != nil && d.Generation == generation && d.Until.After(at)
}

// String is the deferral as Redis holds it: reason|bucket|generation|dispatch|since|until.
func (d *Deferral) String() string {
	return strings.Join([]string{
		d.Reason, d.Bucket, strconv.FormatInt(d.Generation, 10), d.Dispatch,
		strconv.FormatInt(d.Since.UnixMilli(), 10), strconv.FormatInt(d.Until.UnixMilli(), 10),
	}, "|")
}

// parseDeferral returns nil for what holds nothing because it cannot be read.
func parseDeferral(text string) *Deferral {
	parts := strings.Split(text, "|")
	if len(parts) != 6 || number(parts[2]) == 0 || number(parts[5]) == 0 {
		return nil
	}
	return &Deferral{parts[0], parts[1], number(parts[2]), parts[3], instant(parts[4]), instant(parts[5])}
}

// DeferralsOf returns the stages of a book that may be deferred, in order. Members of
// the index that cannot be read are left out.
func (s *Store) DeferralsOf(ctx context.Context, book string) ([]ports.StageID, error) {
	key := keys.DeferredOf(book)
	members, err := s.client.ZRange(ctx, key, 0, -1).Result()
	if err != nil {
		return nil, unread("deferrals of", book, key, err)
	}
	var stages []ports.StageID
	for _, member := range members {
		if stage, err := keys.ParseBookStageMember(book, member); err == nil {
			stages = append(stages, stage)
		}
	}
	slices.SortFunc(stages, ports.StageID.Compare)
	return stages, nil
}

// ClearDeferralsForBook ends every deferral of a book and returns how many there were.
// With an error the count is of those that are gone for sure (DF14).
func (s *Store) ClearDeferralsForBook(ctx context.Context, book string) (int, error) {
	stages, err := s.DeferralsOf(ctx, book)
	if err != nil {
		return 0, err
	}
	cleared := 0
	for some := range slices.Chunk(stages, undeferMax) {
		n, err := s.undefer(ctx, book, some)
		cleared += n
		if err != nil {
			return cleared, err
		}
	}
	return cleared, nil
}

// ClearDeferralsForScene ends every deferral of a scene and returns how many there were.
func (s *Store) ClearDeferralsForScene(ctx context.Context, scene ports.SceneID) (int, error) {
	var stages []ports.StageID
	for _, stage := range asset.Stages() {
		stages = append(stages, scene.Of(stage))
	}
	return s.undefer(ctx, scene.Book, stages)
}

func (s *Store) undefer(ctx context.Context, book string, stages []ports.StageID) (int, error) {
	names, members := []string{keys.DeferredOf(book)}, []any(nil)
	for _, stage := range stages {
		names = append(names, keys.Deferred(stage))
		members = append(members, keys.BookStageMember(stage))
	}
	r, err := s.run(ctx, &scripts.undefer, book, names, members...)
	if err != nil {
		return 0, err
	}
	return int(r.int(0)), nil
}
