package wire

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/metrics"
	"github.com/animastor/orchestra/sim"
)

// The gauges of an engine are what stands in Redis; without Redis the counters are told
// all the same.
func TestMetrics(t *testing.T) {
	w := New(Options{Seed: 1, Keep: 1, Engines: 1})
	defer w.Close()
	w.AddBook(Book{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1", "s2", "s3"}, Stages: []string{asset.Image}, Units: 1, State: asset.Pending})
	w.SetWorkers(Workers{Kind: asset.Image, N: 2, JobMin: time.Minute, JobMax: time.Minute})
	w.Start()
	w.Sim.RunFor(30 * time.Second)

	ask := func() (samples []metrics.Sample, err error) {
		w.api.p.Go(w.api.p.Context(), "metrics", func(ctx context.Context) { samples, err = w.api.engine.Metrics(ctx) })
		w.Sim.RunFor(time.Second)
		return samples, err
	}
	samples, err := ask()
	require.NoError(t, err)
	for _, s := range []metrics.Sample{
		{Name: "active_scenes", Value: 3}, {Name: "outbox", Value: 0}, {Name: "purges", Value: 0},
		{Name: "slots", Stage: "image", Value: 4}, {Name: "slots_used", Stage: "image", Value: 3}, {Name: "slots_used", Stage: "audio", Value: 0},
		{Name: "circuit", Stage: "image", Label: "closed", Value: 1},
	} {
		require.Contains(t, samples, s)
	}
	for _, s := range samples {
		_, known := metrics.NameOf(s.Name)
		require.True(t, known, s.Name)
	}
	for _, n := range metrics.Names() { // none is declared that nothing feeds (WM5)
		require.True(t, !n.Gauge || slices.ContainsFunc(samples, func(s metrics.Sample) bool { return s.Name == n.Name }), n.Name)
	}

	w.Sim.Inject(sim.Rule{Effect: "refuse", Match: func(c sim.CallName) bool { return c.Service == "redis" }})
	samples, err = ask()
	require.ErrorContains(t, err, "store: read gauges")
	require.Contains(t, samples, metrics.Sample{Name: "tick_scenes", Label: "active"})
}
