package properties

import (
	"maps"
	"slices"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// fairness: a stage that may be begun, with a slot free, is begun within a tick of each
// replica and two more; and while it may be begun, and only lacks a slot, no more others
// of its kind are begun than there are wanted stages, times replicas.
//
// While the circuit of its kind is not closed a stage waits for a permit, not for a slot. A
// stage in trouble of its own is not held against the others, and neither is a tick
// that could not read Redis or ended while dispatches were still being started.
//
// Proof: the ticks, or the begins that overtook it.
type fairness struct {
	*watch
	waiting map[ports.StageID]*wait
	refused map[string]map[ports.StageID]string // by incarnation: refusals since its last tick
	blind   map[string]bool                     // incarnations whose tick under way is in trouble
	begins  map[string]int                      // by kind of stage
	seen    map[string]map[string]int           // by incarnation: begins at its last tick
}

// wait is what a stage went through since it may be begun.
type wait struct {
	ticks, overtaken []sim.Event
}

var (
	_ eventer = (*fairness)(nil)
	_ writer  = (*fairness)(nil)
)

func newFairness(w *watch) any {
	return &fairness{watch: w, waiting: map[ports.StageID]*wait{}, refused: map[string]map[ports.StageID]string{},
		blind: map[string]bool{}, begins: map[string]int{}, seen: map[string]map[string]int{}}
}

func (p *fairness) write(c *change) {
	for _, m := range c.Rows {
		if m.Begun == nil {
			continue
		}
		id := m.After.Stage
		p.begins[id.Stage]++
		delete(p.waiting, id)
		for other, w := range p.waiting { //sim:unordered each on its own
			if other.Stage == id.Stage {
				w.overtaken = append(w.overtaken, c.event())
			}
		}
	}
}

func (p *fairness) event(e *sim.Event) {
	life := incarnation(e.Process)
	switch d := e.Data.(type) {
	case ports.Intent: // it may come between a tick's look and its begin, which is stale then
		delete(p.waiting, d.Stage)
	case ports.Refusal:
		if p.refused[life] == nil {
			p.refused[life] = map[ports.StageID]string{}
		}
		p.refused[life][d.Stage] = d.Reason
	case ports.Trouble:
		if d.Scene == (ports.SceneID{}) {
			p.blind[life] = true
		}
		for _, s := range asset.Stages() {
			delete(p.waiting, d.Scene.Of(s))
		}
	case ports.Tick:
		switch {
		case d.Skipped:
		case p.blind[life] || d.Summary.Running > 0:
			clear(p.waiting)
		default:
			p.tick(e, life)
		}
		delete(p.blind, life)
		delete(p.refused, life)
		p.seen[life] = map[string]int{}
		for kind, n := range p.begins { //sim:unordered a copy
			p.seen[life][kind] = n
		}
	}
}

// tick looks at what a tick has left.
func (p *fairness) tick(e *sim.Event, life string) {
	wanted := p.Wanted()
	maps.DeleteFunc(p.waiting, func(id ports.StageID, _ *wait) bool { return !slices.Contains(wanted, id) })
	free := map[string]bool{}
	for _, s := range asset.Stages() {
		free[s] = p.taken(s) < p.Profile(s).Slots
	}
	for _, id := range wanted {
		if !p.mayBegin(p.row(id)) || p.circuits[id.Stage].state(p.redisNow()) != "closed" {
			delete(p.waiting, id)
			continue
		}
		w, ok := p.waiting[id]
		if !ok {
			w = &wait{}
			p.waiting[id] = w
		}
		reason := p.refused[life][id]
		idle := p.begins[id.Stage] == p.seen[life][id.Stage] // nothing of the kind was begun since its last tick
		if free[id.Stage] && (reason == "" || reason == "backpressure" && idle) {
			w.ticks = append(w.ticks, *e)
		} else {
			w.ticks = nil
		}
		most := len(wanted) * p.Replicas
		switch {
		case len(w.ticks) > 2+p.Replicas:
			p.unfair(id, w.ticks, "could be begun at the end of %d ticks in a row and was not", len(w.ticks))
		case len(w.overtaken) > most:
			p.unfair(id, w.overtaken, "was overtaken %d times, at most %d are fair", len(w.overtaken), most)
		}
	}
}

func (p *fairness) unfair(id ports.StageID, events []sim.Event, format string, args ...any) {
	p.fail(id.String(), events, format, args...)
}
