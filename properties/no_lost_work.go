package properties

import (
	"slices"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// noLostWork: a wanted stage with an active intent that is not done is in the active
// index, a tick after it left it at the latest; and when `settle` is over, every wanted
// stage is done.
//
// Proof: the write that may have taken it out.
type noLostWork struct {
	*watch
	suspect sim.Event // the last write to the index, or the last intent
	dirty   bool      // the index or an intent was written since it was last looked at
	missing map[ports.StageID]time.Duration
}

var (
	_ eventer = (*noLostWork)(nil)
	_ writer  = (*noLostWork)(nil)
	_ ender   = (*noLostWork)(nil)
	_ settler = (*noLostWork)(nil)
)

func newNoLostWork(w *watch) any {
	return &noLostWork{watch: w, missing: map[ports.StageID]time.Duration{}}
}

func (p *noLostWork) write(c *change) {
	for _, k := range c.Parts {
		if k.Family == keys.FamilyActiveScenes || k.Family == keys.FamilyIntent {
			p.suspect, p.dirty = c.event(), true
		}
	}
}

func (p *noLostWork) event(e *sim.Event) {
	if _, ok := e.Data.(ports.Tick); ok && (p.dirty || len(p.missing) > 0) {
		p.dirty = false
		p.look(p.View.Tick)
	}
}

func (p *noLostWork) end() { p.look(0) }

// look finds the stages that ought to be in the index and are not, for longer than a
// grace.
func (p *noLostWork) look(grace time.Duration) {
	index := p.Redis.SMembers(keys.ActiveScenes())
	now := p.World.Elapsed()
	for _, id := range p.Wanted() {
		r := p.row(id)
		_, indexed := slices.BinarySearch(index, keys.SceneMember(id.SceneID))
		since, known := p.missing[id]
		switch {
		case indexed || p.done(r) || r.Status != "active":
			delete(p.missing, id)
		case !known && grace > 0:
			p.missing[id] = now
		case now-since >= grace:
			p.lost(id, []sim.Event{p.suspect}, "is "+string(r.State)+" and not in the active index")
		}
	}
}

func (p *noLostWork) late(within time.Duration) {
	for _, id := range p.Wanted() {
		r := p.row(id)
		if p.done(r) {
			continue
		}
		why := string(r.State)
		if reason := p.Redis.HGetAll(keys.AssetState(id.SceneID))[id.Stage+".reason"]; reason != "" {
			why += ", " + reason
		}
		p.lost(id, nil, "is not done after settle within="+within.String()+": "+why)
	}
}

func (p *noLostWork) lost(id ports.StageID, events []sim.Event, problem string) {
	p.fail(id.String(), events, "it %s", problem)
}
