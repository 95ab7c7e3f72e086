package schedule

import (
	"context"
	"maps"
	"slices"

	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// edge is the first or the last tick of a row of equal refusals: what is journaled
// of them (DF7: edges, not levels). That a tick was the last one shows at the next.
type edge struct {
	stage ports.StageID
	event string
}

// ended follows the name of the event that began a row.
const ended = "_ENDED"

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

// begins says whether a refusal is the first of a row, after a tick whose reason was
// another, or none.
func begins(reason, before string) bool { return reason != before && journaled(reason) != "" }

// refuse notes a refusal that the batch has shown.
func (t *tick) refuse(v store.StageView, reason, stored string) {
	first := begins(reason, t.s.refusals[v.Stage])
	t.d.Observer.Observe(ports.Refusal{Stage: v.Stage, Reason: reason, Stored: stored, Edge: first})
	t.refused(v.Stage, reason)
}

// refused counts a refusal, the batch's or begin's, and goes on with its row.
func (t *tick) refused(stage ports.StageID, reason string) {
	t.tally(reason)
	if journaled(reason) != "" {
		t.rows[stage] = reason
	}
}

// unknown goes on with the row of a stage of which this tick could not tell.
func (t *tick) unknown(stage ports.StageID) {
	if reason, row := t.s.refusals[stage]; row {
		t.rows[stage] = reason
	}
}

// journal writes the edges of this tick.
func (t *tick) journal(ctx context.Context) {
	before := t.s.refusals
	t.s.refusals = t.rows
	var edges []edge
	for _, stage := range slices.SortedFunc(maps.Keys(before), ports.StageID.Compare) {
		if t.rows[stage] != before[stage] {
			edges = append(edges, edge{stage, journaled(before[stage]) + ended})
		}
	}
	for _, stage := range slices.SortedFunc(maps.Keys(t.rows), ports.StageID.Compare) {
		if begins(t.rows[stage], before[stage]) {
			edges = append(edges, edge{stage, journaled(t.rows[stage])})
		}
	}
	for _, e := range edges {
		t.d.Note(ctx, store.Line{Kind: store.LineRefused, Outcome: e.event, Stage: e.stage})
	}
}
