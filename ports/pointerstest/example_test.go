package pointerstest_test

import (
	"context"
	"fmt"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/pointers"
	"github.com/animastor/orchestra/ports/pointerstest"
	"github.com/animastor/orchestra/sim"
)

// Each case runs on an empty store of its own.
func Example() {
	for _, c := range pointerstest.Cases() {
		w := sim.New(sim.Options{})
		p := w.Process("p")
		p.Go(p.Context(), "main", func(ctx context.Context) {
			if err := c.Run(ctx, fakes.Runtime{Process: p}, pointers.New(w)); err != nil {
				fmt.Println(c.Name, err)
			}
		})
		w.RunFor(0)
		w.Close()
	}
	fmt.Println("done")
	// Output: done
}
