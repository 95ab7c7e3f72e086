package schedule

import (
	"context"

	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// edge is the first or the last tick of a row of equal refusals: what is journaled
// of them (DF7: edges, not levels).
type edge struct {
	stage ports.StageID
	event string
}

// journaled names the event of a refusal that the journal shows. A deferral, a
// backoff and a live dispatch are no news: the finish or the begin that led to
// them is in the journal.
func journaled(reason string) string {
	switch reason {
	case outcome.Backpressure:
		return "DISPATCH_BACKPRESSURE_DELAY"
	case outcome.CircuitOpen, outcome.HalfOpenLimit:
		return "DISPATCH_BLOCKED_CIRCUIT"
	case outcome.Cancelled, outcome.IntentCorrupt, outcome.NotDispatchable:
		return "DISPATCH_REFUSED"
	}
	return ""
}

// refuse notes a refusal that the batch has shown.
func (t *tick) refuse(v store.StageView, reason, stored string) {
	t.tally(reason)
	if t.refused == nil {
		t.refused = map[ports.StageID]string{}
	}
	t.refused[v.Stage] = reason
	first := t.s.refusals[v.Stage] != reason
	if event := journaled(reason); first && event != "" {
		t.journal = append(t.journal, edge{v.Stage, event})
	}
	t.d.Observer.Observe(ports.Refusal{Stage: v.Stage, Reason: reason, Stored: stored, Edge: first && journaled(reason) != ""})
}

// finishRefusals remembers the refusals of this tick and journals their edges, as
// well as it can: observability never fails the work (design 5.4.16).
func (t *tick) finishRefusals(ctx context.Context) {
	t.s.refusals = t.refused
	for _, e := range t.journal {
		if err := t.d.Store.Journal(ctx, e.stage, e.event); err != nil {
			t.d.Observer.Observe(ports.Trouble{Scene: e.stage.SceneID, Op: "journal", Err: err})
			continue
		}
		t.d.Observer.Observe(ports.Journaled{Scene: e.stage.SceneID, Events: []string{e.event}})
	}
	t.journal = nil
}
