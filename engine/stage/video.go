package stage

import (
	"context"
	"fmt"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Video renders each group of image units, and merges them into the scene's video. The
// composition that stands with a group's file says of which pictures it was made; a file
// of others is rendered anew, and stays where it is until then (H-28, H-29). Picture by
// generation and version: a unit that was made anew is another picture (H-15).
type Video struct {
	Artifacts ports.Artifacts
	Media     ports.Media
	Image     *Image // knows where the pictures are
}

var _ Stage = (*Video)(nil)

// Name implements Stage.
func (*Video) Name() string { return asset.Video }

func (s *Video) whole() whole { return whole{s.Artifacts, s.Media, asset.Video} }

// Plan implements Stage.
func (s *Video) Plan(ctx context.Context, scene ports.Scene, floor int64) (Plan, error) {
	if len(scene.Groups) == 0 {
		return Plan{}, nil
	}
	find := s.Image.Pictures(ctx, scene)
	composition, err := VideoComposition(scene, find)
	if err != nil {
		return Plan{}, err
	}
	return s.whole().plan(ctx, scene, composition, groupIDs(scene), floor, s.stats(ctx, scene, floor, find))
}

// Path implements Stage.
func (*Video) Path(scene ports.SceneID, group string, _ int64) string {
	return keys.ArtifactPath(scene, asset.Video, group)
}

// Composition implements Stage.
func (s *Video) Composition(ctx context.Context, scene ports.Scene, group string) (string, error) {
	return composition(scene, group, s.Image.Pictures(ctx, scene))
}

func composition(scene ports.Scene, group string, find Pictures) (string, error) {
	for _, g := range scene.Groups {
		if g.ID == group {
			return GroupComposition(g, find)
		}
	}
	return "", fmt.Errorf("stage: %s has no group %s any more", scene.Of(asset.Video), ports.Quote(group))
}

// Stat implements Stage.
func (s *Video) Stat(ctx context.Context, scene ports.Scene, group string, floor int64) (ports.Presence, error) {
	return s.stats(ctx, scene, floor, s.Image.Pictures(ctx, scene))(group)
}

// stats is Stat for the groups of a scene, which share what is known of its pictures.
func (s *Video) stats(ctx context.Context, scene ports.Scene, floor int64, find Pictures) func(string) (ports.Presence, error) {
	return func(group string) (ports.Presence, error) {
		a, presence, err := s.Artifacts.Stat(ctx, keys.ArtifactPath(scene.SceneID, asset.Video, group))
		if presence != ports.Present {
			return presence, err
		}
		made, err := composition(scene, group, find)
		switch {
		case err != nil:
			return ports.Unknown, err
		case proves(a, floor, 0) && a.Composition == made:
			return ports.Present, nil
		}
		return ports.Absent, nil
	}
}

// Assemble implements Stage.
func (s *Video) Assemble(ctx context.Context, scene ports.Scene, b Build) (ports.Presence, error) {
	if len(scene.Groups) == 0 { // they went while the jobs ran
		return ports.Absent, nil
	}
	find := s.Image.Pictures(ctx, scene)
	composition, err := VideoComposition(scene, find)
	if err != nil {
		return ports.Unknown, err
	}
	return s.whole().assemble(ctx, scene, composition, groupIDs(scene), b, s.stats(ctx, scene, b.Floor, find))
}

// Prove implements Stage. Pictures that were made anew since do not take a video away
// that is ready: it is rendered of them when it is asked for again.
func (s *Video) Prove(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error) {
	return s.whole().stands(ctx, scene, "", floor)
}

func groupIDs(scene ports.Scene) []string {
	list := make([]string, len(scene.Groups))
	for i, g := range scene.Groups {
		list[i] = g.ID
	}
	return list
}
