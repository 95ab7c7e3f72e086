package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/reconcile"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/engine/window"
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

// repairs prints what passes did.
type repairs struct{}

func (repairs) Observe(e ports.Event) {
	if e, ok := e.(ports.Pass); ok {
		fmt.Printf("pass %d: %d adopted, %d restored\n", e.Number, e.Report.Adopted, e.Report.Restored)
	}
}

// A replica dies while a picture is made. The pass of another one adopts the dispatch, and takes
// the picture when it is there; when the file is lost later, a pass puts the stage back.
func ExampleReconciler_Pass() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	books, tree := content.New(w), artifacts.New(w, nil)
	books.Add(content.BookSpec{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1"}, Units: 1, Layers: []string{asset.Image}})
	server, gpus, image := redis.New(w, redis.Options{}), hub.New(w, w.Process("hub"), hub.Options{}), books.All()[0].Of(asset.Image)
	workers.Start(w, tree, workers.Spec{Type: asset.Image, N: 1, Hub: gpus.Transport, JobTimeMin: 3 * time.Minute})
	replica := func(p *sim.Process) (*store.Store, *dispatch.Dispatcher) {
		rt, s := fakes.Runtime{Process: p}, store.New(server.Client(p))
		return s, dispatch.New(dispatch.Deps{Runtime: rt, Store: s, Content: books, Observer: repairs{},
			Hub:    httphub.New(rt, httphub.Options{BaseURL: "http://hub", Client: &http.Client{Transport: gpus.Transport(p)}}),
			Stages: []stage.Stage{&stage.Image{Artifacts: tree}}}, p.Token())
	}

	e1, e2 := w.Process("e1"), w.Process("e2")
	e1.Go(e1.Context(), "main", func(ctx context.Context) {
		s, d := replica(e1)
		_ = e1.Sleep(ctx, 5*time.Second) // until the hub knows of the worker
		_, _ = s.Intent(ctx, store.OpRequest, image, false)
		view, _ := s.ReadStage(ctx, image)
		fmt.Println(d.Start(ctx, view).Answer)
	})
	w.RunFor(10 * time.Second)
	e1.Crash()
	e2.Go(e2.Context(), "main", func(ctx context.Context) {
		s, d := replica(e2)
		r := reconcile.New(d, []string{asset.Image}, e2.Token(), window.New(d, 0))
		for range 3 {
			_ = e2.Sleep(ctx, 2*time.Minute)
			_, _ = r.Pass(ctx)
			view, _ := s.ReadStage(ctx, image)
			fmt.Println(view.State)
			tree.Remove(keys.ArtifactPath(image.SceneID, asset.Image, "u1")) // once it is there
		}
	})
	w.RunFor(10 * time.Minute)
	// Output:
	// sent
	// pass 1: 1 adopted, 0 restored
	// generating
	// pass 2: 0 adopted, 0 restored
	// ready
	// pass 3: 0 adopted, 1 restored
	// dirty
}

// A pass that could not read a source says so, and has declared nothing lost.
func ExampleIncompleteError() {
	var err error = &reconcile.IncompleteError{Cause: "hub", Err: errors.New("connection refused")}
	fmt.Println(errors.Is(err, reconcile.ErrPassIncomplete))
	fmt.Println(err)
	// Output:
	// true
	// pass_incomplete: the hub could not be read, so nothing is started, deleted or declared lost: connection refused
}
