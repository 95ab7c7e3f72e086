// Package pointerstest holds every ports.Pointers and ports.Timings to one behaviour: the
// fakes of a world and the real store run the same cases, and answer an outage alike
// (Outage, Undecodable).
//
// Not for: what brings an outage about (packages fakes/pointers and internal/conformance).
package pointerstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/animastor/orchestra/ports"
)

// Case is one rule of the store. Run gets an empty store, and the runtime of who asks it,
// and returns what is wrong with it.
type Case struct {
	Name string
	Run  func(context.Context, ports.Runtime, ports.Pointers) error
}

// alone is a rule of a store that nobody else asks meanwhile.
func alone(run func(context.Context, ports.Pointers) error) func(context.Context, ports.Runtime, ports.Pointers) error {
	return func(ctx context.Context, _ ports.Runtime, s ports.Pointers) error { return run(ctx, s) }
}

// The ids are no plain words: they are data (audit 117 M1).
var (
	scene = ports.SceneID{Book: "a:b", Chapter: "c'--", Scene: "s%_*"}
	other = ports.SceneID{Book: "a", Chapter: "b:c'--", Scene: "s%_*"}
)

// Cases are the rules.
func Cases() []Case {
	return []Case{
		{"an empty store", alone(empty)}, {"a pointer", alone(pointer)}, {"a pointer never goes back", alone(older)}, {"pages", alone(pages)},
		{"marks grow from one sequence", alone(marks)}, {"a mark set meanwhile stays", alone(raced)}, {"versions", alone(versions)},
		{"tombstones", alone(tombstones)}, {"ids are data", alone(hostile)}, {"what is no id is refused", alone(refused)},
		{"pages are in the order of bytes", alone(ordered)}, {"a page after the last unit", alone(past)}, {"units of one mark", alone(units)},
		{"many publish one unit", publishers}, {"many mark", markers}, {"settling beside marks", settler},
	}
}

// check collects what is wrong.
type check struct{ errs []error }

func (c *check) is(what string, ok bool, err error) {
	switch {
	case err != nil:
		c.errs = append(c.errs, fmt.Errorf("%s: ok=%t, error %w", what, ok, err))
	case !ok:
		c.errs = append(c.errs, errors.New(what))
	}
}

func (c *check) err() error { return errors.Join(c.errs...) }

func empty(ctx context.Context, s ports.Pointers) error {
	var c check
	published, err := ports.AllPublished(ctx, s, scene)
	c.is("no pointers", len(published) == 0, err)
	marks, err := ports.AllMarks(ctx, s, scene)
	c.is("no marks", len(marks) == 0, err)
	_, err = s.Stamped(ctx, scene.Of("image"))
	c.is("no version is ErrNoRow, and not unreadable", errors.Is(err, ports.ErrNoRow) && !errors.Is(err, ports.ErrUnreadable), nil)
	return c.err()
}

func pointer(ctx context.Context, s ports.Pointers) error {
	var c check
	p := ports.Pointer{Unit: "u'1", Path: "x", Status: ports.PointerOK, Generation: 2, Version: 3, Mark: 4}
	for range 2 { // made again after a lost answer
		published, err := s.Publish(ctx, scene, p)
		c.is("publish", published, err)
	}
	got, err := ports.AllPublished(ctx, s, scene)
	c.is("it stands", maps.Equal(got, map[string]ports.Pointer{"u'1": p}), err)
	got, err = ports.AllPublished(ctx, s, other)
	c.is("of this scene alone", len(got) == 0, err)
	return c.err()
}

func older(ctx context.Context, s ports.Pointers) error {
	var c check
	for _, p := range []struct {
		generation, version, mark int64
		want                      bool
	}{{2, 2, 2, true}, {1, 9, 9, false}, {2, 1, 2, false}, {2, 2, 1, false}, {2, 3, 2, true}, {3, 1, 1, true}} {
		published, err := s.Publish(ctx, scene, ports.Pointer{Unit: "u1", Generation: p.generation, Version: p.version, Mark: p.mark})
		c.is(fmt.Sprintf("publish %+v", p), published == p.want, err)
	}
	return c.err()
}

func pages(ctx context.Context, s ports.Pointers) error {
	var c check
	var units []string
	for i := range 2*ports.PageRows + 1 {
		unit := fmt.Sprintf("u%03d", i)
		units = append(units, unit)
		_, err := s.Publish(ctx, scene, ports.Pointer{Unit: unit, Path: unit})
		c.is("publish", true, err)
	}
	_, err := s.Mark(ctx, scene, units)
	c.is("mark", true, err)
	page, err := s.Published(ctx, scene, "")
	c.is("the first page is full", len(page.Rows) == ports.PageRows && page.Total == len(units) && page.Next == units[ports.PageRows-1], err)
	published, err := ports.AllPublished(ctx, s, scene)
	c.is("all pointers", slices.Equal(slices.Sorted(maps.Keys(published)), units), err)
	marks, err := ports.AllMarks(ctx, s, scene)
	c.is("all marks", slices.Equal(slices.Sorted(maps.Keys(marks)), units), err)
	return c.err()
}

func marks(ctx context.Context, s ports.Pointers) error {
	var c check
	first, err := s.Mark(ctx, scene, []string{"u1", "u2"})
	c.is("mark", first > 0, err)
	second, err := s.Mark(ctx, other, []string{"u1"})
	c.is("another scene has the next number", second > first, err)
	third, err := s.Mark(ctx, scene, []string{"u1"})
	c.is("mark again", third > second, err)
	got, err := ports.AllMarks(ctx, s, scene)
	c.is("the highest number counts", maps.Equal(got, map[string]int64{"u1": third, "u2": first}), err)
	return c.err()
}

func raced(ctx context.Context, s ports.Pointers) error {
	var c check
	first, err := s.Mark(ctx, scene, []string{"u1", "u2"})
	c.is("mark", true, err)
	second, err := s.Mark(ctx, scene, []string{"u2"})
	c.is("mark", true, err)
	for _, unit := range []string{"u1", "u2", "u3", "u1"} {
		c.is("settle", true, s.Settle(ctx, scene, unit, first))
	}
	got, err := ports.AllMarks(ctx, s, scene)
	c.is("the newer mark stays", maps.Equal(got, map[string]int64{"u2": second}), err)
	return c.err()
}

func versions(ctx context.Context, s ports.Pointers) error {
	var c check
	for _, version := range []int64{2, 1, 3, 2} {
		c.is("stamp", true, s.Stamp(ctx, scene.Of("image"), version))
	}
	got, err := s.Stamped(ctx, scene.Of("image"))
	c.is("the highest version counts", got == 3, err)
	_, err = s.Stamped(ctx, scene.Of("audio"))
	c.is("of this stage alone", errors.Is(err, ports.ErrNoRow), nil)
	return c.err()
}

func tombstones(ctx context.Context, s ports.Pointers) error {
	var c check
	is := func(want ports.Presence) {
		got, err := s.Buried(ctx, scene.Book)
		c.is("it is "+want.String(), got == want, err)
	}
	is(ports.Absent)
	c.is("bury", true, s.Bury(ctx, scene.Book))
	c.is("bury again", true, s.Bury(ctx, scene.Book))
	is(ports.Present)
	got, err := s.Buried(ctx, other.Book)
	c.is("of this book alone", got == ports.Absent, err)
	c.is("unbury", true, s.Unbury(ctx, scene.Book))
	is(ports.Absent)
	return c.err()
}
