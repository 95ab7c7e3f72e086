package properties

import (
	"maps"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// finishOnce: a dispatch ends once, by a finish or by an intent that replaces it, and
// at rest every one has ended. It is not missed if no event tells of its end: the answer
// may have been lost with the process.
//
// Proof: both ends, or the begin.
type finishOnce struct {
	*watch
	ends map[string]sim.Event
}

var (
	_ eventer = (*finishOnce)(nil)
	_ writer  = (*finishOnce)(nil)
	_ rester  = (*finishOnce)(nil)
	_ loser   = (*finishOnce)(nil)
)

func newFinishOnce(w *watch) any { return &finishOnce{watch: w, ends: map[string]sim.Event{}} }

func (p *finishOnce) event(e *sim.Event) {
	var id string
	var stage ports.StageID
	switch d := e.Data.(type) {
	case ports.Finish:
		id, stage = d.Dispatch, d.Stage
	case ports.Intent:
		id, stage = d.Replaced, d.Stage
	}
	if id == "" || p.set.failedOver && p.live(id) {
		return // no end, or one that was lost before it was told of
	}
	if first, ended := p.ends[id]; ended {
		p.broken(stage.String(), id, "ended twice", first, *e)
	}
	p.ends[id] = *e
}

func (p *finishOnce) write(c *change) {
	for _, m := range c.Rows {
		// A failover or an eviction that took a begin back is no end: its answer is still to
		// come, and who waits for it asks again.
		if m.Begun != nil && m.Again && m.Begun.EndedBy != "" {
			p.broken(m.After.Stage.String(), m.Begun.ID, "is live again after its end", m.Begun.Event, c.event())
		}
		if m.Ended != nil && m.Begun == nil && c.Verb != "finish" && c.Verb != "intent" {
			p.broken(m.After.Stage.String(), m.Ended.ID, "was ended by "+c.Verb+", not by a finish or an intent", m.Ended.Event, c.event())
		}
	}
}

func (p *finishOnce) rest() {
	for _, d := range p.sorted() {
		if !d.Ended {
			p.broken(d.Stage.String(), d.ID, "has not ended, and nothing is left to do", d.Event)
		}
	}
}

// lost forgets the ends of dispatches that are live again.
func (p *finishOnce) lost([]string) {
	maps.DeleteFunc(p.ends, func(id string, _ sim.Event) bool { return p.live(id) })
}

func (p *finishOnce) broken(subject, id, problem string, events ...sim.Event) {
	p.fail(subject, events, "dispatch %s %s", id, problem)
}
