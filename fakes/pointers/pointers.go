package pointers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Effects are the effects of this service beside those of the kernel.
var Effects = sim.Effects{
	"unreadable":  nil,                                          // an error: unknown
	"undecodable": {"pointer", "marks", "version", "tombstone"}, // one row makes no sense
	"partial":     {"pointer", "marks"},                         // the second half of the page is missing
	"empty":       {"pointer", "marks", "version", "tombstone"}, // answers as an empty store would
	"stale":       {"pointer", "marks", "version"},              // answers as before the last write of the scene
}

// Store is the store of a world. Its calls belong to the running task.
type Store struct {
	w      *sim.World
	now    map[ports.SceneID]rows
	before map[ports.SceneID]rows // the last write of the scene
	buried map[string]bool
	last   int64 // number of the sequence
}

// rows is all that the store has of one scene. It is replaced, never changed.
type rows struct {
	pointers map[string]ports.Pointer
	marks    map[string]int64
	versions map[string]int64 // by stage
}

func (r rows) clone() rows {
	c := rows{maps.Clone(r.pointers), maps.Clone(r.marks), maps.Clone(r.versions)}
	if c.pointers == nil {
		c = rows{map[string]ports.Pointer{}, map[string]int64{}, map[string]int64{}}
	}
	return c
}

var _ ports.Pointers = (*Store)(nil)

// New returns an empty store.
func New(w *sim.World) *Store {
	return &Store{w: w, now: map[ports.SceneID]rows{}, before: map[ports.SceneID]rows{}, buried: map[string]bool{}}
}

// Published implements ports.Pointers.
func (s *Store) Published(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.Pointer], error) {
	return page(ctx, s, "pointer", scene, after, func(r rows) map[string]ports.Pointer { return r.pointers },
		func(_ string, p ports.Pointer) ports.Pointer { return p })
}

// Marks implements ports.Pointers.
func (s *Store) Marks(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.DirtyMark], error) {
	return page(ctx, s, "marks", scene, after, func(r rows) map[string]int64 { return r.marks },
		func(unit string, n int64) ports.DirtyMark { return ports.DirtyMark{Unit: unit, Number: n} })
}

// page reads one page of a list of the scene.
func page[R, T any](ctx context.Context, s *Store, verb string, scene ports.SceneID, after string,
	list func(rows) map[string]R, row func(string, R) T) (ports.Page[T], error) {
	return call(ctx, s, verb, scene.String(), scene.ValidatePage(after), func(effect string) (p ports.Page[T], _ error) {
		last := ""
		all := list(s.rows(scene, effect))
		p.Total = len(all)
		for _, unit := range slices.Sorted(maps.Keys(all)) {
			switch {
			case after != "" && unit <= after:
			case len(p.Rows) < ports.PageRows:
				p.Rows, last = append(p.Rows, row(unit, all[unit])), unit
			default:
				p.Next = last
			}
		}
		if effect == "partial" {
			p.Rows, p.Next, p.Total = p.Rows[:len(p.Rows)/2], "", max(1, p.Total)
		}
		return p, nil
	})
}

// rows is what a read with that effect sees of a scene.
func (s *Store) rows(scene ports.SceneID, effect string) rows {
	switch effect {
	case "empty":
		return rows{}
	case "stale":
		return s.before[scene]
	}
	return s.now[scene]
}

// Publish implements ports.Pointers.
func (s *Store) Publish(ctx context.Context, scene ports.SceneID, p ports.Pointer) (bool, error) {
	return call(ctx, s, "publish", unit(scene, p.Unit), errors.Join(scene.Validate(), p.Validate()), func(string) (bool, error) { return s.SetPointer(scene, p), nil })
}

// Mark implements ports.Pointers.
func (s *Store) Mark(ctx context.Context, scene ports.SceneID, units []string) (int64, error) {
	return call(ctx, s, "mark", scene.String(), scene.ValidateUnits(units...), func(string) (int64, error) {
		s.last++
		s.write(scene, func(r rows) {
			for _, u := range units {
				r.marks[u] = s.last
			}
		})
		return s.last, nil
	})
}

// Settle implements ports.Pointers.
func (s *Store) Settle(ctx context.Context, scene ports.SceneID, u string, upTo int64) error {
	_, err := call(ctx, s, "settle", unit(scene, u), scene.ValidateUnits(u), func(string) (bool, error) {
		n, marked := s.now[scene].marks[u]
		if settled := marked && n <= upTo; settled {
			s.write(scene, func(r rows) { delete(r.marks, u) })
			return true, nil
		}
		return false, nil
	})
	return err
}

// Stamp implements ports.Pointers.
func (s *Store) Stamp(ctx context.Context, stage ports.StageID, version int64) error {
	valid := errors.Join(stage.Validate(), ports.ValidateNumber("version", version))
	_, err := call(ctx, s, "stamp", stage.String(), valid, func(string) (int64, error) {
		s.SetVersion(stage, max(version, s.now[stage.SceneID].versions[stage.Stage]))
		return version, nil
	})
	return err
}

// Stamped implements ports.Pointers.
func (s *Store) Stamped(ctx context.Context, stage ports.StageID) (int64, error) {
	return call(ctx, s, "version", stage.String(), stage.Validate(), func(effect string) (int64, error) {
		version, found := s.rows(stage.SceneID, effect).versions[stage.Stage]
		if !found {
			return 0, ports.ErrNoRow
		}
		return version, nil
	})
}

// Bury implements ports.Pointers.
func (s *Store) Bury(ctx context.Context, book string) error { return s.tomb(ctx, "bury", book, true) }

// Unbury implements ports.Pointers.
func (s *Store) Unbury(ctx context.Context, book string) error {
	return s.tomb(ctx, "unbury", book, false)
}

func (s *Store) tomb(ctx context.Context, verb, book string, buried bool) error {
	_, err := call(ctx, s, verb, ports.Quote(book), ports.ValidateID("book", book), func(string) (bool, error) {
		s.buried[book] = buried
		return buried, nil
	})
	return err
}

// Buried implements ports.Pointers.
func (s *Store) Buried(ctx context.Context, book string) (ports.Presence, error) {
	buried, err := call(ctx, s, "tombstone", ports.Quote(book), ports.ValidateID("book", book), func(effect string) (bool, error) {
		return s.buried[book] && effect != "empty", nil
	})
	switch {
	case err != nil:
		return ports.Unknown, err
	case buried:
		return ports.Present, nil
	}
	return ports.Absent, nil
}

// call makes a call, if its arguments are valid, and a sentinel of what goes wrong with it.
func call[T any](ctx context.Context, s *Store, verb, subject string, valid error, do func(effect string) (T, error)) (answer T, err error) {
	if valid != nil {
		return answer, fmt.Errorf("pg %s %s: %w", verb, subject, valid)
	}
	deadline, _ := ctx.Deadline()
	reply, err := s.w.Do(&sim.Call{
		Service: "pg", Verb: verb, Subject: subject, Deadline: deadline, Effects: Effects,
		Do: func(fx *sim.Fired) (any, error) {
			switch {
			case fx == nil:
				return do("")
			case fx.Effect == "unreadable":
				return nil, ports.ErrUnreadable
			case fx.Effect == "undecodable":
				return nil, ports.ErrUndecodable
			}
			return do(fx.Effect)
		},
	})
	if err == nil {
		return reply.(T), nil
	}
	if !errors.Is(err, ports.ErrNoRow) && !errors.Is(err, ports.ErrUndecodable) && !errors.Is(err, ports.ErrUnreadable) {
		err = fmt.Errorf("%w: %w", ports.ErrUnreadable, err)
	}
	return answer, fmt.Errorf("pg %s %s: %w", verb, subject, err)
}

func unit(scene ports.SceneID, unit string) string { return scene.String() + "/" + ports.Quote(unit) }

// write changes the rows of a scene.
func (s *Store) write(scene ports.SceneID, change func(rows)) {
	s.before[scene] = s.now[scene]
	next := s.now[scene].clone()
	change(next)
	s.now[scene] = next
}

// SetPointer publishes without a call, as a scenario does before its run, and says whether
// what was published was not newer.
func (s *Store) SetPointer(scene ports.SceneID, p ports.Pointer) bool {
	if p.Older(s.now[scene].pointers[p.Unit]) {
		return false
	}
	s.write(scene, func(r rows) { r.pointers[p.Unit] = p })
	return true
}

// SetVersion stamps a stage without a call.
func (s *Store) SetVersion(stage ports.StageID, version int64) {
	s.write(stage.SceneID, func(r rows) { r.versions[stage.Stage] = version })
}

// Pointer reads without a call.
func (s *Store) Pointer(scene ports.SceneID, unit string) (ports.Pointer, bool) {
	p, ok := s.now[scene].pointers[unit]
	return p, ok
}

// MarksOf reads the marks of a scene without a call.
func (s *Store) MarksOf(scene ports.SceneID) map[string]int64 { return maps.Clone(s.now[scene].marks) }

// Tombstone reads without a call.
func (s *Store) Tombstone(book string) bool { return s.buried[book] }
