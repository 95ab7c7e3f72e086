package hub_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// A client posts one job through the production client, and the answer is lost. It
// posts once more, and is told who holds the job. No engine is needed for that.
func Example() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	h := hub.New(w, w.Process("hub"), hub.Options{})
	workers.Start(w, artifacts.New(w, nil), workers.Spec{
		Type: "image", N: 1, Hub: h.Transport, JobTimeMin: 30 * time.Second,
	})
	h.On(func(e hub.Event) { fmt.Println("hub:", e) })
	w.Inject(sim.Rule{Effect: "lost", Count: 1, Match: func(n sim.CallName) bool {
		return n.Service == "hub" && n.Verb == "post" && n.Subject == "b1/c1/s1:image/u1"
	}})

	p := w.Process("client")
	client := httphub.New(fakes.Runtime{Process: p}, httphub.Options{
		BaseURL: "http://hub", Client: &http.Client{Transport: h.Transport(p)}})
	p.Go(p.Context(), "main", func(ctx context.Context) {
		_ = p.Sleep(ctx, time.Second) // until the worker is known
		job := ports.Job{JobID: "image:b1:c1:s1:u1:1", DispatchID: "d1", BookID: "b1", ChapterID: "c1", SceneID: "s1",
			Stage: "image", UnitID: "u1", Generation: 1, Fence: 1, Path: "u1.png"}
		fmt.Println("ambiguous:", errors.Is(client.Post(ctx, job), ports.ErrAmbiguous))
		var no *ports.Rejected
		if errors.As(client.Post(ctx, job), &no) {
			fmt.Println("status", no.Status, "held by", no.DispatchID)
		}
		_ = p.Sleep(ctx, time.Minute)
		status, found, err := client.Job(ctx, job.JobID)
		fmt.Println(status.State, found, err)
	})
	w.RunFor(2 * time.Minute)
	// Output:
	// hub: accepted
	// ambiguous: true
	// hub: refused
	// status 409 held by d1
	// hub: claimed image-1 run 1
	// hub: progressed image-1 run 1
	// hub: progressed image-1 run 1
	// hub: done image-1 run 1
	// done true <nil>
}
