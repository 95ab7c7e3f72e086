package stage

import (
	"context"

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

// Plan implements Stage.
func (s *Audio) Plan(ctx context.Context, scene ports.Scene, floor int64) (Plan, error) {
	if len(scene.Segments) == 0 {
		return Plan{Whole: true, Reason: outcome.NoSegments}, nil
	}
	return s.whole().plan(ctx, s, scene, AudioComposition(scene), ids(scene.Segments), floor)
}

// Composition implements Stage.
func (*Audio) Composition(context.Context, ports.Scene, string) (string, error) { return "", nil }

// Stat implements Stage.
func (s *Audio) Stat(ctx context.Context, scene ports.Scene, unit string, floor int64) (ports.Presence, error) {
	return stands(ctx, s.Artifacts, keys.ArtifactPath(scene.SceneID, asset.Audio, unit), "", floor)
}

// Assemble implements Stage.
func (s *Audio) Assemble(ctx context.Context, scene ports.Scene, b Build) (ports.Presence, error) {
	if len(scene.Segments) == 0 {
		return ports.Present, nil
	}
	return s.whole().assemble(ctx, s, scene, AudioComposition(scene), ids(scene.Segments), b)
}

// Prove implements Stage.
func (s *Audio) Prove(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error) {
	if len(scene.Segments) == 0 {
		return ports.Present, nil
	}
	return s.whole().stands(ctx, scene, "", floor)
}
