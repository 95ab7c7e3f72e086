package mediatest_test

import (
	"context"
	"fmt"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/ports/mediatest"
	"github.com/animastor/orchestra/sim"
)

// Each case runs on an empty tree of its own.
func Example() {
	for _, c := range mediatest.Cases() {
		w := sim.New(sim.Options{})
		p := w.Process("p")
		p.Go(p.Context(), "main", func(ctx context.Context) {
			files := artifacts.New(w, nil)
			m := media.New(w, files)
			if err := c.Run(ctx, mediatest.Tree{Media: m, Placeholders: m, Artifacts: files, Put: files.Put}); err != nil {
				fmt.Println(c.Name, err)
			}
		})
		w.RunFor(0)
		w.Close()
	}
	fmt.Println("done")
	// Output: done
}
