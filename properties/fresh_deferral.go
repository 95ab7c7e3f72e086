package properties

import (
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// freshDeferral: what the engine refuses as deferred is deferred for the generation of
// the last explicit intent, and nothing is begun, by force or otherwise, while such a
// deferral is open.
//
// Proof: the refusal, or the begin.
type freshDeferral struct{ *watch }

var (
	_ eventer = (*freshDeferral)(nil)
	_ writer  = (*freshDeferral)(nil)
)

func newFreshDeferral(w *watch) any { return &freshDeferral{w} }

func (p *freshDeferral) event(e *sim.Event) {
	d, ok := e.Data.(ports.Refusal)
	if !ok || d.Reason != "deferred_capacity" {
		return
	}
	// A refusal is told later than it was decided. If the deferral is gone by now, an
	// intent or its time has ended it in between.
	if r := p.row(d.Stage); r.Deferral.Until > p.redisNow() && r.Deferral.Generation < r.Generation {
		p.broken(r, *e, "refused for a deferral of generation %d", r.Deferral.Generation)
	}
}

func (p *freshDeferral) write(c *change) {
	for _, m := range c.Rows {
		if m.Begun != nil && m.Before.Deferral.holds(m.Begun.Generation, p.redisNow()) {
			p.broken(&m.After, c.event(), "begun while %s defers generation %d", m.Before.Deferral.Reason, m.Begun.Generation)
		}
	}
}

func (p *freshDeferral) broken(r *row, e sim.Event, format string, args ...any) {
	p.fail(r.Stage.String(), []sim.Event{e}, format+"; the last intent has generation %d", append(args, r.Generation)...)
}
