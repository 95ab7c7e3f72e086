package content_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// A book is declared, read, and loses a scene.
func Example() {
	w := sim.New(sim.Options{})
	defer w.Close()
	books := content.New(w)
	books.Add(content.BookSpec{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1", "s2"}, Units: 2, Layers: []string{"image"}})
	p := w.Process("p")
	p.Go(p.Context(), "reader", func(ctx context.Context) {
		scenes, _ := books.Scenes(ctx, "b1", "")
		scene, _ := books.Scene(ctx, scenes[1])
		fmt.Println(scenes, scene.Units)

		books.Delete(scenes[1])
		_, err := books.Scene(ctx, scenes[1])
		fmt.Println(errors.Is(err, ports.ErrNoScene), err)
	})
	w.RunFor(0)
	// Output:
	// [b1/c1/s1 b1/c1/s2] [{u1 0  0} {u2 0  0}]
	// true scene b1/c1/s2: content: no such scene
}
