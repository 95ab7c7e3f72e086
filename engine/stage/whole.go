package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// MergeError says that the parts stand and the whole could not be made of them. The
// merge may be under way still.
type MergeError struct {
	Stage ports.StageID
	Err   error
}

func (e *MergeError) Error() string {
	return fmt.Sprintf("stage: merge %s: %v; it is tried again", e.Stage, e.Err)
}

// Unwrap implements the errors package's convention.
func (e *MergeError) Unwrap() error { return e.Err }

var errNotMerged = errors.New("it was done, they say, and the file does not stand")

// whole is the one file that a stage makes of its parts.
type whole struct {
	artifacts ports.Artifacts
	media     ports.Media
	stage     string
}

// stands proves the whole; see the function.
func (w whole) stands(ctx context.Context, scene ports.Scene, composition string, floor int64) (ports.Presence, error) {
	return stands(ctx, w.artifacts, keys.ScenePath(scene.SceneID, w.stage), composition, floor, 0)
}

// plan asks for the parts only if the whole does not stand.
func (w whole) plan(ctx context.Context, scene ports.Scene, composition string, parts []string, floor int64,
	stat func(part string) (ports.Presence, error)) (Plan, error) {
	presence, err := w.stands(ctx, scene, composition, floor)
	switch presence {
	case ports.Unknown:
		return Plan{}, err
	case ports.Present:
		return Plan{Cached: parts, Whole: true}, nil
	}
	return plan(parts, stat)
}

// assemble makes the whole of the parts, unless it stands. Nothing is merged before
// all of them are proved (H-60).
func (w whole) assemble(ctx context.Context, scene ports.Scene, composition string, parts []string, b Build,
	stat func(part string) (ports.Presence, error)) (ports.Presence, error) {
	if presence, err := w.stands(ctx, scene, composition, b.Floor); presence != ports.Absent {
		return presence, err
	}
	if presence, err := prove(parts, stat); presence != ports.Present {
		return presence, err
	}
	return w.merge(ctx, scene, composition, parts, b)
}

// merge makes the whole of parts that were proved. Whether it stands decides, not what
// the merge answers, which may be lost.
func (w whole) merge(ctx context.Context, scene ports.Scene, composition string, parts []string, b Build) (ports.Presence, error) {
	order := ports.Merge{Whole: ports.Artifact{Path: keys.ScenePath(scene.SceneID, w.stage), Generation: b.Generation,
		Version: scene.Version, Composition: composition}}
	for _, part := range parts {
		order.Parts = append(order.Parts, keys.ArtifactPath(scene.SceneID, w.stage, part))
	}
	err := w.media.Merge(ctx, order)
	presence, unread := w.stands(ctx, scene, composition, b.Floor)
	switch {
	case presence != ports.Absent:
		return presence, unread
	case err == nil:
		err = errNotMerged
	}
	return ports.Unknown, &MergeError{scene.Of(w.stage), err}
}
