package metrics_test

import (
	"fmt"

	"github.com/animastor/orchestra/engine/metrics"
	"github.com/animastor/orchestra/ports"
)

// logs stands for what an engine is observed by.
type logs struct{}

func (logs) Observe(ports.Event) {}

// Each sample of a counter is told apart by stage and label.
func ExampleRecorder() {
	image := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image")
	r := metrics.New(logs{})
	r.Observe(ports.Attempt{Stage: image})
	r.Observe(ports.Finish{Stage: image, Outcome: "nothing", Reason: "no_worker_available", Deferred: true, WindowSeconds: 60})
	for _, s := range r.Snapshot() {
		if name, _ := metrics.NameOf(s.Name); !name.Gauge {
			fmt.Printf("%s stage=%s %s=%s %d\n", s.Name, s.Stage, name.Label, s.Label, s.Value)
		}
	}
	// Output:
	// attempts stage=image kind=plain 1
	// finishes stage=image outcome=nothing 1
	// finish_reasons stage=image reason=no_worker_available 1
	// deferrals stage=image reason=no_worker_available 1
}
