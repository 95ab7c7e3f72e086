package stage

import (
	"context"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Stage is the executor of one kind of media.
type Stage interface {
	// Name is asset.Audio, asset.Image or asset.Video.
	Name() string
	// Plan lists the units that still lack an artifact of at least generation
	// floor. An error means that it could not be told.
	Plan(ctx context.Context, scene ports.Scene, floor int64) (Plan, error)
	// Prove says whether every artifact of the stage stands, of at least generation
	// floor.
	Prove(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error)
	// Stat is the proof for one unit.
	Stat(ctx context.Context, scene ports.SceneID, unit string, floor int64) (ports.Presence, error)
}

// Plan is what a stage of a scene still needs.
type Plan struct {
	Units  []string // to generate, in reading order
	Cached []string // units whose artifact stands already
}

// Complete says that nothing is left to generate, and something was there to do.
func (p Plan) Complete() bool { return len(p.Units) == 0 && len(p.Cached) > 0 }

// Image generates one picture for each image unit of a scene.
type Image struct {
	Artifacts ports.Artifacts
}

var _ Stage = (*Image)(nil)

// Name implements Stage.
func (*Image) Name() string { return asset.Image }

// Plan implements Stage.
func (s *Image) Plan(ctx context.Context, scene ports.Scene, floor int64) (Plan, error) {
	var p Plan
	for _, u := range scene.Units {
		presence, err := s.Stat(ctx, scene.SceneID, u.ID, floor)
		switch {
		case err != nil:
			return Plan{}, err
		case presence == ports.Present:
			p.Cached = append(p.Cached, u.ID)
		default:
			p.Units = append(p.Units, u.ID)
		}
	}
	return p, nil
}

// Prove implements Stage. One absent unit proves absence; an unreadable one
// leaves the answer unknown.
func (s *Image) Prove(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error) {
	for _, u := range scene.Units {
		presence, err := s.Stat(ctx, scene.SceneID, u.ID, floor)
		if presence != ports.Present {
			return presence, err
		}
	}
	return ports.Present, nil
}

// Stat implements Stage. A file of size 0 is an unfinished upload and proves
// nothing but absence; so does one of an older generation than floor.
func (s *Image) Stat(ctx context.Context, scene ports.SceneID, unit string, floor int64) (ports.Presence, error) {
	a, presence, err := s.Artifacts.Stat(ctx, keys.ArtifactPath(scene, asset.Image, unit))
	if presence == ports.Present && (a.Size == 0 || a.Generation < floor) {
		presence = ports.Absent
	}
	return presence, err
}
