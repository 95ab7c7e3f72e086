package stage

import (
	"strconv"
	"strings"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// AudioComposition is what a scene's audio is made of: its segments, in order, as `id` or
// `id@version` once their text was edited.
func AudioComposition(scene ports.Scene) string {
	parts := make([]string, len(scene.Segments))
	for i, u := range scene.Segments {
		parts[i] = keys.Encode(u.ID)
		if u.Version > 0 {
			parts[i] += "@" + strconv.FormatInt(u.Version, 10)
		}
	}
	return strings.Join(parts, ",")
}

// Pictures finds the picture of a unit, of whatever generation: the zero Artifact if it
// is missing, an error if that could not be told.
type Pictures func(unit string) (ports.Artifact, error)

// GroupComposition is what the file of a group is made of: its pictures,
// `unit@generation.version`, in order. One that is missing counts as @0.0.
func GroupComposition(g ports.VideoGroup, find Pictures) (string, error) {
	parts := make([]string, len(g.Units))
	for i, unit := range g.Units {
		a, err := find(unit)
		if err != nil {
			return "", err
		}
		parts[i] = keys.Encode(unit) + "@" + strconv.FormatInt(a.Generation, 10) + "." + strconv.FormatInt(a.Version, 10)
	}
	return strings.Join(parts, ","), nil
}

// VideoComposition is what a scene's video is made of: its groups and their compositions.
func VideoComposition(scene ports.Scene, find Pictures) (string, error) {
	parts := make([]string, len(scene.Groups))
	for i, g := range scene.Groups {
		composition, err := GroupComposition(g, find)
		if err != nil {
			return "", err
		}
		parts[i] = keys.Encode(g.ID) + "=" + composition
	}
	return strings.Join(parts, ";"), nil
}
