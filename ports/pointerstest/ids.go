package pointerstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/animastor/orchestra/ports"
)

// Hostile are ids that a query, a pattern or a collation would trip over.
func Hostile() []string {
	return []string{
		"'", "''", `"`, `\`, `\'`, `'; DROP TABLE orchestra_pointers; --`, "$1", "$$", "%", "_", "s%", "*", "a:b", "a/b", ".", "..", " ", " a", "a ",
		"\t\r\n", "\x01", "\x7f", "NULL", "null", "0", "-1", "{}", "{a,b}", "a", "A", "ab", "a-b", "\u00e9", "e\u0301", "\u212b", "\u00c5", "\u0000"[:0] + "\ufeff",
		"\u202e", "\U0001f600", "\U0010ffff", strings.Repeat("x", ports.IDBytesMax), strings.Repeat("%_'\\", ports.IDBytesMax/4), strings.Repeat("\u00e4", ports.IDBytesMax/2),
	}
}

// NoIDs are what is refused instead.
func NoIDs() []string {
	return []string{"", "\x00", "a\x00b", "\xff", "a\xc3", "\xed\xa0\x80", strings.Repeat("x", ports.IDBytesMax+1), strings.Repeat("\u00e4", 1000)}
}

func hostile(ctx context.Context, s ports.Pointers) error {
	var c check
	ids := Hostile()
	for i, id := range ids {
		scene := ports.SceneID{Book: id, Chapter: ids[(i+1)%len(ids)], Scene: ids[(i+2)%len(ids)]}
		p := ports.Pointer{Unit: id, Path: id, Status: id, Generation: int64(i), Version: math.MaxInt64, Mark: int64(i)}
		published, err := s.Publish(ctx, scene, p)
		c.is(fmt.Sprintf("publish %q", id), published, err)
		number, err := s.Mark(ctx, scene, []string{id})
		c.is(fmt.Sprintf("mark %q", id), number > 0, err)
		c.is(fmt.Sprintf("stamp %q", id), true, s.Stamp(ctx, scene.Of(id), int64(i+1)))
		got, err := ports.AllPublished(ctx, s, scene)
		c.is(fmt.Sprintf("what is published of %q", id), maps.Equal(got, map[string]ports.Pointer{id: p}), err)
		marks, err := ports.AllMarks(ctx, s, scene)
		c.is(fmt.Sprintf("marks of %q", id), maps.Equal(marks, map[string]int64{id: number}), err)
		version, err := s.Stamped(ctx, scene.Of(id))
		c.is(fmt.Sprintf("version of %q", id), version == int64(i+1), err)
		buried, err := s.Buried(ctx, id)
		c.is(fmt.Sprintf("no tombstone for %q", id), buried == ports.Absent, err)
		c.is(fmt.Sprintf("bury %q", id), true, s.Bury(ctx, id))
	}
	for i, id := range ids { // none of them took another one's away
		scene := ports.SceneID{Book: id, Chapter: ids[(i+1)%len(ids)], Scene: ids[(i+2)%len(ids)]}
		got, err := ports.AllPublished(ctx, s, scene)
		c.is(fmt.Sprintf("%q still stands", id), len(got) == 1 && got[id].Generation == int64(i), err)
		buried, err := s.Buried(ctx, id)
		c.is(fmt.Sprintf("%q is buried", id), buried == ports.Present, err)
		c.is(fmt.Sprintf("unbury %q", id), true, s.Unbury(ctx, id))
	}
	return c.err()
}

// refused: what no store can hold is ErrInvalid from every method, and changes nothing.
func refused(ctx context.Context, s ports.Pointers) error {
	var c check
	is := func(what string, err error) {
		c.is(fmt.Sprintf("%s is ErrInvalid and nothing else, not %v", what, err), errors.Is(err, ports.ErrInvalid) &&
			!errors.Is(err, ports.ErrUnreadable) && !errors.Is(err, ports.ErrNoRow), nil)
	}
	for _, id := range NoIDs() {
		bad, name := ports.SceneID{Book: scene.Book, Chapter: id, Scene: scene.Scene}, fmt.Sprintf("%.12q", id)
		for _, call := range calls(bad, "u1") {
			is(call.name+" of a scene "+name, call.make(ctx, s))
		}
		for _, call := range calls(scene, id) {
			if call.unit && (id != "" || !call.page) { // a page after "" is the first one
				is(call.name+" of a unit "+name, call.make(ctx, s))
			}
		}
		is("a stage "+name, s.Stamp(ctx, scene.Of(id), 1))
		for _, call := range bookCalls(id) {
			is(call.name+" of a book "+name, call.make(ctx, s))
		}
	}
	for _, p := range []ports.Pointer{{Unit: "u", Path: "\x00"}, {Unit: "u", Status: "\xff"}, {Unit: "u", Generation: -1}, {Unit: "u", Version: -1}, {Unit: "u", Mark: -1}} {
		_, err := s.Publish(ctx, scene, p)
		is(fmt.Sprintf("publish %+v", p), err)
	}
	is("a version below zero", s.Stamp(ctx, scene.Of("image"), -1))
	_, err := s.Mark(ctx, scene, []string{"u1", "\x00"})
	is("one unit of several", err)
	c.is("it is an empty store", true, empty(ctx, s))
	return c.err()
}

// ordered: a collation of the store's own would put "a" before "B", and lose rows between pages.
func ordered(ctx context.Context, s ports.Pointers) error {
	var c check
	names := slices.Compact(slices.Sorted(slices.Values(Hostile())))
	names = slices.DeleteFunc(names, func(id string) bool { return len(id) > 100 })
	for i := range ports.PageRows {
		names = append(names, fmt.Sprintf("%c%c %d", "aAbB"[i%4], "-_ zZ"[i%5], i))
	}
	slices.Sort(names)
	for _, unit := range slices.Backward(names) {
		_, err := s.Publish(ctx, scene, ports.Pointer{Unit: unit})
		c.is("publish", true, err)
	}
	var read []string
	for after, i := "", 0; i < 5; i++ {
		page, err := s.Published(ctx, scene, after)
		c.is("a page of all", page.Total == len(names), err)
		for _, p := range page.Rows {
			read = append(read, p.Unit)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	c.is(fmt.Sprintf("in order: %.200q", read), slices.Equal(read, names), nil)
	return c.err()
}

func past(ctx context.Context, s ports.Pointers) error {
	var c check
	for _, unit := range []string{"u1", "u2"} {
		_, err := s.Publish(ctx, scene, ports.Pointer{Unit: unit})
		c.is("publish", true, err)
	}
	_, err := s.Mark(ctx, scene, []string{"u1", "u2"})
	c.is("mark", true, err)
	for after, want := range map[string]int{"": 2, "u": 2, "u1": 1, "u1\u00e4": 1, "u2": 0, "v": 0} {
		page, err := s.Published(ctx, scene, after)
		c.is(fmt.Sprintf("pointers after %q", after), len(page.Rows) == want && page.Total == 2 && page.Next == "", err)
		marks, err := s.Marks(ctx, scene, after)
		c.is(fmt.Sprintf("marks after %q", after), len(marks.Rows) == want && marks.Total == 2 && marks.Next == "", err)
	}
	return c.err()
}

func units(ctx context.Context, s ports.Pointers) error {
	var c check
	first, err := s.Mark(ctx, scene, nil)
	c.is("mark no unit", first > 0, err)
	second, err := s.Mark(ctx, scene, []string{"u2", "u1", "u2"})
	c.is("mark one unit twice", second > first, err)
	got, err := ports.AllMarks(ctx, s, scene)
	c.is("each has the number", maps.Equal(got, map[string]int64{"u1": second, "u2": second}), err)
	for _, upTo := range []int64{math.MinInt64, -1, 0, second - 1} {
		c.is("settle too little", true, s.Settle(ctx, scene, "u1", upTo))
	}
	got, err = ports.AllMarks(ctx, s, scene)
	c.is("both stay", len(got) == 2, err)
	c.is("settle all there ever will be", true, s.Settle(ctx, scene, "u1", math.MaxInt64))
	got, err = ports.AllMarks(ctx, s, scene)
	c.is("one stays", maps.Equal(got, map[string]int64{"u2": second}), err)
	return c.err()
}
