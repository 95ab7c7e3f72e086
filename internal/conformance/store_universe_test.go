package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/internal/universe"
	"github.com/animastor/orchestra/ports"
)

// storePlay is one performance of a sequence of operations on one store.
type storePlay struct {
	store   ports.Pointers
	numbers []int64 // of the marks, in the order in which they were given
	cut     func()  // cuts the connections, and waits until the store answers again
}

// storeOp is an operation, as it is shown, and what it answers: numbers of marks by their turn.
type storeOp struct {
	name string
	do   func(context.Context, *storePlay) string
}

// The scenes and units of the universe are few, so that operations meet; the last of each is no id.
var (
	storeScenes = []ports.SceneID{{Book: "b", Chapter: "c", Scene: "s"}, {Book: "b", Chapter: "c", Scene: "S"}, {Book: "b:c", Chapter: "'--", Scene: "%"},
		{Book: "b", Chapter: "\x00", Scene: "s"}}
	storeUnits = []string{"u1", "U1", "u-1", "u 1", "ä", "\xff"}
)

// number shows a number of a mark by its turn.
func (p *storePlay) number(n int64) string {
	if turn := slices.Index(p.numbers, n); turn >= 0 {
		return fmt.Sprintf("#%d", turn)
	}
	return fmt.Sprint(n)
}

// answered is the class of an error, or what was answered.
func answered(err error, answer any) string {
	for _, class := range []error{ports.ErrInvalid, ports.ErrNoRow, ports.ErrUndecodable, ports.ErrUnreadable} {
		if errors.Is(err, class) {
			return "error " + class.Error()
		}
	}
	if err != nil {
		return "another error: " + err.Error()
	}
	return fmt.Sprint(answer)
}

func publishOp(scene ports.SceneID, p ports.Pointer) storeOp {
	return storeOp{fmt.Sprintf("publish %s %+q", scene, fmt.Sprint(p)), func(ctx context.Context, play *storePlay) string {
		return answered2(play.store.Publish(ctx, scene, p))
	}}
}

func answered2[T any](answer T, err error) string { return answered(err, answer) }

func publishedOp(scene ports.SceneID, after string) storeOp {
	return storeOp{fmt.Sprintf("published %s after %+q", scene, after), func(ctx context.Context, play *storePlay) string {
		page, err := play.store.Published(ctx, scene, after)
		return answered(err, fmt.Sprintf("%+q of %d, next %+q", fmt.Sprint(page.Rows), page.Total, page.Next))
	}}
}

func markOp(scene ports.SceneID, units []string) storeOp {
	return storeOp{fmt.Sprintf("mark %s %+q", scene, units), func(ctx context.Context, play *storePlay) string {
		number, err := play.store.Mark(ctx, scene, units)
		if err == nil {
			if number <= slices.Max(append(slices.Clone(play.numbers), 0)) {
				return fmt.Sprintf("%d, which does not come after %v", number, play.numbers)
			}
			play.numbers = append(play.numbers, number)
		}
		return answered(err, play.number(number))
	}}
}

func marksOp(scene ports.SceneID, after string) storeOp {
	return storeOp{fmt.Sprintf("marks %s after %+q", scene, after), func(ctx context.Context, play *storePlay) string {
		page, err := play.store.Marks(ctx, scene, after)
		var rows []string
		for _, m := range page.Rows {
			rows = append(rows, fmt.Sprintf("%+q=%s", m.Unit, play.number(m.Number)))
		}
		return answered(err, fmt.Sprintf("%s of %d, next %+q", rows, page.Total, page.Next))
	}}
}

// settleOp settles up to the number of a turn, or one less; of a turn yet to come: all or nothing.
func settleOp(scene ports.SceneID, unit string, turn int, less int64) storeOp {
	return storeOp{fmt.Sprintf("settle %s %+q up to #%d-%d", scene, unit, turn, less), func(ctx context.Context, play *storePlay) string {
		upTo := math.MaxInt64 - less*math.MaxInt64
		if turn < len(play.numbers) {
			upTo = play.numbers[turn] - less
		}
		return answered(play.store.Settle(ctx, scene, unit, upTo), "done")
	}}
}

func stampOp(stage ports.StageID, version int64) storeOp {
	return storeOp{fmt.Sprintf("stamp %s %d", stage, version), func(ctx context.Context, play *storePlay) string {
		return answered(play.store.Stamp(ctx, stage, version), "done")
	}}
}

func stampedOp(stage ports.StageID) storeOp {
	return storeOp{fmt.Sprintf("stamped %s", stage), func(ctx context.Context, play *storePlay) string {
		return answered2(play.store.Stamped(ctx, stage))
	}}
}

func bookOp(verb, book string) storeOp {
	return storeOp{fmt.Sprintf("%s %+q", verb, book), func(ctx context.Context, play *storePlay) string {
		switch verb {
		case "bury":
			return answered(play.store.Bury(ctx, book), "done")
		case "unbury":
			return answered(play.store.Unbury(ctx, book), "done")
		}
		return answered2(play.store.Buried(ctx, book))
	}}
}

// manyOp publishes and marks more units than a page holds.
func manyOp(scene ports.SceneID, rows int) storeOp {
	return storeOp{fmt.Sprintf("publish and mark %d units of %s", rows, scene), func(ctx context.Context, play *storePlay) string {
		var units []string
		for i := range rows {
			unit := fmt.Sprintf("%c%d", "uU"[i%2], i)
			units = append(units, unit)
			if _, err := play.store.Publish(ctx, scene, ports.Pointer{Unit: unit}); err != nil {
				return answered(err, "")
			}
		}
		return markOp(scene, units).do(ctx, play)
	}}
}

var cutOp = storeOp{"cut the connections", func(_ context.Context, play *storePlay) string { play.cut(); return "" }}

// drawStoreOp draws an operation.
func drawStoreOp(t *rapid.T) storeOp {
	scenes, units := storeScenes[:3], storeUnits[:5]
	if universe.Chance(t, 10) {
		scenes, units = storeScenes, storeUnits
	}
	scene, unit := universe.OneOf(t, scenes...), universe.OneOf(t, units...)
	after := universe.OneOf(t, append([]string{"", "", "", "", ""}, units...)...)
	stage := scene.Of(universe.OneOf(t, "image", "audio"))
	number := func(most int) int64 { return int64(universe.Evenly(t, most)) }
	ops := []func() storeOp{
		func() storeOp {
			return publishOp(scene, ports.Pointer{Unit: unit, Path: universe.OneOf(t, "x", "", "'", "\\", "ä\t"), Status: universe.OneOf(t, ports.PointerOK, "bad"),
				Generation: number(3), Version: number(3), Mark: number(3)})
		},
		func() storeOp { return publishedOp(scene, after) },
		func() storeOp {
			var some []string
			for range universe.Evenly(t, 4) {
				some = append(some, universe.OneOf(t, units...))
			}
			return markOp(scene, some)
		},
		func() storeOp { return marksOp(scene, after) },
		func() storeOp { return settleOp(scene, unit, universe.Evenly(t, 6), number(2)) },
		func() storeOp { return stampOp(stage, number(4)-int64(universe.Evenly(t, 10)/9)) },
		func() storeOp { return stampedOp(stage) },
		func() storeOp { return bookOp(universe.OneOf(t, "bury", "unbury", "buried"), scene.Book) },
	}
	switch universe.Evenly(t, 60) {
	case 58:
		return manyOp(scene, ports.PageRows+universe.Evenly(t, 3)-1)
	case 59:
		return cutOp
	}
	return ops[universe.Evenly(t, len(ops))]()
}

// dumpOps ask for all that there is.
func dumpOps() (ops []storeOp) {
	for _, scene := range storeScenes[:3] {
		ops = append(ops, publishedOp(scene, ""), marksOp(scene, ""), stampedOp(scene.Of("image")), stampedOp(scene.Of("audio")), bookOp("buried", scene.Book))
	}
	return ops
}

// play plays operations and returns what they answer.
func (p *storePlay) play(ctx context.Context, ops []storeOp) (answers []string) {
	for _, op := range ops {
		answers = append(answers, op.do(ctx, p))
	}
	return answers
}

// storeDifference plays operations on both stores, empty at first, and shows the first answer
// that differs, after all before it; or "".
func storeDifference(t tester, d *database, ops []storeOp) string {
	d.empty(t)
	ops = slices.Concat(ops, dumpOps())
	real := (&storePlay{store: d.store, cut: func() { d.cut(t); d.answers(t) }}).play(ctx, ops)
	var fake []string
	inWorld(t, func(ctx context.Context, _ ports.Runtime, s ports.Pointers) {
		fake = (&storePlay{store: s, cut: func() {}}).play(ctx, ops)
	})
	var b strings.Builder
	b.WriteString("postgresql and the fake differ (#0 is the number of the first mark):\n")
	for i, op := range ops {
		if real[i] != fake[i] {
			fmt.Fprintf(&b, "  %s\n    postgresql: %s\n    fake:       %s\n", op.name, real[i], fake[i])
			return b.String()
		}
		if i < len(ops)-len(dumpOps()) {
			fmt.Fprintf(&b, "  %s -> %s\n", op.name, real[i])
		}
	}
	return ""
}

// storeProperty plays any operations on both stores. A difference fails it, with the smallest
// sequence that shows it.
func storeProperty(d *database) func(*rapid.T) {
	return func(t *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(drawStoreOp), 1, 30).Draw(t, "operations")
		found := storeDifference(t, d, ops)
		if found == "" {
			return
		}
		takeOut(ops, func(ops []storeOp) int { return len(ops) },
			func(ops []storeOp, from, size int) []storeOp {
				return slices.Delete(slices.Clone(ops), from, from+size)
			},
			time.Now().Add(shrinkFor), func(ops []storeOp) bool {
				smaller := storeDifference(t, d, ops)
				if smaller != "" {
					found = smaller
				}
				return smaller != ""
			})
		t.Fatalf("%s", found)
	}
}

// TestStoreUniverse: any few operations are answered alike by the fake and by PostgreSQL.
func TestStoreUniverse(t *testing.T) {
	rapid.Check(t, storeProperty(newDatabase(t)))
}

// TestPlantedStoreDifference: what is planted in the store is found, and named: a settlement
// that takes newer marks by a smallest sequence, and an outage that reads as an empty store.
func TestPlantedStoreDifference(t *testing.T) {
	needPostgres(t)
	defer func(before string) { *plantName = before }(*plantName)

	*plantName = "settle"
	said := failure(t, storeProperty(newDatabase(t)))
	require.Regexp(t, `^\S* ?postgresql and the fake differ .*\n  mark .*\n  settle .*\n  marks .*\n    postgresql: .*\n    fake: `, said[strings.Index(said, "postgresql and"):])
	t.Log(said)

	*plantName = "empty-on-outage"
	d := newDatabase(t)
	d.do(t, "REVOKE ALL ON orchestra_pointers FROM orchestra")
	require.EqualError(t, askInTime(ctx, d.store, "Published"), "Published in an outage must answer ErrUnreadable, not an answer, as if the store were empty")
}
