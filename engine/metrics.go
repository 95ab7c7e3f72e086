package engine

import (
	"context"

	"github.com/animastor/orchestra/engine/metrics"
	"github.com/animastor/orchestra/engine/store"
)

// Counters returns what this process has counted since it began, without a call.
func (e *Engine) Counters() []metrics.Sample { return e.recorder.Snapshot() }

// Metrics returns Counters and the gauges that Redis knows, which are the same for all
// replicas. If Redis does not answer, the error says so and the counters are returned all
// the same.
func (e *Engine) Metrics(ctx context.Context) ([]metrics.Sample, error) {
	samples := e.Counters()
	g, err := e.store.Gauges(ctx, e.stages)
	if err != nil {
		return samples, err
	}
	add := func(name, stage, label string, n int64) {
		samples = append(samples, metrics.Sample{Name: name, Stage: stage, Label: label, Value: n})
	}
	add("active_scenes", "", "", g.Active)
	add("outbox", "", "", g.Outbox)
	add("undelivered_scenes", "", "", g.UndeliveredScenes)
	add("undelivered", "", "", g.Undelivered)
	add("purges", "", "", g.Purges)
	for _, s := range g.Stages {
		p := e.cfg.profile(s.Stage)
		add("slots", s.Stage, "", int64(p.Slots))
		add("slots_used", s.Stage, "", int64(s.Used))
		add("circuit", s.Stage, circuit(s, p.Breaker.CoolDown.Milliseconds()), 1)
	}
	metrics.Sort(samples)
	return samples, nil
}

// circuit is the state of a circuit breaker: an open one whose cool-down is over is
// half-open.
func circuit(s store.StageGauge, coolDownMs int64) string {
	switch {
	case s.Held, !s.OpenedAt.IsZero() && s.Now.UnixMilli() < s.OpenedAt.UnixMilli()+coolDownMs:
		return "open"
	case !s.OpenedAt.IsZero():
		return "half_open"
	}
	return "closed"
}
