package wire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/scenarios/wire"
	"github.com/animastor/orchestra/sim"
)

// A deferred stage costs less than one round trip a tick: an idle tick over N of
// them takes at most 3 + N/250, and writes nothing but its lock (design 5.3).
func TestIdleTickIsCheap(t *testing.T) {
	for _, n := range []int{1, 250, 1000} {
		p := asset.ProfileOf(asset.Image)
		p.Slots = n
		w := wire.New(wire.Options{Seed: 1, Keep: 1, Engines: 1, Config: engine.Config{Profiles: map[string]asset.Profile{asset.Image: p}}})
		scenes := make([]string, n)
		for i := range scenes {
			scenes[i] = "s" + string(rune('A'+i/26/26%26)) + string(rune('A'+i/26%26)) + string(rune('A'+i%26))
		}
		w.AddBook(wire.Book{ID: "b1", Chapters: []string{"c1"}, Scenes: scenes, Stages: []string{asset.Image}, Units: 1, State: asset.Pending})
		w.Start()
		w.Sim.RunFor(40 * time.Second) // long enough for every scene to be tried and deferred
		for _, s := range w.Recorder.Wanted() {
			require.True(t, w.Deferred(s), "%s is not deferred", s)
		}
		before := ticksCalls(w.Sim)
		w.Sim.RunFor(5 * time.Second)
		require.LessOrEqual(t, ticksCalls(w.Sim)-before, 3+n/250, "round trips of one tick over %d deferred scenes", n)
		require.Positive(t, ticksCalls(w.Sim)-before)
		w.Close()
	}
}

// ticksCalls counts the Redis calls of the tick's task.
func ticksCalls(w *sim.World) int {
	n := 0
	for _, c := range w.Calls() {
		if c.Task == "e1/engine" && c.Service == "redis" {
			n += c.N
		}
	}
	return n
}
