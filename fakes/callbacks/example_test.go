package callbacks_test

import (
	"fmt"
	"time"

	"github.com/animastor/orchestra/fakes/callbacks"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// A result is delivered twice.
func Example() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	w.Inject(sim.Rule{Effect: "duplicate", Match: func(n sim.CallName) bool { return n.Verb == "deliver" }})
	queue := callbacks.New(w, w.Process("hub"))
	e1 := w.Process("e1")
	queue.Register("e1", e1.Alive, func(r ports.JobResult) { fmt.Println("e1 has", r.UnitID) })
	queue.Push(ports.JobResult{UnitID: "u1", OK: true})
	w.RunFor(time.Minute)
	// Output:
	// e1 has u1
	// e1 has u1
}
