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

// Published implements ports.Pointers.
func (p pointers) Published(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.Pointer], error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Published(ctx, scene, after)
}

// Publish implements ports.Pointers.
func (p pointers) Publish(ctx context.Context, scene ports.SceneID, pointer ports.Pointer) (bool, error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Publish(ctx, scene, pointer)
}

// Mark implements ports.Pointers.
func (p pointers) Mark(ctx context.Context, scene ports.SceneID, units []string) (int64, error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Mark(ctx, scene, units)
}

// Marks implements ports.Pointers.
func (p pointers) Marks(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.DirtyMark], error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Marks(ctx, scene, after)
}

// Settle implements ports.Pointers.
func (p pointers) Settle(ctx context.Context, scene ports.SceneID, unit string, upTo int64) error {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Settle(ctx, scene, unit, upTo)
}

// Stamp implements ports.Pointers.
func (p pointers) Stamp(ctx context.Context, stage ports.StageID, version int64) error {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Stamp(ctx, stage, version)
}

// Stamped implements ports.Pointers.
func (p pointers) Stamped(ctx context.Context, stage ports.StageID) (int64, error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Stamped(ctx, stage)
}

// Bury implements ports.Pointers.
func (p pointers) Bury(ctx context.Context, book string) error {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Bury(ctx, book)
}

// Unbury implements ports.Pointers.
func (p pointers) Unbury(ctx context.Context, book string) error {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Unbury(ctx, book)
}

// Buried implements ports.Pointers.
func (p pointers) Buried(ctx context.Context, book string) (ports.Presence, error) {
	ctx, cancel := p.bounded(ctx)
	defer cancel()
	return p.store.Buried(ctx, book)
}
