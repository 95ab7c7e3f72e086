package properties

import (
	"fmt"
	"slices"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// classification: the verdict of every finish is what a second, naive reading of design
// 5.3 makes of the job outcomes that the dispatch was judged by. What ends a dispatch
// without one (an error of the executor, a lost worker, ...) has its fixed row.
//
// Proof: the final job outcomes and the finish.
type classification struct {
	*watch
	finals map[judge][]sim.Event
}

// judge is a process that judges a dispatch: after an adoption there may be two.
type judge struct{ dispatch, process string }

var _ eventer = (*classification)(nil)

func newClassification(w *watch) any {
	return &classification{watch: w, finals: map[judge][]sim.Event{}}
}

func (p *classification) event(e *sim.Event) {
	switch d := e.Data.(type) {
	case ports.JobOutcome:
		if d.Final {
			j := judge{d.Dispatch, incarnation(e.Process)}
			again := func(f sim.Event) bool { return f.Data.(ports.JobOutcome).Job == d.Job }
			if slices.ContainsFunc(p.finals[j], again) {
				p.finals[j] = nil // a second judgement, of a finish that did not come to be
			}
			p.finals[j] = append(p.finals[j], *e)
		}
	case ports.Finish:
		j := judge{d.Dispatch, incarnation(e.Process)}
		finals := p.finals[j]
		delete(p.finals, j)
		got := verdict{d.Reason, d.Bucket, d.WindowSeconds, d.Deferred, d.Retryable}
		if want, ok := expected(d, finals); !ok || got != want {
			p.fail(d.Stage.String(), append(finals, *e), "finished as %s with %s; its outcomes say %s", d.Outcome, got, want)
		}
	}
}

// verdict is how an attempt without progress ends.
type verdict struct {
	reason, bucket      string
	windowSeconds       int64
	deferred, retryable bool
}

func (v verdict) String() string {
	if v.reason == "" {
		return "no reason"
	}
	return fmt.Sprintf("%s (%s, %d s, deferred %t, retryable %t)", v.reason, v.bucket, v.windowSeconds, v.deferred, v.retryable)
}

// expected is the verdict that a finish must have. ok is false if there is none.
func expected(f ports.Finish, finals []sim.Event) (v verdict, ok bool) {
	switch f.Outcome {
	case "ready":
		if f.Reason != "" {
			v, ok = rowOf(f.Reason, "no_segments")
			v.retryable = false
			return v, ok && f.Stage.Stage == asset.Audio
		}
		return verdict{}, true
	case "nothing", "partial":
		if f.Outcome == "partial" && f.Reason == "edited" {
			return rowOf(f.Reason, "edited")
		}
		if len(finals) == 0 {
			return rowOf(f.Reason, "no_jobs_sent", "no_jobs_generated", "dispatch_error")
		}
		reasons := make([]string, len(finals))
		for i := range finals {
			reasons[i] = finals[i].Data.(ports.JobOutcome).Outcome
		}
		return naive(reasons)
	case "lost":
		v, ok = rowOf(f.Reason, "lost", "retry_budget_exhausted")
	case "failed":
		v, ok = rowOf(f.Reason, "job_failed", "artifact_missing", "stale_version", "scene_not_found", "retry_budget_exhausted")
	}
	if f.Reason == "job_failed" || f.Reason == "retry_budget_exhausted" {
		v.retryable = f.Retryable // the class of the failure decides
	}
	return v, ok
}

// rowOf is the row of a reason that opens no window, if it is one of those.
func rowOf(reason string, of ...string) (verdict, bool) {
	if !slices.Contains(of, reason) {
		return verdict{}, false
	}
	return verdict{reason, outcome.Immediate, 0, false, reason != "scene_not_found" && reason != "retry_budget_exhausted"}, true
}

var (
	capacityReasons = []string{"no_worker_available", "duplicate_pending", "ambiguous_post", "intent_receipt_unavailable"}
	longReasons     = map[string]string{"already_completed": "idempotent", "stale_intent": "fence-rejected", "receipt_conflict": "fence-rejected",
		"intent_not_active": "fence-rejected", "intent_corrupt": "fence-rejected", "intent_missing": "fence-rejected"}
	immediateReasons = []string{"no_jobs_sent", "no_jobs_generated", "send_failed", "lost"}
)

// naive classifies the reasons of jobs that were not accepted. It is written from the
// table of design 5.3, and does not look at the engine's.
func naive(reasons []string) (v verdict, ok bool) {
	var deferring, others []string
	short := false
	for _, reason := range reasons {
		switch {
		case slices.Contains(capacityReasons, reason):
			short = true
			deferring = append(deferring, reason)
		case longReasons[reason] != "":
			deferring = append(deferring, reason)
		case slices.Contains(immediateReasons, reason):
			others = append(others, reason)
		default:
			return v, false
		}
	}
	if len(others) > 0 {
		return verdict{mostFrequent(others), "immediate", 0, false, true}, true
	}
	v = verdict{reason: mostFrequent(deferring), windowSeconds: 900, deferred: true}
	if short {
		v.windowSeconds = 60
	}
	v.bucket = longReasons[v.reason]
	if v.bucket == "" {
		v.bucket, v.retryable = "capacity", true
	}
	return v, true
}

// mostFrequent is the word that occurs most often; the first seen wins ties.
func mostFrequent(words []string) (best string) {
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	for _, w := range words {
		if best == "" || count[w] > count[best] {
			best = w
		}
	}
	return best
}
