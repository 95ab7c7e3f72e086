package window_test

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/engine/window"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// slides prints how the window moves.
type slides struct{}

func (slides) Observe(e ports.Event) {
	if e, ok := e.(ports.Slid); ok {
		fmt.Println("claimed", names(e.Claimed), "settled", names(e.Settled))
	}
}

func names(scenes []ports.SceneID) (list []string) {
	for _, s := range scenes {
		list = append(list, s.Scene)
	}
	return list
}

// A book of three scenes goes through a window of two. The picture of s2 stands already, so
// that it gives its place to s3 at once; when the other two are done, there is one finale.
func ExampleWindow_Look() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	books, tree := content.New(w), artifacts.New(w, nil)
	books.Add(content.BookSpec{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1", "s2", "s3"}, Units: 1, Layers: []string{asset.Image}})
	scenes := books.All()
	tree.Set(ports.Artifact{Path: keys.ArtifactPath(scenes[1], asset.Image, "u1"), Size: 2048})

	server, p := redis.New(w, redis.Options{}), w.Process("e1")
	s := store.New(server.Client(p))
	win := window.New(dispatch.New(dispatch.Deps{Runtime: fakes.Runtime{Process: p}, Store: s, Content: books, Observer: slides{},
		Stages: []stage.Stage{&stage.Image{Artifacts: tree}}}, "e1"), 2)
	p.Go(p.Context(), "main", func(ctx context.Context) {
		fmt.Println(win.Order(ctx, "b1", store.Order{Op: store.OpRequest}))
		report, err := win.Look(ctx, "b1")
		fmt.Println("started", report.Stages, err)
		for _, i := range []int{0, 2} { // as if they had been made
			server.DB().HSet(keys.AssetState(scenes[i]), "image.state", "ready")
		}
		fmt.Println(win.Recover(ctx))
		lines, _ := s.Outbox(ctx, 10)
		finale, _ := store.ParseFinale(lines[0])
		fmt.Println(finale.Book, "ready", finale.Ready, "failed", finale.Failed)
		fmt.Println(win.Recover(ctx))
	})
	w.RunFor(time.Minute)
	// Output:
	// <nil>
	// claimed [s1 s2] settled []
	// claimed [s3] settled [s2]
	// started 3 <nil>
	// claimed [] settled [s1 s3]
	// 1 0 <nil>
	// b1 ready 3 failed 0
	// 0 0 <nil>
}
