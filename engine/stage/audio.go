package stage

import (
	"context"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/timing"
	"github.com/animastor/orchestra/ports"
)

// Audio generates a chunk for each segment of a scene's text, and merges them into the
// scene's audio. A scene without segments needs none (spec orchestration 10, "zero
// segments"). The chunks are not asked for once the whole stands. Until it does, silence
// may stand in under its path: the placeholder, which proves nothing.
type Audio struct {
	Artifacts    ports.Artifacts
	Media        ports.Media
	Placeholders ports.Placeholders // nil: there are none
	Timings      ports.Timings      // nil: nobody wants to know
}

var (
	_ Stage     = (*Audio)(nil)
	_ Companion = (*Audio)(nil)
)

// Name implements Stage.
func (*Audio) Name() string { return asset.Audio }

func (s *Audio) whole() whole { return whole{s.Artifacts, s.Media, asset.Audio} }

// Plan implements Stage.
func (s *Audio) Plan(ctx context.Context, scene ports.Scene, floor int64) (Plan, error) {
	if len(scene.Segments) == 0 {
		return Plan{Whole: true, Reason: outcome.NoSegments}, nil
	}
	return s.whole().plan(ctx, scene, AudioComposition(scene), ids(scene.Segments), floor, s.stats(ctx, scene, floor))
}

// Path implements Stage.
func (*Audio) Path(scene ports.SceneID, unit string, _ int64) string {
	return keys.ArtifactPath(scene, asset.Audio, unit)
}

// Composition implements Stage.
func (*Audio) Composition(context.Context, ports.Scene, string) (string, error) { return "", nil }

// Stat implements Stage.
func (s *Audio) Stat(ctx context.Context, scene ports.Scene, unit string, floor int64) (ports.Presence, error) {
	return stands(ctx, s.Artifacts, keys.ArtifactPath(scene.SceneID, asset.Audio, unit), "", floor, versionOf(scene.Segments, unit))
}

// stats is Stat for the chunks of a scene.
func (s *Audio) stats(ctx context.Context, scene ports.Scene, floor int64) func(string) (ports.Presence, error) {
	return func(unit string) (ports.Presence, error) { return s.Stat(ctx, scene, unit, floor) }
}

// Assemble implements Stage.
func (s *Audio) Assemble(ctx context.Context, scene ports.Scene, b Build) (ports.Presence, error) {
	if len(scene.Segments) == 0 {
		return ports.Present, nil
	}
	return s.whole().assemble(ctx, scene, AudioComposition(scene), ids(scene.Segments), b, s.stats(ctx, scene, b.Floor))
}

// Prove implements Stage.
func (s *Audio) Prove(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error) {
	if len(scene.Segments) == 0 {
		return ports.Present, nil
	}
	return s.whole().stands(ctx, scene, AudioComposition(scene), floor)
}

// Begun implements Companion: it lets silence stand in.
func (s *Audio) Begun(ctx context.Context, scene ports.Scene) error {
	if s.Placeholders == nil || len(scene.Segments) == 0 {
		return nil
	}
	return s.Placeholders.Place(ctx, keys.ScenePath(scene.SceneID, asset.Audio))
}

// Proved implements Companion: it lays the image units over the audio, by what was
// measured of its chunks or, if that is not all there, of the whole (spec orchestration
// 5.5, "Timing").
func (s *Audio) Proved(ctx context.Context, scene ports.Scene) error {
	if s.Timings == nil || len(scene.Segments) == 0 || len(scene.Units) == 0 {
		return nil
	}
	times, err := s.times(ctx, scene)
	if err != nil || len(times) == 0 {
		return err
	}
	return s.Timings.SetTimes(ctx, scene.SceneID, scene.Version, times)
}

func (s *Audio) times(ctx context.Context, scene ports.Scene) ([]ports.UnitTime, error) {
	chunks := make([]timing.Chunk, len(scene.Segments))
	for i, u := range scene.Segments {
		a, _, err := s.Artifacts.Stat(ctx, keys.ArtifactPath(scene.SceneID, asset.Audio, u.ID))
		if err != nil {
			return nil, err
		}
		chunks[i] = timing.Chunk{Unit: u.Unit, Raw: a.Duration, Trimmed: a.Trimmed}
	}
	if times, ok := timing.ByChunks(ids(scene.Units), chunks); ok {
		return times, nil
	}
	whole, _, err := s.Artifacts.Stat(ctx, keys.ScenePath(scene.SceneID, asset.Audio))
	if err != nil || whole.Placeholder || whole.Duration <= 0 {
		return nil, err // what was not measured is no time
	}
	texts := make([]timing.Text, len(scene.Units))
	for i, u := range scene.Units {
		texts[i] = timing.Text{Unit: u.ID, Len: u.TextLen}
	}
	return timing.ByText(texts, whole.Duration), nil
}
