package pointerstest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/animastor/orchestra/ports"
)

// call is one call of a method, of which only the error counts.
type call struct {
	name string
	unit bool // it names a unit
	page bool // as the one after which a page begins
	make func(context.Context, ports.Pointers) error
}

// reads of a scene, and of its stage image.
func reads(scene ports.SceneID, unit string) []call {
	return []call{
		{"Published", true, true, func(ctx context.Context, s ports.Pointers) error {
			page, err := s.Published(ctx, scene, unit)
			return nothingWith(err, len(page.Rows)+page.Total, page.Next)
		}},
		{"Marks", true, true, func(ctx context.Context, s ports.Pointers) error {
			page, err := s.Marks(ctx, scene, unit)
			return nothingWith(err, len(page.Rows)+page.Total, page.Next)
		}},
		{"Stamped", false, false, func(ctx context.Context, s ports.Pointers) error {
			version, err := s.Stamped(ctx, scene.Of("image"))
			return nothingWith(err, int(version), "")
		}},
	}
}

// calls are reads and writes of a scene.
func calls(scene ports.SceneID, unit string) []call {
	return append(reads(scene, unit),
		call{"Publish", true, false, func(ctx context.Context, s ports.Pointers) error {
			published, err := s.Publish(ctx, scene, ports.Pointer{Unit: unit})
			if err != nil && published {
				return errors.New("an error, and yet published")
			}
			return err
		}},
		call{"Mark", true, false, func(ctx context.Context, s ports.Pointers) error {
			number, err := s.Mark(ctx, scene, []string{unit})
			return nothingWith(err, int(number), "")
		}},
		call{"Settle", true, false, func(ctx context.Context, s ports.Pointers) error { return s.Settle(ctx, scene, unit, 0) }},
		call{"Stamp", false, false, func(ctx context.Context, s ports.Pointers) error { return s.Stamp(ctx, scene.Of("image"), 0) }},
	)
}

func bookCalls(book string) []call {
	return []call{
		{"Buried", false, false, func(ctx context.Context, s ports.Pointers) error {
			buried, err := s.Buried(ctx, book)
			if (err != nil) != (buried == ports.Unknown) {
				return fmt.Errorf("%v with the error %w", buried, err)
			}
			return err
		}},
		{"Bury", false, false, func(ctx context.Context, s ports.Pointers) error { return s.Bury(ctx, book) }},
		{"Unbury", false, false, func(ctx context.Context, s ports.Pointers) error { return s.Unbury(ctx, book) }},
	}
}

func allCalls() []call { return append(calls(scene, "u1"), bookCalls(scene.Book)...) }

// Methods are the names of the methods of ports.Pointers.
func Methods() (names []string) {
	for _, call := range allCalls() {
		names = append(names, call.name)
	}
	return names
}

// nothingWith makes an answer beside an error an error of another kind.
func nothingWith(err error, answer int, next string) error {
	if err != nil && (answer != 0 || next != "") {
		return fmt.Errorf("an answer (%d, %q) beside the error %v", answer, next, err)
	}
	return err
}

// Outage asks a store that cannot be read, and returns what it answers wrongly: anything but
// ErrUnreadable. An empty list is the worst (audit 143a B2): the engine would make everything
// again. Of the methods (see Methods) some can be picked; without any all are asked.
func Outage(ctx context.Context, s ports.Pointers, methods ...string) error {
	var c check
	for _, call := range allCalls() {
		if len(methods) > 0 && !slices.Contains(methods, call.name) {
			continue
		}
		err := call.make(ctx, s)
		c.is(fmt.Sprintf("%s in an outage must answer ErrUnreadable, not %v", call.name, answer(err)),
			errors.Is(err, ports.ErrUnreadable) && !errors.Is(err, ports.ErrNoRow) && !errors.Is(err, ports.ErrUndecodable), nil)
	}
	return c.err()
}

// Undecodable reads a scene of which each list has a row that makes no sense.
func Undecodable(ctx context.Context, s ports.Pointers, scene ports.SceneID) error {
	var c check
	for _, call := range reads(scene, "") {
		if call.page {
			call.make = whole(call.name, scene)
		}
		err := call.make(ctx, s)
		c.is(fmt.Sprintf("%s of a row that makes no sense must answer ErrUndecodable, not %v", call.name, answer(err)),
			errors.Is(err, ports.ErrUndecodable) && !errors.Is(err, ports.ErrNoRow) && !errors.Is(err, ports.ErrUnreadable), nil)
	}
	return c.err()
}

// whole reads a list to its end.
func whole(list string, scene ports.SceneID) func(context.Context, ports.Pointers) error {
	return func(ctx context.Context, s ports.Pointers) (err error) {
		if list == "Marks" {
			_, err = ports.AllMarks(ctx, s, scene)
		} else {
			_, err = ports.AllPublished(ctx, s, scene)
		}
		return err
	}
}

func answer(err error) string {
	if err == nil {
		return "an answer, as if the store were empty"
	}
	return fmt.Sprintf("%q", err)
}
