package media

import (
	"context"
	"errors"
	"fmt"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Effects are the effects of this service beside those of the kernel.
var Effects = sim.Effects{
	"missing": {"merge"}, // answers that a part is missing
}

// errSuperseded says that a file of a higher generation stands where the merge would go.
var errSuperseded = errors.New("media: a file of a higher generation stands there")

// Merger merges files of one tree. Its calls belong to the running task.
type Merger struct {
	w    *sim.World
	tree *artifacts.Store
}

var (
	_ ports.Media        = (*Merger)(nil)
	_ ports.Placeholders = (*Merger)(nil)
)

// New returns a merger for a tree.
func New(w *sim.World, tree *artifacts.Store) *Merger { return &Merger{w: w, tree: tree} }

// Merge implements ports.Media.
func (m *Merger) Merge(ctx context.Context, order ports.Merge) error {
	deadline, _ := ctx.Deadline()
	_, err := m.w.Do(&sim.Call{
		Service: "media", Verb: "merge", Subject: m.tree.Name(order.Whole.Path), Deadline: deadline, Effects: Effects,
		Do: func(fx *sim.Fired) (any, error) { return nil, m.merge(order, fx) },
	})
	if err != nil {
		return fmt.Errorf("merge %s: %w", order.Whole.Path, err)
	}
	return nil
}

func (m *Merger) merge(order ports.Merge, fx *sim.Fired) error {
	if fx != nil && fx.Effect == "missing" || len(order.Parts) == 0 {
		return ports.ErrMissingPart
	}
	whole := order.Whole
	whole.Size = 0
	var parts []ports.Artifact
	for _, path := range order.Parts {
		part, stands := m.tree.Get(path)
		if !stands || part.Size == 0 {
			return fmt.Errorf("%w: %s", ports.ErrMissingPart, path)
		}
		whole.Size += part.Size
		parts = append(parts, part)
	}
	_, whole.Trimmed = ports.Joined(parts)
	whole.Duration = whole.Trimmed // the silence at the end is cut off
	if old, stands := m.tree.Get(whole.Path); stands && old.Generation > whole.Generation {
		return errSuperseded
	}
	m.tree.Set(whole)
	return nil
}

// Place implements ports.Placeholders.
func (m *Merger) Place(ctx context.Context, path string) error {
	deadline, _ := ctx.Deadline()
	_, err := m.w.Do(&sim.Call{
		Service: "media", Verb: "place", Subject: m.tree.Name(path), Deadline: deadline, Effects: Effects,
		Do: func(*sim.Fired) (any, error) {
			if file, stands := m.tree.Get(path); !stands || file.Size == 0 {
				m.tree.Set(ports.Artifact{Path: path, Size: 1, Placeholder: true})
			}
			return nil, nil
		},
	})
	if err != nil {
		return fmt.Errorf("place silence at %s: %w", path, err)
	}
	return nil
}
