package properties

import (
	"maps"
	"slices"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// permits: nothing is begun through an open circuit; what is begun through a half-open one
// holds a permit, of which no more are good at once than the stage's limit; a permit is good for no
// longer than the dispatch may go on without progress, nobody makes it longer, and it goes
// with its dispatch. While a permit and a slot are free and a stage may be begun, a half-open circuit
// lets one through within a tick of each replica and two more: so it is left in bounded time.
//
// The permit of a dispatch whose end Redis has not seen is good until its deadline.
//
// Proof: the write, or the ticks.
type permits struct {
	*watch
	idle  map[string][]sim.Event // by kind of stage: ticks in a row that let no probe through
	blind map[string]bool        // incarnations whose tick under way is in trouble
}

var (
	_ eventer = (*permits)(nil)
	_ writer  = (*permits)(nil)
	_ loser   = (*permits)(nil)
)

func newPermits(w *watch) any {
	return &permits{w, map[string][]sim.Event{}, map[string]bool{}}
}

func (p *permits) lost([]string) { clear(p.idle) }

func (p *permits) write(c *change) {
	for _, m := range c.Rows {
		stage := m.After.Stage.Stage
		if m.Ended != nil && p.circuits[stage].Permits[m.Ended.ID] > p.redisNow() {
			p.broken(m.After.Stage.String(), "dispatch "+m.Ended.ID+" has ended and still holds a permit", m.Ended.Event, c.event())
		}
		if m.Begun != nil {
			delete(p.idle, stage)
			p.begun(c, m.Begun)
		}
	}
	for _, t := range c.Circuits {
		for _, id := range slices.Sorted(maps.Keys(t.After.Permits)) {
			if before, stood := t.Before.Permits[id]; stood && t.After.Permits[id] > before {
				p.broken(t.Stage, "the permit of "+id+" was made longer", c.event())
			}
		}
	}
}

// begun looks at how a dispatch came through the circuit.
func (p *permits) begun(c *change, d *dispatch) {
	now, circuit := p.redisNow(), p.circuits[d.Stage.Stage]
	until, holds := circuit.Permits[d.ID]
	problem := ""
	switch state := circuit.state(now); {
	case state == "open":
		problem = "was begun through an open circuit"
	case state == "closed" && holds:
		problem = "was begun with a permit, and the circuit is closed"
	case state == "half_open" && !holds:
		problem = "was begun through a half-open circuit without a permit"
	case state == "half_open" && after(circuit.Permits, now) > p.Profile(d.Stage.Stage).Breaker.Permits:
		problem = "was begun through a half-open circuit beside as many others as it lets through"
	case state == "half_open" && until > now+p.Profile(d.Stage.Stage).ProgressDeadline.Milliseconds():
		problem = "holds a permit for " + time.Duration((until-now)*int64(time.Millisecond)).String()
	}
	if problem != "" {
		p.broken(d.Stage.String(), "dispatch "+d.ID+" "+problem, c.event())
	}
}

func (p *permits) event(e *sim.Event) {
	life := incarnation(e.Process)
	switch d := e.Data.(type) {
	case ports.Attempt:
		if _, holds := p.circuits[d.Stage.Stage].Permits[d.Dispatch]; holds && !d.Probe {
			p.broken(d.Stage.String(), "dispatch "+d.Dispatch+" holds a permit and does not know", *e)
		}
	case ports.Trouble:
		if d.Scene == (ports.SceneID{}) {
			p.blind[life] = true
		}
		clear(p.idle) // a stage in trouble of its own may be the one that would be let through
	case ports.Tick:
		switch {
		case d.Skipped:
		case p.blind[life] || d.Summary.Running > 0:
			clear(p.idle)
		default:
			p.tick(e)
		}
		delete(p.blind, life)
	}
}

// tick looks at what a tick has left.
func (p *permits) tick(e *sim.Event) {
	now := p.redisNow()
	for _, stage := range asset.Stages() {
		c := p.circuits[stage]
		may := func(id ports.StageID) bool { return id.Stage == stage && p.mayBegin(p.row(id)) }
		if c.state(now) != "half_open" || after(c.Permits, now) >= p.Profile(stage).Breaker.Permits ||
			p.taken(stage) >= p.Profile(stage).Slots || !slices.ContainsFunc(p.Wanted(), may) {
			delete(p.idle, stage)
			continue
		}
		if p.idle[stage] = append(p.idle[stage], *e); len(p.idle[stage]) > 2+p.Replicas {
			p.broken(stage, "a half-open circuit with a permit to give let none of the wanted stages through", p.idle[stage]...)
		}
	}
}

func (p *permits) broken(subject, problem string, events ...sim.Event) {
	p.fail(subject, events, "%s", problem)
}
