package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/callbacks"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// observer prints what became of each dispatch.
type observer struct{}

func (observer) Observe(e ports.Event) {
	switch e := e.(type) {
	case ports.Attempt:
		fmt.Println("begun", e.Stage, "jobs", len(e.Jobs))
	case ports.Finish:
		fmt.Println("ended", e.Stage, e.Outcome, e.State)
	case ports.Retired:
		fmt.Println("retired", e.Scene)
	}
}

// One replica with all that it needs, from a request to a finished picture. In
// production the same Deps hold ports.System, a client of a real Redis, and adapters.
func Example() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	books, tree := content.New(w), artifacts.New(w, nil)
	books.Add(content.BookSpec{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1"}, Units: 2, Layers: []string{asset.Image}})
	gpus := hub.New(w, w.Process("hub"), hub.Options{})
	workers.Start(w, tree, workers.Spec{Type: asset.Image, N: 1, Hub: gpus.Transport})

	p := w.Process("e1")
	rt := fakes.Runtime{Process: p}
	e := engine.New(engine.Config{}, engine.Deps{
		Runtime:   rt,
		Redis:     redis.New(w, redis.Options{}).Client(p),
		Hub:       httphub.New(rt, httphub.Options{BaseURL: "http://hub", Client: &http.Client{Transport: gpus.Transport(p)}}),
		Content:   books,
		Artifacts: tree,
		Media:     media.New(w, tree),
		Observer:  observer{},
	})
	results := callbacks.New(w, w.Process("hub"))
	gpus.OnResult = results.Push
	results.Register("e1", p.Alive, func(r ports.JobResult) {
		p.Go(p.Context(), "callback", func(ctx context.Context) { _ = e.Complete(ctx, r) })
	})
	p.Go(p.Context(), "run", e.Run)
	p.Go(p.Context(), "ask", func(ctx context.Context) {
		_ = rt.Sleep(ctx, time.Second) // until the worker is known
		report, err := e.Request(ctx, engine.Target{Book: "b1"})
		fmt.Println("asked for", report.Stages, err)
	})
	w.RunFor(10 * time.Minute)
	// Output:
	// asked for 1 <nil>
	// begun b1/c1/s1:image jobs 2
	// ended b1/c1/s1:image ready ready
	// retired b1/c1/s1
}
