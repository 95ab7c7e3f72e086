package properties

import (
	"maps"
	"slices"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// cancel: what is cancelled or deleted is neither begun nor made ready before somebody asks
// for it again, and nothing of a cancelled book is begun. Once the cancel is acknowledged
// (the intent, and where it ended a dispatch, the clear of its jobs) the hub accepts no job
// of an older generation; and none that it had is queued or running some passes later, in
// which every clear that was asked for succeeded.
//
// A hub without fences cannot refuse. A dispatch that was over before the cancel, and
// whose clear failed then or is under way, may still have a post under way.
//
// Proof: the cancel, and the job or the write that contradicts it.
type cancel struct {
	*watch
	stages map[ports.StageID]*cancelled
	jobs   map[string]atHub // live ones, by id
	swept  map[string]bool  // dispatches whose last clear succeeded
	away   time.Duration    // when a clear last failed
}

// cancelled is the last cancel of a stage, while nothing was asked for since.
type cancelled struct {
	generation   int64
	at           time.Duration
	by           string // incarnation of the client
	replaced     string // the dispatch that it ended
	acknowledged bool
	event        sim.Event
}

// sweepWithin is longer than two passes are apart, whichever replica makes them.
const sweepWithin = 3 * time.Minute

var (
	_ eventer = (*cancel)(nil)
	_ writer  = (*cancel)(nil)
	_ loser   = (*cancel)(nil)
)

func newCancel(w *watch) any {
	return &cancel{watch: w, stages: map[ports.StageID]*cancelled{}, jobs: map[string]atHub{}, swept: map[string]bool{}}
}

// over says whether a stage is not to be worked on.
func over(r *row) bool { return r.Status == "cancelled" || r.Status == "deleted" }

// lost forgets the cancels that Redis has forgotten.
func (p *cancel) lost([]string) {
	maps.DeleteFunc(p.stages, func(s ports.StageID, _ *cancelled) bool { return !over(p.row(s)) })
}

func (p *cancel) write(c *change) {
	for _, m := range c.Rows {
		r := &m.After
		switch {
		case over(r) && r.State != m.Before.State && (r.State == asset.Generating || r.State == asset.Ready):
			p.broken(r.Stage, "it is "+r.Status+", and became "+string(r.State), c.event())
		case m.Begun != nil && p.cancelled[r.Stage.Book]:
			p.broken(r.Stage, "it was begun, and its book is cancelled", c.event())
		}
	}
}

func (p *cancel) event(e *sim.Event) {
	switch d := e.Data.(type) {
	case ports.Intent:
		delete(p.stages, d.Stage)
		if d.Op == "cancel" || d.Op == "delete" {
			p.stages[d.Stage] = &cancelled{d.Generation, e.At, incarnation(e.Process), d.Replaced, d.Replaced == "", *e}
		}
	case ports.Swept:
		p.cleared(e.At, d)
	case hub.Event:
		p.hub(e, d)
	case ports.Tick:
		p.look(e.At)
	default:
		if e.Kind == "resume" {
			for _, c := range p.stages { //sim:unordered each on its own
				if c.by == e.Subject {
					c.at = e.At // it stood still
				}
			}
		}
	}
}

func (p *cancel) cleared(now time.Duration, d ports.Swept) {
	if d.Failed > 0 {
		p.away = now
	}
	if d.Dispatch == "" {
		return
	}
	p.swept[d.Dispatch] = d.Failed == 0
	if d.Failed > 0 {
		return
	}
	for _, c := range p.stages { //sim:unordered each on its own
		c.acknowledged = c.acknowledged || c.replaced == d.Dispatch
	}
}

func (p *cancel) hub(e *sim.Event, h hub.Event) {
	switch h.Kind {
	case hub.Accepted:
		p.jobs[h.Job.JobID] = atHub{h.Job.JobID, *e}
		c := p.stages[h.Job.StageID()]
		if c != nil && c.acknowledged && h.Job.Generation < c.generation && p.Fenced() && !p.late(h.Job.DispatchID, c) {
			p.broken(h.Job.StageID(), "the hub accepted a job of it after the cancel was acknowledged", c.event, *e)
		}
	case hub.Done, hub.Failed, hub.Cleared, hub.Lost, hub.Expired:
		delete(p.jobs, h.Job.JobID)
	}
}

// late says whether a post of a dispatch may still be under way after a cancel.
func (p *cancel) late(id string, c *cancelled) bool {
	swept, tried := p.swept[id]
	d := p.dispatches[id]
	return tried && !swept || !tried && id != c.replaced && d != nil && d.Ended
}

// look finds jobs that should have been cleared.
func (p *cancel) look(now time.Duration) {
	for _, id := range slices.Sorted(maps.Keys(p.jobs)) {
		accepted := p.jobs[id].event
		j := accepted.Data.(hub.Event).Job
		c := p.stages[j.StageID()]
		if c == nil || j.Generation >= c.generation || now-max(c.at, accepted.At, p.away) <= sweepWithin {
			continue
		}
		delete(p.jobs, id) // once is enough
		p.broken(j.StageID(), "the hub still has job "+id+" of it", accepted, c.event)
	}
}

func (p *cancel) broken(s ports.StageID, problem string, events ...sim.Event) {
	p.fail(s.String(), events, "%s", problem)
}
