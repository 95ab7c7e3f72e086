package dispatch_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// kinds prints the kinds of the events that it is told of.
type kinds struct{}

func (kinds) Observe(e ports.Event) { fmt.Print(e.Kind(), " ") }

// A dispatch for which there is no worker is begun, tried once and finished; the
// stage is deferred, and the next start is refused without a write.
func ExampleDispatcher_Start() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	books := content.New(w)
	books.Add(content.BookSpec{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1"}, Units: 1, Layers: []string{asset.Image}})
	server, gpus := redis.New(w, redis.Options{}), hub.New(w, w.Process("hub"), hub.Options{})

	p := w.Process("e1")
	rt, s := fakes.Runtime{Process: p}, store.New(server.Client(p))
	d := dispatch.New(dispatch.Deps{
		Runtime: rt, Store: s, Content: books, Observer: kinds{},
		Hub:    httphub.New(rt, httphub.Options{BaseURL: "http://hub", Client: &http.Client{Transport: gpus.Transport(p)}}),
		Stages: []stage.Stage{&stage.Image{Artifacts: artifacts.New(w, nil)}},
	}, "e1")
	p.Go(p.Context(), "main", func(ctx context.Context) {
		id := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of(asset.Image)
		_, _ = s.Intent(ctx, store.OpRequest, id, false)
		for range 2 {
			view, _ := s.ReadStage(ctx, id)
			started := d.Start(ctx, view)
			fmt.Printf("-> %s %s %q\n", started.Answer, started.Reason, started.Stored)
		}
	})
	w.RunFor(0)
	// Output:
	// attempt job job finish -> nothing no_worker_available ""
	// -> refused deferred_capacity "no_worker_available"
}
