package properties

import (
	"slices"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// resultEvents: the consumer hears of the end of each dispatch, not before it, in the
// order in which those of its scene ended; at rest it has heard of all. What it drops for
// its id does not count. After a failover, or an eviction of what waits, an event may be
// missing, for its end may be undone; the others stay in order. A dispatch whose state was
// evicted has no end to tell of.
//
// Proof: the event before, and the event; at rest the begin of the dispatch.
type resultEvents struct {
	*watch
	last  map[ports.SceneID]heard // of each scene, the last new one
	heard map[string]bool         // dispatches of whose end the consumer knows
	loses bool                    // what waited may be gone
}

type heard struct {
	*dispatch
	event sim.Event
}

var (
	_ eventer = (*resultEvents)(nil)
	_ rester  = (*resultEvents)(nil)
	_ loser   = (*resultEvents)(nil)
)

func newResultEvents(w *watch) any {
	return &resultEvents{watch: w, last: map[ports.SceneID]heard{}, heard: map[string]bool{}}
}

func (p *resultEvents) event(e *sim.Event) {
	if e.Kind == "evict" {
		lost := []keys.Family{keys.FamilyOutbox, keys.FamilyEvents, keys.FamilyUndelivered}
		p.loses = p.loses || slices.Contains(lost, p.parse(e.Subject).Family)
	}
	told, ok := e.Data.(consumer.Heard)
	d := p.dispatches[told.Dispatch]
	if !ok || told.Again || d == nil {
		return
	}
	if !d.Ended && !p.loses {
		p.broken(told.Subject(), []sim.Event{d.Event, *e}, "%s of dispatch %s was told before it ended", told.Kind, d.ID)
	}
	scene := told.Stage.SceneID
	if before, some := p.last[scene]; some && d.EndedAt < before.EndedAt {
		p.broken(told.Subject(), []sim.Event{before.event, *e}, "%s of dispatch %s was told after an event of dispatch %s, which ended later", told.Kind, d.ID, before.ID)
	}
	p.last[scene], p.heard[d.ID] = heard{d, *e}, true
}

func (p *resultEvents) rest() {
	if !p.Consumer || p.loses {
		return
	}
	for _, d := range p.sorted() {
		if told := d.EndedBy == "finish" || d.EndedBy == "intent"; told && !p.heard[d.ID] {
			p.broken(d.Stage.String(), []sim.Event{d.Event}, "nothing was told of the end of dispatch %s", d.ID)
		}
	}
}

func (p *resultEvents) lost([]string) {
	p.loses = true
	clear(p.last) // an end that was told may come again, with the same id
}

func (p *resultEvents) broken(subject string, events []sim.Event, format string, args ...any) {
	p.fail(subject, events, format, args...)
}
