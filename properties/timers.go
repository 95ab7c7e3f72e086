package properties

import (
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// timers: a process renews a dispatch once per period; told that it is not the owner,
// or that the dispatch has finished, it stops; and after the end at most one answer may
// still be the good one that was under way. An error is no answer: it may be tried again.
//
// Proof: two renewals, or the last one.
type timers struct {
	*watch
	renewals map[renewer]*renewal
}

// renewer is one life of a process and what it renews. A process that adopts its own
// dispatch, after it slept, does so under the name of another holder.
type renewer struct{ incarnation, holder, dispatch string }

type renewal struct {
	last    sim.Event
	stopped bool
	late    int // good answers after the end
}

var _ eventer = (*timers)(nil)

func newTimers(w *watch) any { return &timers{w, map[renewer]*renewal{}} }

func (p *timers) event(e *sim.Event) {
	d, ok := e.Data.(ports.Renewal)
	if !ok {
		return
	}
	key := renewer{incarnation(e.Process), d.Holder, d.Dispatch}
	r, known := p.renewals[key]
	if !known {
		r = &renewal{}
		p.renewals[key] = r
	}
	period := p.Profile(d.Stage.Stage).RenewEvery
	if ended := p.dispatches[d.Dispatch]; ended != nil && ended.Ended && d.Verdict == "ok" {
		r.late++
	}
	problem := ""
	switch {
	case known && r.stopped:
		problem = "renews again after it had stopped"
	case known && e.At-r.last.At < period/2:
		problem = "renews twice within " + (period / 2).Round(time.Second).String()
	case r.late > 1:
		problem = "still renews after the end"
	case (d.Verdict == "finished" || d.Verdict == "not_owner") && !d.Stopped:
		problem = "goes on renewing although told " + d.Verdict
	}
	if problem != "" {
		events := []sim.Event{r.last, *e}
		if !known {
			events = events[1:]
		}
		p.fail(d.Stage.String(), events, "%s %s dispatch %s", key.incarnation, problem, d.Dispatch)
	}
	r.last, r.stopped = *e, d.Stopped
}
