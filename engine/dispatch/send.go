package dispatch

import (
	"context"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// round tries once to have every job that is not at the hub accepted, and asks
// once about each that may be.
func (d *Dispatcher) round(ctx context.Context, l *live) {
	for _, j := range l.jobs {
		if l.ended.Load() {
			return
		}
		switch j.state {
		case outstanding:
			d.offer(ctx, l, j)
		case unknown, posting:
			d.ask(ctx, l, j)
		default:
			continue
		}
		d.Observer.Observe(ports.JobOutcome{Stage: l.stage, Dispatch: l.dispatch, Job: j.id, Outcome: j.outcome(), Err: l.cause(j)})
		if j.state == outstanding && endsDispatch(j.reason) {
			return
		}
	}
}

// cause is the error of a job's post, of the first job of the dispatch that has one: the others
// have the same as a rule, and a log must not say it for each of them.
func (l *live) cause(j *job) error {
	if j.err == nil || l.told {
		return nil
	}
	l.told = true
	return j.err
}

func (j *job) outcome() string {
	switch {
	case j.artifact:
		return cached
	case j.state == outstanding:
		return j.reason
	}
	return j.state
}

// endsDispatch says whether a reason holds for every other job of the dispatch too.
func endsDispatch(reason string) bool {
	switch reason {
	case outcome.StaleIntent, outcome.IntentNotActive, outcome.IntentCorrupt, outcome.IntentMissing:
		return true
	}
	return false
}

// judge finishes the dispatch if a round has left nothing to wait for.
func (d *Dispatcher) judge(ctx context.Context, l *live) Started {
	switch t := l.tally(); {
	case l.ended.Load():
		return Started{Answer: Nothing, Reason: outcome.StaleIntent}
	case t.ended == len(l.jobs):
		if d.settle(ctx, l); !l.ended.Load() {
			return Started{Answer: Pending} // the proof could not be told, or another completes it
		}
		return Started{Answer: Completed}
	case t.atHub+t.ended > 0:
		return Started{Answer: Sent}
	case t.unsure > 0:
		return Started{Answer: Pending}
	}
	v := d.conclude(l)
	if !d.finish(ctx, l, ending{outcome: "nothing", state: asset.Pending, verdict: v, idle: store.Increase}) && !l.ended.Load() {
		return Started{Answer: Pending} // it could not be ended yet
	}
	return Started{Answer: Nothing, Reason: v.Reason, Deferred: v.Deferred}
}

// conclude classifies why the jobs that are not at the hub are not, and says so to
// the observer, who checks it.
func (d *Dispatcher) conclude(l *live) outcome.Verdict {
	var t outcome.Tally
	for _, j := range l.jobs {
		if j.state != outstanding || j.reason == "" {
			continue
		}
		t.Add(j.reason)
		d.Observer.Observe(ports.JobOutcome{Stage: l.stage, Dispatch: l.dispatch, Job: j.id, Outcome: j.reason, Final: true})
	}
	v, err := outcome.Classify(t.Counts())
	if err != nil {
		panic("dispatch: " + err.Error()) // offer and ask give only reasons of the table
	}
	return v
}

// abandon ends a dispatch of which no job was accepted and some may have been: it
// purges them first, so that the next attempt cannot meet them.
func (d *Dispatcher) abandon(ctx context.Context, l *live) {
	if !d.ours(ctx, l) {
		return
	}
	for _, j := range l.jobs {
		if j.state == unknown || j.state == posting {
			j.state, j.reason = outstanding, outcome.AmbiguousPost
		}
	}
	left := !d.purge(ctx, l.dispatch)
	d.finish(ctx, l, ending{outcome: "nothing", state: asset.Pending, verdict: d.conclude(l), idle: store.Increase, left: left})
}
