package properties

import (
	"slices"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/sim"
)

// slots: a begin takes a slot, and never one beyond the limit; at rest no dispatch of
// ours holds one. A holder counts until its deadline, a foreign one too.
//
// A renewal may bring back a slot that was evicted while others took the free ones, so
// only a begin is held against the limit.
//
// Proof: the write.
type slots struct{ *watch }

var (
	_ writer = (*slots)(nil)
	_ rester = (*slots)(nil)
)

func newSlots(w *watch) any { return &slots{w} }

func (p *slots) write(c *change) {
	for _, m := range c.Rows {
		if m.Begun == nil {
			continue
		}
		stage := m.After.Stage.Stage
		held, limit := p.holders(keys.Slots(stage)), p.Profile(stage).Slots
		if !slices.Contains(held, m.Begun.ID) {
			p.broken(m.After.Stage.String(), c.event(), "dispatch %s was begun without a slot", m.Begun.ID)
		}
		if len(held) > limit {
			p.broken(stage, c.event(), "%d dispatches hold a slot, the limit is %d", len(held), limit)
		}
	}
}

// holders are the members of a set of slots whose deadline is to come.
func (p *slots) holders(key string) (held []string) {
	for _, m := range p.Redis.ZRange(key) {
		if m.Score > float64(p.redisNow()) {
			held = append(held, m.Name)
		}
	}
	return held
}

func (p *slots) rest() {
	for _, stage := range asset.Stages() {
		for _, id := range p.holders(keys.Slots(stage)) {
			if d := p.dispatches[id]; d != nil {
				p.broken(stage, d.Event, "dispatch %s holds a slot at rest", id)
			}
		}
	}
}

func (p *slots) broken(subject string, e sim.Event, format string, args ...any) {
	p.fail(subject, []sim.Event{e}, format, args...)
}
