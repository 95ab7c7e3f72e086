package engine

import (
	"context"

	"github.com/animastor/orchestra/ports"
)

// pointers gives every call to the pointer store a deadline.
type pointers struct {
	deadlines
	store ports.Pointers
}

var _ ports.Pointers = pointers{}

// within makes a call with a deadline.
func within[T any](ctx context.Context, d deadlines, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	return call(ctx)
}

// within1 makes a call that answers nothing.
func within1(ctx context.Context, d deadlines, call func(context.Context) error) error {
	_, err := within(ctx, d, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// Published implements ports.Pointers.
func (p pointers) Published(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.Pointer], error) {
	return within(ctx, p.deadlines, func(ctx context.Context) (ports.Page[ports.Pointer], error) {
		return p.store.Published(ctx, scene, after)
	})
}

// Publish implements ports.Pointers.
func (p pointers) Publish(ctx context.Context, scene ports.SceneID, pointer ports.Pointer) (bool, error) {
	return within(ctx, p.deadlines, func(ctx context.Context) (bool, error) { return p.store.Publish(ctx, scene, pointer) })
}

// Mark implements ports.Pointers.
func (p pointers) Mark(ctx context.Context, scene ports.SceneID, units []string) (int64, error) {
	return within(ctx, p.deadlines, func(ctx context.Context) (int64, error) { return p.store.Mark(ctx, scene, units) })
}

// Marks implements ports.Pointers.
func (p pointers) Marks(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.DirtyMark], error) {
	return within(ctx, p.deadlines, func(ctx context.Context) (ports.Page[ports.DirtyMark], error) {
		return p.store.Marks(ctx, scene, after)
	})
}

// Settle implements ports.Pointers.
func (p pointers) Settle(ctx context.Context, scene ports.SceneID, unit string, upTo int64) error {
	return within1(ctx, p.deadlines, func(ctx context.Context) error { return p.store.Settle(ctx, scene, unit, upTo) })
}

// Stamp implements ports.Pointers.
func (p pointers) Stamp(ctx context.Context, stage ports.StageID, version int64) error {
	return within1(ctx, p.deadlines, func(ctx context.Context) error { return p.store.Stamp(ctx, stage, version) })
}

// Stamped implements ports.Pointers.
func (p pointers) Stamped(ctx context.Context, stage ports.StageID) (int64, error) {
	return within(ctx, p.deadlines, func(ctx context.Context) (int64, error) { return p.store.Stamped(ctx, stage) })
}

// Bury implements ports.Pointers.
func (p pointers) Bury(ctx context.Context, book string) error {
	return within1(ctx, p.deadlines, func(ctx context.Context) error { return p.store.Bury(ctx, book) })
}

// Unbury implements ports.Pointers.
func (p pointers) Unbury(ctx context.Context, book string) error {
	return within1(ctx, p.deadlines, func(ctx context.Context) error { return p.store.Unbury(ctx, book) })
}

// Buried implements ports.Pointers.
func (p pointers) Buried(ctx context.Context, book string) (ports.Presence, error) {
	return within(ctx, p.deadlines, func(ctx context.Context) (ports.Presence, error) { return p.store.Buried(ctx, book) })
}
