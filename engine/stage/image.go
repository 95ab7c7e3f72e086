package stage

import (
	"context"
	"fmt"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Image generates one picture for each image unit of a scene.
//
// With a pointer store, a picture is what a pointer says: each generation writes files of
// its own, and a unit without a pointer has the one at its canonical path (H-16). A unit
// with a dirty mark that its pointer does not settle lacks a picture, whatever stands (H-11).
type Image struct {
	Artifacts ports.Artifacts
	Pointers  ports.Pointers // nil: no pointers and no marks
}

var _ Stage = (*Image)(nil)

// Name implements Stage.
func (*Image) Name() string { return asset.Image }

// gallery is what the pointer store says of the pictures of a scene. It is read once for
// all of them (H-72).
type gallery struct {
	pointers map[string]ports.Pointer
	marks    map[string]int64
}

// gallery reads the marks first: a mark that comes after them is minded by the next plan.
func (s *Image) gallery(ctx context.Context, scene ports.Scene) (g gallery, err error) {
	if s.Pointers == nil {
		return g, nil
	}
	if g.marks, err = ports.AllMarks(ctx, s.Pointers, scene.SceneID); err != nil {
		return g, err
	}
	g.pointers, err = ports.AllPublished(ctx, s.Pointers, scene.SceneID)
	return g, err
}

// dirty says whether a unit has a mark that its pointer does not settle.
func (g gallery) dirty(unit string) bool { return g.marks[unit] > g.pointers[unit].Mark }

// picture finds the picture of a unit.
func (s *Image) picture(ctx context.Context, g gallery, scene ports.Scene, unit string) (ports.Artifact, ports.Presence, error) {
	p, published := g.pointers[unit]
	switch {
	case !published:
		return s.Artifacts.Stat(ctx, keys.ArtifactPath(scene.SceneID, asset.Image, unit))
	case p.Status != ports.PointerOK:
		return ports.Artifact{}, ports.Absent, nil
	}
	return s.Artifacts.Stat(ctx, p.Path)
}

// stat is the proof for one unit.
func (s *Image) stat(ctx context.Context, g gallery, scene ports.Scene, unit string, floor int64) (ports.Presence, error) {
	if g.dirty(unit) {
		return ports.Absent, nil
	}
	a, presence, err := s.picture(ctx, g, scene, unit)
	if presence == ports.Present && !proves(a, floor, versionOf(scene.Units, unit)) {
		presence = ports.Absent
	}
	return presence, err
}

// stats is the proof for the units of a scene.
func (s *Image) stats(ctx context.Context, g gallery, scene ports.Scene, floor int64) func(string) (ports.Presence, error) {
	return func(unit string) (ports.Presence, error) { return s.stat(ctx, g, scene, unit, floor) }
}

// Plan implements Stage.
func (s *Image) Plan(ctx context.Context, scene ports.Scene, floor int64) (Plan, error) {
	g, err := s.gallery(ctx, scene)
	if err != nil {
		return Plan{}, err
	}
	p, err := plan(ids(scene.Units), s.stats(ctx, g, scene, floor))
	p.Whole = p.Complete()
	for _, n := range g.marks { //sim:unordered the highest of them
		p.Mark = max(p.Mark, n)
	}
	return p, err
}

// Path implements Stage.
func (s *Image) Path(scene ports.SceneID, unit string, generation int64) string {
	if s.Pointers == nil {
		return keys.ArtifactPath(scene, asset.Image, unit)
	}
	return keys.VersionPath(scene, unit, generation)
}

// Composition implements Stage.
func (*Image) Composition(context.Context, ports.Scene, string) (string, error) { return "", nil }

// Stat implements Stage.
func (s *Image) Stat(ctx context.Context, scene ports.Scene, unit string, floor int64) (ports.Presence, error) {
	g, err := s.gallery(ctx, scene)
	if err != nil {
		return ports.Unknown, err
	}
	return s.stat(ctx, g, scene, unit, floor)
}

// Pictures finds the pictures of a scene.
func (s *Image) Pictures(ctx context.Context, scene ports.Scene) Pictures {
	var g *gallery
	return func(unit string) (ports.Artifact, error) {
		if g == nil {
			read, err := s.gallery(ctx, scene)
			if err != nil {
				return ports.Artifact{}, err
			}
			g = &read
		}
		a, _, err := s.picture(ctx, *g, scene, unit)
		return a, err
	}
}

// Assemble implements Stage: the pictures are all that it leaves. Those that were made are
// published first.
func (s *Image) Assemble(ctx context.Context, scene ports.Scene, b Build) (ports.Presence, error) {
	var published []ports.Pointer
	if s.Pointers != nil {
		var err error
		if published, err = s.publish(ctx, scene.SceneID, b); err != nil {
			return ports.Unknown, err
		}
	}
	g, err := s.gallery(ctx, scene)
	if err != nil {
		return ports.Unknown, err
	}
	for _, p := range published {
		if g.pointers[p.Unit].Older(p) {
			return ports.Unknown, fmt.Errorf("pointers of %s: %w: the answer is older than what was published just now", scene.SceneID, ports.ErrUnreadable)
		}
	}
	for _, unit := range ids(scene.Units) {
		if g.marks[unit] > b.Mark && g.dirty(unit) {
			return ports.Unknown, ErrEdited
		}
	}
	return prove(ids(scene.Units), s.stats(ctx, g, scene, b.Floor))
}

// publish points at each picture that was made and stands, and then settles the marks of
// its unit that the dispatch was planned for, exactly those (H-14). It returns what is
// published now: an answer of the store that has older pointers is of before.
func (s *Image) publish(ctx context.Context, scene ports.SceneID, b Build) (published []ports.Pointer, err error) {
	for _, unit := range b.Units {
		path := s.Path(scene, unit, b.Generation)
		a, presence, err := s.Artifacts.Stat(ctx, path)
		if err != nil {
			return nil, err
		}
		if presence != ports.Present || !proves(a, b.Floor, 0) {
			continue // the proof will miss it
		}
		p := ports.Pointer{Unit: unit, Path: path, Status: ports.PointerOK, Generation: a.Generation, Version: a.Version, Mark: b.Mark}
		is, err := s.Pointers.Publish(ctx, scene, p)
		if err != nil {
			return nil, err
		}
		if is {
			published = append(published, p)
		}
		if b.Mark == 0 {
			continue
		}
		if err := s.Pointers.Settle(ctx, scene, unit, b.Mark); err != nil {
			return nil, err
		}
	}
	return published, nil
}

// Prove implements Stage.
func (s *Image) Prove(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error) {
	g, err := s.gallery(ctx, scene)
	if err != nil {
		return ports.Unknown, err
	}
	return prove(ids(scene.Units), s.stats(ctx, g, scene, floor))
}
