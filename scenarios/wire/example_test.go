package wire_test

import (
	"fmt"
	"time"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/scenarios/wire"
)

// Two replicas, no worker for five minutes, then one.
func Example() {
	w := wire.New(wire.Options{Seed: 1, Engines: 2})
	defer w.Close()
	w.AddBook(wire.Book{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1"}, Stages: []string{asset.Image}, Units: 1, State: asset.New})
	w.Start()
	w.Ask("request", engine.Target{Book: "b1"})

	w.Sim.RunFor(5 * time.Minute)
	stage := w.Recorder.Wanted()[0]
	fmt.Println(stage, w.State(stage), w.Recorder.Of(stage).Reason, w.Deferred(stage))

	w.SetWorkers(wire.Workers{Kind: asset.Image, N: 1, JobMin: 20 * time.Second, JobMax: 20 * time.Second})
	w.Sim.RunFor(5 * time.Minute)
	fmt.Println(stage, w.State(stage), w.WholeArtifacts(stage))
	// Output:
	// b1/c1/s1:image pending no_worker_available true
	// b1/c1/s1:image ready 1
}
