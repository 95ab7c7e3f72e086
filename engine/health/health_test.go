package health_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/health"
	"github.com/animastor/orchestra/ports"
)

func TestOf(t *testing.T) {
	system := ports.Worker{ID: "s", Type: "image", Alive: true, Scope: "system"}
	private := ports.Worker{ID: "p", Type: "image", Alive: true, Scope: "private", Workspace: "w1"}
	with := func(w ports.Worker, change func(*ports.Worker)) ports.Worker { change(&w); return w }
	busy := with(private, func(w *ports.Worker) { w.ID, w.Busy = "b", true })
	shared := with(busy, func(w *ports.Worker) { w.Shared = true })
	for name, test := range map[string]struct {
		workers   []ports.Worker
		workspace string
		want      health.Availability
	}{
		"a system worker is for all":          {[]ports.Worker{system}, "w2", health.Availability{System: 1, Available: 1}},
		"a private one is for its workspace":  {[]ports.Worker{private, busy}, "w1", health.Availability{Private: 2, PrivateBusy: 1, Available: 2, AvailableBusy: 1}},
		"and for no other":                    {[]ports.Worker{private, busy}, "w2", health.Availability{}},
		"nor for a book without a workspace":  {[]ports.Worker{private}, "", health.Availability{}},
		"a shared one is for all":             {[]ports.Worker{shared}, "w2", health.Availability{System: 1, SystemBusy: 1, Available: 1, AvailableBusy: 1}},
		"and counts in both pools, once":      {[]ports.Worker{shared}, "w1", health.Availability{1, 1, 1, 1, 1, 1}},
		"listed twice (WM3)":                  {[]ports.Worker{system, system}, "", health.Availability{System: 1, Available: 1}},
		"without an id (WM3)":                 {[]ports.Worker{with(system, func(w *ports.Worker) { w.ID = "" })}, "", health.Availability{}},
		"of another type":                     {[]ports.Worker{with(system, func(w *ports.Worker) { w.Type = "audio" })}, "", health.Availability{}},
		"dead":                                {[]ports.Worker{with(system, func(w *ports.Worker) { w.Alive = false })}, "", health.Availability{}},
		"of no known scope":                   {[]ports.Worker{with(system, func(w *ports.Worker) { w.Scope = "" })}, "", health.Availability{}},
		"private of nobody, shared or not":    {[]ports.Worker{with(shared, func(w *ports.Worker) { w.Workspace = "" })}, "", health.Availability{}},
		"a system worker that says shared is": {[]ports.Worker{with(system, func(w *ports.Worker) { w.Shared = true })}, "w1", health.Availability{System: 1, Available: 1}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, health.Of(test.workers, "image", test.workspace)) })
	}
}

// TestSums: whoever is available is of one of the pools, and nobody is counted twice.
func TestSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var workers []ports.Worker
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			workers = append(workers, ports.Worker{
				ID: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "id"), Type: "image", Alive: rapid.Bool().Draw(t, "alive"),
				Busy: rapid.Bool().Draw(t, "busy"), Scope: rapid.SampledFrom([]string{"", "system", "private", "share"}).Draw(t, "scope"),
				Workspace: rapid.SampledFrom([]string{"", "w1", "w2"}).Draw(t, "workspace"), Shared: rapid.Bool().Draw(t, "shared"),
			})
		}
		a := health.Of(workers, "image", rapid.SampledFrom([]string{"", "w1", "w2"}).Draw(t, "asks"))
		require.LessOrEqual(t, max(a.System, a.Private), a.Available)
		require.LessOrEqual(t, a.Available, min(3, a.System+a.Private))
		require.LessOrEqual(t, a.AvailableBusy, a.Available)
		require.GreaterOrEqual(t, a.Idle(), 0)
	})
}
