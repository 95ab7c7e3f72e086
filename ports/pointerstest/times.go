package pointerstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/animastor/orchestra/ports"
)

// Times is a store of unit times.
type Times struct {
	ports.Timings
	// Edit sees to it that the content of a scene is there, and of that version at least.
	Edit func(scene ports.SceneID, version int64)
	// Read is what is kept of a scene; nothing if there is nothing.
	Read func(ctx context.Context, scene ports.SceneID) ([]ports.UnitTime, error)
}

// TimesCase is one rule of ports.Timings. Run gets an empty store, and the runtime of who asks
// it, and returns what is wrong with it.
type TimesCase struct {
	Name string
	Run  func(context.Context, ports.Runtime, Times) error
}

// TimesCases are the rules.
func TimesCases() []TimesCase {
	alone := func(run func(context.Context, Times) error) func(context.Context, ports.Runtime, Times) error {
		return func(ctx context.Context, _ ports.Runtime, s Times) error { return run(ctx, s) }
	}
	return []TimesCase{
		{"all times of a scene", alone(times)}, {"times of an older version", alone(olderTimes)}, {"ids of times are data", alone(hostileTimes)},
		{"what is no time is refused", alone(refusedTimes)}, {"many set the times of one scene", timekeepers},
	}
}

// timesOf are times of units, each of which is shown for as many milliseconds.
func timesOf(each int64, units ...string) (list []ports.UnitTime) {
	width := time.Duration(each) * time.Millisecond
	for i, unit := range units {
		list = append(list, ports.UnitTime{Unit: unit, Start: time.Duration(i) * width, End: time.Duration(i+1) * width})
	}
	return list
}

// set sets times and reads what is kept then.
func (s Times) set(ctx context.Context, c *check, scene ports.SceneID, version int64, list, want []ports.UnitTime) {
	s.Edit(scene, version)
	c.is(fmt.Sprintf("set times of version %d", version), true, s.SetTimes(ctx, scene, version, list))
	got, err := s.Read(ctx, scene)
	c.is(fmt.Sprintf("%v is kept, not %v", got, want), slices.Equal(got, want), err)
}

func times(ctx context.Context, s Times) error {
	var c check
	got, err := s.Read(ctx, scene)
	c.is("an empty store has none", len(got) == 0, err)
	first := timesOf(1200, "u3", "u1", "u2") // in the order of the scene, not of the ids
	for range 2 {                            // made again after a lost answer
		s.set(ctx, &c, scene, 1, first, first)
	}
	uneven := []ports.UnitTime{{Unit: "u1", End: 1234 * time.Millisecond}, {Unit: "u2", Start: 1234 * time.Millisecond, End: 1234 * time.Millisecond}}
	s.set(ctx, &c, scene, 1, uneven, uneven) // nothing is left of what was there
	got, err = s.Read(ctx, other)
	c.is("another scene has none", len(got) == 0, err)
	s.set(ctx, &c, scene, 1, nil, nil)
	return c.err()
}

func olderTimes(ctx context.Context, s Times) error {
	var c check
	one, two, three := timesOf(1, "u1"), timesOf(2, "u1", "u2"), timesOf(3, "u3")
	s.set(ctx, &c, scene, 1, one, one)
	s.set(ctx, &c, scene, 3, three, three)
	s.set(ctx, &c, scene, 2, two, three)
	s.set(ctx, &c, scene, 1, one, three)
	s.set(ctx, &c, scene, 3, two, two)
	s.set(ctx, &c, other, 1, one, one) // versions are those of a scene
	return c.err()
}

func hostileTimes(ctx context.Context, s Times) error {
	var c check
	ids := Hostile()
	of := func(i int) (ports.SceneID, []ports.UnitTime) {
		scene := ports.SceneID{Book: ids[i], Chapter: ids[(i+1)%len(ids)], Scene: ids[(i+2)%len(ids)]}
		return scene, timesOf(int64(i), ids[i], ids[(i+1)%len(ids)], ids[(i+2)%len(ids)])
	}
	for i := range ids {
		scene, list := of(i)
		s.set(ctx, &c, scene, 1, list, list)
	}
	for i, id := range ids { // none of them took another one's away
		scene, list := of(i)
		got, err := s.Read(ctx, scene)
		c.is(fmt.Sprintf("times of %q", id), slices.Equal(got, list), err)
	}
	return c.err()
}

func refusedTimes(ctx context.Context, s Times) error {
	var c check
	kept := timesOf(1, "u1")
	s.set(ctx, &c, scene, 1, kept, kept)
	is := func(what string, err error) {
		c.is(fmt.Sprintf("%s is ErrInvalid and nothing else, not %v", what, err), errors.Is(err, ports.ErrInvalid) && !errors.Is(err, ports.ErrUnreadable), nil)
	}
	for _, id := range NoIDs() {
		is(fmt.Sprintf("a scene %.12q", id), s.SetTimes(ctx, ports.SceneID{Book: "b", Chapter: "c", Scene: id}, 1, kept))
		is(fmt.Sprintf("a unit %.12q", id), s.SetTimes(ctx, scene, 1, timesOf(1, "u1", id)))
	}
	is("a version below zero", s.SetTimes(ctx, scene, -1, kept))
	is("a time before the beginning", s.SetTimes(ctx, scene, 1, []ports.UnitTime{{Unit: "u1", Start: -time.Second}}))
	is("an end before its start", s.SetTimes(ctx, scene, 1, []ports.UnitTime{{Unit: "u1", Start: 2 * time.Second, End: time.Second}}))
	got, err := s.Read(ctx, scene)
	c.is("what was kept stays", slices.Equal(got, kept), err)
	return c.err()
}

// timekeepers: who reads sees all times of one version, and never an older version than before.
func timekeepers(ctx context.Context, rt ports.Runtime, s Times) error {
	var t together
	units := func(version int64) (ids []string) {
		for i := range version%5 + 1 {
			ids = append(ids, fmt.Sprintf("u%d", i))
		}
		return ids
	}
	const most = tasks * turns
	var todo []func(context.Context)
	for i := range tasks {
		todo = append(todo, func(ctx context.Context) {
			for turn := range turns {
				version := int64(1 + (i*turns+turn)*7%most) // each number up to most once, in no order
				t.mu.Lock()
				s.Edit(scene, version)
				t.mu.Unlock()
				t.is("set", true, s.SetTimes(ctx, scene, version, timesOf(version, units(version)...)))
			}
		})
	}
	todo = append(todo, func(ctx context.Context) {
		last := int64(0)
		for range 3 * turns {
			got, err := s.Read(ctx, scene)
			version := last
			if len(got) > 0 {
				version = got[0].End.Milliseconds()
			}
			t.is(fmt.Sprintf("%v comes after version %d", got, last), version >= last && (len(got) == 0 || slices.Equal(got, timesOf(version, units(version)...))), err)
			last = version
		}
	})
	t.run(ctx, rt, todo...)
	got, err := s.Read(ctx, scene)
	t.is(fmt.Sprintf("the highest version counts, not %v", got), slices.Equal(got, timesOf(most, units(most)...)), err)
	return t.err()
}
