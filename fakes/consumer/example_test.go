package consumer_test

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// An answer is lost, the event comes again, and is dropped for its id.
func ExampleConsumer() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	host := consumer.New(w)
	w.Inject(sim.Rule{Effect: "lost", Count: 1, Match: func(c sim.CallName) bool { return c.Service == "consumer" }})
	ready := ports.ResultEvent{ID: "dispatch-1", Kind: ports.EventReady, Stage: ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image")}

	p := w.Process("e1")
	p.Go(p.Context(), "deliver", func(context.Context) {
		for range 2 {
			ctx, cancel := p.WithTimeout(p.Context(), time.Second)
			fmt.Println("answered:", host.Consume(ctx, ready) == nil)
			cancel()
		}
	})
	w.RunFor(time.Minute)
	fmt.Println("heard:", len(host.List()))
	// Output:
	// answered: false
	// answered: true
	// heard: 1
}
