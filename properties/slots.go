package properties

import (
	"maps"
	"slices"
	"strings"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/sim"
)

// slots: a begin takes a slot, and never one beyond the limit; at rest no dispatch of
// ours holds one. A holder counts until its deadline, a foreign one too.
//
// A live dispatch counts until its deadline, too, if a call took its slot away: the engine counts
// by the same set, and cannot see that. An eviction or a failover takes slots rightly.
//
// A renewal may bring back a slot that was evicted while others took the free ones, so
// only a begin is held against the limit.
//
// Proof: the write.
type slots struct {
	*watch
	until map[string]int64 // by dispatch: the deadline that its slot had last, ms
}

var (
	_ eventer  = (*slots)(nil)
	_ writer   = (*slots)(nil)
	_ rester   = (*slots)(nil)
	_ reloader = (*slots)(nil)
	_ loser    = (*slots)(nil)
)

func newSlots(w *watch) any { return &slots{w, map[string]int64{}} }

func (p *slots) event(e *sim.Event) {
	if e.Kind == "evict" && p.parse(e.Subject).Family == keys.FamilySlots {
		p.reload()
	}
}

func (p *slots) lost([]string) { p.reload() }

// reload forgets the slots that are gone, and that no call took.
func (p *slots) reload() {
	clear(p.until)
	for _, stage := range asset.Stages() {
		p.note(keys.Slots(stage))
	}
}

// note takes over the deadlines of a set of slots.
func (p *slots) note(key string) {
	for _, m := range p.Redis.ZRange(key) {
		p.until[m.Name] = int64(m.Score)
	}
}

func (p *slots) write(c *change) {
	for i, k := range c.Parts {
		if k.Family == keys.FamilySlots {
			p.note(c.Keys[i])
		}
	}
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
		} else if robbed := p.robbed(stage, held); len(held)+len(robbed) > limit {
			p.broken(stage, c.event(), "%d dispatches hold a slot beside %s, which live and had theirs taken away; the limit is %d",
				len(held), strings.Join(robbed, ", "), limit)
		}
	}
}

// robbed are the live dispatches of a kind of stage whose slot is gone before its deadline.
func (p *slots) robbed(stage string, held []string) (robbed []string) {
	for _, id := range slices.Sorted(maps.Keys(p.until)) {
		switch {
		case !p.live(id) || p.until[id] <= p.redisNow():
			delete(p.until, id)
		case p.dispatches[id].Stage.Stage == stage && !slices.Contains(held, id):
			robbed = append(robbed, id)
		}
	}
	return robbed
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
