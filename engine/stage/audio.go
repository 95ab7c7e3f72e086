package stage

import (
	"context"
	"strings"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/ports"
)

// Audio generates a chunk for each segment of a scene's text, and merges them into the
// scene's audio. A scene without segments needs none (spec orchestration 10, "zero
// segments"). The chunks are not asked for once the whole stands.
type Audio struct {
	Artifacts ports.Artifacts
	Media     ports.Media
}

var _ Stage = (*Audio)(nil)

// Name implements Stage.
func (*Audio) Name() string { return asset.Audio }

func (s *Audio) whole() whole { return whole{s.Artifacts, s.Media, asset.Audio} }

// spoken is what the scene's audio is made of: its segments, in order.
func spoken(scene ports.Scene) string {
	parts := make([]string, len(scene.Segments))
	for i, u := range scene.Segments {
		parts[i] = keys.Encode(u.ID)
	}
	return strings.Join(parts, ",")
}

// Plan implements Stage.
func (s *Audio) Plan(ctx context.Context, scene ports.Scene, floor int64) (Plan, error) {
	if len(scene.Segments) == 0 {
		return Plan{Whole: true, Reason: outcome.NoSegments}, nil
	}
	segments := ids(scene.Segments)
	presence, err := s.whole().stands(ctx, scene, spoken(scene), floor)
	switch presence {
	case ports.Unknown:
		return Plan{}, err
	case ports.Present:
		return Plan{Cached: segments, Whole: true}, nil
	}
	return plan(ctx, s, scene, segments, floor)
}

// Composition implements Stage.
func (*Audio) Composition(context.Context, ports.Scene, string) (string, error) { return "", nil }

// Stat implements Stage.
func (s *Audio) Stat(ctx context.Context, scene ports.Scene, unit string, floor int64) (ports.Presence, error) {
	a, presence, err := s.Artifacts.Stat(ctx, keys.ArtifactPath(scene.SceneID, asset.Audio, unit))
	if presence == ports.Present && !proves(a, floor) {
		presence = ports.Absent
	}
	return presence, err
}

// Assemble implements Stage. Nothing is merged before all chunks stand (H-60).
func (s *Audio) Assemble(ctx context.Context, scene ports.Scene, b Build) (ports.Presence, error) {
	if len(scene.Segments) == 0 {
		return ports.Present, nil
	}
	if presence, err := s.whole().stands(ctx, scene, spoken(scene), b.Floor); presence != ports.Absent {
		return presence, err
	}
	segments := ids(scene.Segments)
	if presence, err := prove(ctx, s, scene, segments, b.Floor); presence != ports.Present {
		return presence, err
	}
	return s.whole().merge(ctx, scene, spoken(scene), segments, b)
}

// Prove implements Stage.
func (s *Audio) Prove(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error) {
	if len(scene.Segments) == 0 {
		return ports.Present, nil
	}
	return s.whole().stands(ctx, scene, "", floor)
}
