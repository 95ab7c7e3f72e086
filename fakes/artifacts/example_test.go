package artifacts_test

import (
	"context"
	"fmt"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// An unfinished upload is no proof.
func Example() {
	w := sim.New(sim.Options{})
	defer w.Close()
	tree := artifacts.New(w, nil)
	p := w.Process("p")
	p.Go(p.Context(), "main", func(ctx context.Context) {
		for _, size := range []int64{0, 2048} {
			_ = tree.Put(ctx, ports.Artifact{Path: "b1/c1/s1/image/u1.png", Generation: 1, Version: 1, Size: size})
			_, presence, _ := tree.Stat(ctx, "b1/c1/s1/image/u1.png")
			fmt.Println(presence)
		}
	})
	w.RunFor(0)
	// Output:
	// absent
	// present
}
