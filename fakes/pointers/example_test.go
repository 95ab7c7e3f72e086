package pointers_test

import (
	"context"
	"fmt"

	"github.com/animastor/orchestra/fakes/pointers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// A unit is edited while it is being made: what is made then does not settle the edit.
func Example() {
	w := sim.New(sim.Options{})
	defer w.Close()
	store := pointers.New(w)
	scene := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}
	p := w.Process("p")
	p.Go(p.Context(), "editor", func(ctx context.Context) {
		built, _ := store.Mark(ctx, scene, []string{"u1", "u2"})
		_, _ = store.Mark(ctx, scene, []string{"u2"})
		for _, unit := range []string{"u1", "u2"} {
			_ = store.Settle(ctx, scene, unit, built)
		}
		fmt.Println(ports.AllMarks(ctx, store, scene))
	})
	w.RunFor(0)
	// Output: map[u2:2] <nil>
}
