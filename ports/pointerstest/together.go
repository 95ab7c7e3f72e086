package pointerstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/animastor/orchestra/ports"
)

const (
	tasks = 6
	turns = 20
)

// together collects what tasks find that run at once.
type together struct {
	mu sync.Mutex // never held across a call
	check
}

func (t *together) is(what string, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.check.is(what, ok, err)
}

// run runs tasks at once, and waits for them.
func (t *together) run(ctx context.Context, rt ports.Runtime, tasks ...func(context.Context)) {
	group := rt.Group()
	for i, task := range tasks {
		group.Go(ctx, fmt.Sprintf("case%d", i), task)
	}
	t.is("all tasks end", true, group.Wait(ctx))
}

// publishers: whatever the order in which generations are published, what stands only grows.
func publishers(ctx context.Context, rt ports.Runtime, s ports.Pointers) error {
	var t together
	const most = tasks * turns
	var todo []func(context.Context)
	for i := range tasks {
		todo = append(todo, func(ctx context.Context) {
			for turn := range turns {
				generation := int64(1 + (i*turns+turn)*7%most) // each number up to most once, in no order
				_, err := s.Publish(ctx, scene, ports.Pointer{Unit: "u1", Generation: generation, Version: most - generation, Mark: most - generation})
				t.is("publish", true, err)
			}
		})
	}
	todo = append(todo, func(ctx context.Context) {
		last := ports.Pointer{}
		for range 3 * turns {
			got, err := ports.AllPublished(ctx, s, scene)
			p := got["u1"]
			t.is(fmt.Sprintf("%+v comes after %+v", p, last), !p.Older(last) && (len(got) == 0 || p.Version == most-p.Generation && p.Mark == p.Version), err)
			last = p
		}
	})
	t.run(ctx, rt, todo...)
	got, err := ports.AllPublished(ctx, s, scene)
	t.is(fmt.Sprintf("the highest generation stands, not %+v", got), len(got) == 1 && got["u1"].Generation == most, err)
	return t.err()
}

// markers: numbers are distinct and grow with time; of a unit the highest counts; and a number
// that is read comes after all lower ones of the scene.
func markers(ctx context.Context, rt ports.Runtime, s ports.Pointers) error {
	var t together
	want, given := map[string]int64{}, map[int64]bool{}
	latest := int64(0) // of the marks that are done
	var todo []func(context.Context)
	for i := range tasks {
		todo = append(todo, func(ctx context.Context) {
			for turn := range turns {
				// some in the reverse order: who locked them one by one would stand in the way of others
				names := []string{fmt.Sprintf("u%d", (i+turn)%4), fmt.Sprintf("u%d", (i*3+turn*7)%4)}
				t.mu.Lock()
				before := latest
				t.mu.Unlock()
				number, err := s.Mark(ctx, scene, names)
				t.is(fmt.Sprintf("%d comes after %d", number, before), number > before, err)
				t.mu.Lock()
				t.check.is(fmt.Sprintf("%d is nobody else's", number), !given[number], nil)
				given[number], latest = true, max(latest, number)
				for _, unit := range names {
					want[unit] = max(want[unit], number)
				}
				t.mu.Unlock()
			}
		})
	}
	todo = append(todo, func(ctx context.Context) {
		seen, before := int64(0), map[string]int64{}
		for range 4 * turns {
			got, err := ports.AllMarks(ctx, s, scene)
			t.is("read", true, err)
			for unit, number := range got {
				t.is(fmt.Sprintf("%s: %d is seen after %d was", unit, number, seen), number == before[unit] || number > seen, nil)
			}
			before = got
			seen = max(seen, slices.Max(append(slices.Collect(maps.Values(got)), 0)))
		}
	})
	t.run(ctx, rt, todo...)
	got, err := ports.AllMarks(ctx, s, scene)
	t.is(fmt.Sprintf("the highest numbers count: %v, not %v", want, got), maps.Equal(got, want), err)
	return t.err()
}

// settler: who settles what was read takes no mark away that came meanwhile.
func settler(ctx context.Context, rt ports.Runtime, s ports.Pointers) error {
	var t together
	last, settled := int64(0), int64(0)
	t.run(ctx, rt, func(ctx context.Context) {
		for range 2 * turns {
			number, err := s.Mark(ctx, scene, []string{"u1", "u2"})
			t.is("mark", number > 0, err)
			last = number
		}
	}, func(ctx context.Context) {
		for range 2 * turns {
			got, err := ports.AllMarks(ctx, s, scene)
			t.is("read", true, err)
			if number, marked := got["u1"]; marked {
				t.is("a mark comes after what was settled", number > settled, nil)
				t.is("settle", true, s.Settle(ctx, scene, "u1", number))
				settled = number
			}
		}
	})
	got, err := ports.AllMarks(ctx, s, scene)
	want := map[string]int64{"u1": last, "u2": last}
	if settled == last {
		delete(want, "u1")
	}
	t.is(fmt.Sprintf("%v is left, not %v", want, got), maps.Equal(got, want), err)
	if last == 0 {
		t.is("marks were set", false, errors.New("none"))
	}
	return t.err()
}
