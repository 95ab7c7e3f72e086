package properties

import (
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// singleOwner: a live dispatch gives way only by ending, and whatever is written under
// a dispatch's name is written for one that Redis names as live.
//
// It is told at the instant of the write. An event comes later than its step, so of an
// event only this can be said: its dispatch must have been live at some time.
//
// Proof: the begin and the write that contradicts it.
type singleOwner struct{ *watch }

var (
	_ eventer = (*singleOwner)(nil)
	_ writer  = (*singleOwner)(nil)
)

func newSingleOwner(w *watch) any { return &singleOwner{w} }

func (p *singleOwner) write(c *change) {
	for _, m := range c.Rows {
		if m.Ended != nil && m.Begun != nil {
			p.broken(m.After.Stage.String(), c.event(), m.Ended.ID, "was live when another dispatch took its place")
		}
	}
	for i, k := range c.Parts {
		owner, stands := p.owner(c.Keys[i], k)
		if !stands || p.live(owner) && (k.Stage == "" || p.row(k.StageID).Dispatch == owner) {
			continue
		}
		p.broken(c.Keys[i], c.event(), owner, "is not live, and "+c.Verb+" wrote this for it")
	}
}

// owner is the dispatch in whose name a key stands; stands is false if it is no such
// key, or does not exist any more.
func (p *singleOwner) owner(key string, k keys.Key) (owner string, stands bool) {
	switch k.Family {
	case keys.FamilyLease:
		return p.Redis.Get(key)
	case keys.FamilyDispatch:
		owner, stands = p.Redis.HGetAll(key)["dispatch_id"]
	case keys.FamilyDispatchJobs:
		return k.Dispatch, p.Redis.Exists(key)
	}
	return owner, stands
}

func (p *singleOwner) event(e *sim.Event) {
	switch d := e.Data.(type) {
	case ports.Attempt:
		p.known(e, d.Stage, d.Dispatch)
	case ports.Finish:
		p.known(e, d.Stage, d.Dispatch)
	case ports.Renewal:
		if d.Verdict == "ok" {
			p.known(e, d.Stage, d.Dispatch)
		}
	case ports.Result:
		if d.Verdict == "accepted" || d.Verdict == "last" {
			p.known(e, d.Stage, d.Dispatch)
		}
	}
}

func (p *singleOwner) known(e *sim.Event, s ports.StageID, id string) {
	if d := p.dispatches[id]; d == nil || d.Stage != s {
		p.broken(s.String(), *e, id, "was never live, and a "+e.Kind+" speaks of it")
	}
}

func (p *singleOwner) broken(subject string, e sim.Event, id, problem string) {
	events := []sim.Event{e}
	if d := p.dispatches[id]; d != nil {
		events = []sim.Event{d.Event, e}
	}
	p.fail(subject, events, "dispatch %s %s", id, problem)
}
