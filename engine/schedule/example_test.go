package schedule_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/schedule"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// journal prints what the journals say of waiting.
type journal struct{}

func (journal) Observe(e ports.Event) {
	if e, ok := e.(ports.Journaled); ok && strings.Contains(e.Events[0], "BACKPRESSURE") {
		fmt.Println(" ", e.Scene, e.Events)
	}
}

// Six scenes and four slots: the first tick sends four and holds two back, and so does
// the next, while the four are at work. When one is cancelled its slot goes to the fifth.
// The journal shows the first and the last tick of each wait.
func ExampleScheduler_Tick() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	books := content.New(w)
	books.Add(content.BookSpec{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1", "s2", "s3", "s4", "s5", "s6"}, Units: 1, Layers: []string{asset.Image}})
	server, gpus, tree := redis.New(w, redis.Options{}), hub.New(w, w.Process("hub"), hub.Options{}), artifacts.New(w, nil)
	workers.Start(w, tree, workers.Spec{Type: asset.Image, N: 1, Hub: gpus.Transport, JobTimeMin: time.Hour})

	p := w.Process("e1")
	rt, s := fakes.Runtime{Process: p}, store.New(server.Client(p))
	scheduler := schedule.New(dispatch.New(dispatch.Deps{
		Runtime: rt, Store: s, Content: books, Observer: journal{},
		Hub:    httphub.New(rt, httphub.Options{BaseURL: "http://hub", Client: &http.Client{Transport: gpus.Transport(p)}}),
		Stages: []stage.Stage{&stage.Image{Artifacts: tree}},
	}, "e1"), []string{asset.Image}, false, "e1", func(context.Context, string) {})
	p.Go(p.Context(), "main", func(ctx context.Context) {
		scenes, _ := books.Scenes(ctx, "b1", "")
		for _, scene := range scenes {
			_, _ = s.Intent(ctx, store.OpRequest, scene.Of(asset.Image), false)
		}
		for n := range 3 {
			if n == 2 {
				_, _ = s.Intent(ctx, store.OpCancel, scenes[0].Of(asset.Image), false)
			}
			_ = rt.Sleep(ctx, 5*time.Second)
			sum, err := scheduler.Tick(ctx)
			fmt.Println("active", sum.Active, "dispatched", sum.Dispatched, "skipped", sum.Skipped, "throttled", sum.Throttled, err)
			_, _ = scheduler.DrainOutbox(ctx)
		}
	})
	w.RunFor(time.Minute)
	// Output:
	// active 6 dispatched 4 skipped 0 throttled 2 <nil>
	//   b1/c1/s5 [DISPATCH_BACKPRESSURE_DELAY]
	//   b1/c1/s6 [DISPATCH_BACKPRESSURE_DELAY]
	// active 6 dispatched 0 skipped 4 throttled 2 <nil>
	// active 6 dispatched 1 skipped 3 throttled 1 <nil>
	//   b1/c1/s5 [DISPATCH_BACKPRESSURE_DELAY_ENDED]
}
