package stage_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/ports"
)

// tree is an artifact tree of files by path and generation.
type tree map[string]int64

var errDown = errors.New("tree: unreadable")

func (t tree) Stat(_ context.Context, path string) (ports.Artifact, ports.Presence, error) {
	if t == nil {
		return ports.Artifact{}, ports.Unknown, errDown
	}
	if generation, ok := t[path]; ok {
		return ports.Artifact{Path: path, Generation: generation, Size: 2048}, ports.Present, nil
	}
	return ports.Artifact{}, ports.Absent, nil
}

// One picture stands, one is of a generation before the last `regenerate`, one is
// missing; and a tree that cannot be read proves nothing.
func ExampleImage() {
	id := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}
	scene := ports.Scene{SceneID: id, Units: []ports.Unit{{ID: "u1"}, {ID: "u2"}, {ID: "u3"}}}
	image := stage.Image{Artifacts: tree{
		keys.ArtifactPath(id, asset.Image, "u1"): 2,
		keys.ArtifactPath(id, asset.Image, "u2"): 1,
	}}
	plan, _ := image.Plan(context.Background(), scene, 2)
	fmt.Println("generate", plan.Units, "keep", plan.Cached)
	fmt.Println(image.Prove(context.Background(), scene, 2))

	image.Artifacts = tree(nil)
	fmt.Println(image.Prove(context.Background(), scene, 2))
	// Output:
	// generate [u2 u3] keep [u1]
	// absent <nil>
	// unknown tree: unreadable
}
