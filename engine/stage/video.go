package stage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
	groups := groupIDs(scene)
	presence, err := s.stands(ctx, scene, floor)
	switch presence {
	case ports.Unknown:
		return Plan{}, err
	case ports.Present:
		return Plan{Cached: groups, Whole: true}, nil
	}
	return plan(ctx, s, scene, groups, floor)
}

// Composition implements Stage: the pictures of a group, `unit@generation.version`, in
// order. One that is missing counts as @0.0.
func (s *Video) Composition(ctx context.Context, scene ports.Scene, group string) (string, error) {
	for _, g := range scene.Groups {
		if g.ID == group {
			return s.pictures(ctx, scene, g)
		}
	}
	return "", fmt.Errorf("stage: %s has no group %s any more", scene.Of(asset.Video), ports.Quote(group))
}

func (s *Video) pictures(ctx context.Context, scene ports.Scene, g ports.VideoGroup) (string, error) {
	parts := make([]string, len(g.Units))
	for i, unit := range g.Units {
		a, presence, err := s.Image.Picture(ctx, scene, unit)
		if presence == ports.Unknown {
			return "", err
		}
		parts[i] = Picture(unit, a)
	}
	return strings.Join(parts, ","), nil
}

// Picture is one picture as it stands in a composition.
func Picture(unit string, a ports.Artifact) string {
	return keys.Encode(unit) + "@" + strconv.FormatInt(a.Generation, 10) + "." + strconv.FormatInt(a.Version, 10)
}

// rendered is what the scene's video is made of: its groups and their compositions.
func (s *Video) rendered(ctx context.Context, scene ports.Scene) (string, error) {
	parts := make([]string, len(scene.Groups))
	for i, g := range scene.Groups {
		composition, err := s.pictures(ctx, scene, g)
		if err != nil {
			return "", err
		}
		parts[i] = keys.Encode(g.ID) + "=" + composition
	}
	return strings.Join(parts, ";"), nil
}

// Stat implements Stage.
func (s *Video) Stat(ctx context.Context, scene ports.Scene, group string, floor int64) (ports.Presence, error) {
	a, presence, err := s.Artifacts.Stat(ctx, keys.ArtifactPath(scene.SceneID, asset.Video, group))
	if presence != ports.Present {
		return presence, err
	}
	composition, err := s.Composition(ctx, scene, group)
	switch {
	case err != nil:
		return ports.Unknown, err
	case proves(a, floor) && a.Composition == composition:
		return ports.Present, nil
	}
	return ports.Absent, nil
}

// stands proves the scene's video, made of the pictures of now.
func (s *Video) stands(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error) {
	composition, err := s.rendered(ctx, scene)
	if err != nil {
		return ports.Unknown, err
	}
	return s.whole().stands(ctx, scene, composition, floor)
}

// Assemble implements Stage.
func (s *Video) Assemble(ctx context.Context, scene ports.Scene, b Build) (ports.Presence, error) {
	if len(scene.Groups) == 0 { // they went while the jobs ran
		return ports.Absent, nil
	}
	if presence, err := s.stands(ctx, scene, b.Floor); presence != ports.Absent {
		return presence, err
	}
	groups := groupIDs(scene)
	if presence, err := prove(ctx, s, scene, groups, b.Floor); presence != ports.Present {
		return presence, err
	}
	composition, err := s.rendered(ctx, scene)
	if err != nil {
		return ports.Unknown, err
	}
	return s.whole().merge(ctx, scene, composition, groups, b)
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
