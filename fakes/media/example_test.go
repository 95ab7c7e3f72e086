package media_test

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// A merge needs every part, is whole or not there, and is safe to ask for again.
func ExampleMerger() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	tree := artifacts.New(w, nil)
	merger := media.New(w, tree)
	order := ports.Merge{Whole: ports.Artifact{Path: "b/c/s/audio.mp3", Generation: 2}, Parts: []string{"1.mp3", "2.mp3"}}

	p := w.Process("e1")
	p.Go(p.Context(), "merge", func(ctx context.Context) {
		tree.Set(ports.Artifact{Path: "1.mp3", Size: 10})
		fmt.Println(merger.Merge(ctx, order))

		tree.Set(ports.Artifact{Path: "2.mp3", Size: 20})
		fmt.Println(merger.Merge(ctx, order), merger.Merge(ctx, order))

		order.Whole.Generation = 1 // of a dispatch that was replaced meanwhile
		fmt.Println(merger.Merge(ctx, order))
		fmt.Printf("%+v\n", tree.List()[2].Size)
	})
	w.RunFor(time.Minute)
	// Output:
	// merge b/c/s/audio.mp3: media: a part is missing: 2.mp3
	// <nil> <nil>
	// merge b/c/s/audio.mp3: media: a file of a higher generation stands there
	// 30
}
