package properties

import (
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// boundedChurn: per stage and generation, in T seconds since its explicit intent, the
// zero-progress attempts stay within one per window (6, and one per 60 s, where there
// is none), the attempts that sent jobs within the budget and its refill, and the
// journal within a few events per attempt. A tick, or a begin, that begins nothing
// writes nothing.
//
// What is said of a window is said of the one applied: a mixture of reasons with a
// capacity reason in it is retried after 60 s whatever is reported (design 5.3). Taking
// a deferral away by hand (ClearDeferrals, eviction) permits one more attempt; progress
// resets the count of those that are not deferred.
//
// Proof: the finishes of the generation; the write of a tick; the last journal event.
type boundedChurn struct {
	*watch
	stages map[ports.StageID]*churn
	scenes map[ports.SceneID]*journal
	idle   map[string]sim.Event     // by task: its first write since its last tick
	busy   map[string]bool          // by incarnation: something was begun since its last tick
	upset  map[string]time.Duration // by incarnation: when a call of its last failed
}

// churn is what was tried in one generation of a stage.
type churn struct {
	generation int64
	nothing    map[int64][]sim.Event // zero-progress finishes, by window in s
	sent       []sim.Event           // finishes of attempts that sent jobs
	partial    int                   // of these, how many ended with a new unit done
	resets     int                   // finishes that reset the count of zero-progress attempts
}

// lateMax is how long after a call has failed it may still be carried out.
const lateMax = 2 * time.Minute

// journal is what the journal of a scene may hold, and what it holds.
type journal struct{ allowed, events int }

var (
	_ eventer = (*boundedChurn)(nil)
	_ writer  = (*boundedChurn)(nil)
	_ loser   = (*boundedChurn)(nil)
)

func newBoundedChurn(w *watch) any {
	return &boundedChurn{watch: w, stages: map[ports.StageID]*churn{}, scenes: map[ports.SceneID]*journal{},
		idle: map[string]sim.Event{}, busy: map[string]bool{}, upset: map[string]time.Duration{}}
}

func (p *boundedChurn) event(e *sim.Event) {
	switch d := e.Data.(type) {
	case ports.Finish:
		p.finish(e, d)
	case ports.JobOutcome:
		if d.Outcome == "sent" && p.live(d.Dispatch) {
			c := p.churn(d.Stage)
			p.within("attempts that sent jobs", d.Stage, append(c.sent, *e), p.sentMax(d.Stage, c))
		}
	case ports.Refusal:
		if d.Edge {
			p.journal(d.Stage.SceneID).allowed += 2
			p.busy[incarnation(e.Process)] = true
		}
	case ports.Restored:
		p.journal(d.Stage.SceneID).allowed++
	case ports.Intent:
		if d.Op == "reset" || d.Op == "regenerate" {
			p.journal(d.Stage.SceneID).allowed++
		}
	case ports.Attempt, ports.Retired:
		p.busy[incarnation(e.Process)] = true
	case ports.Trouble:
		p.upset[incarnation(e.Process)] = e.At
	case ports.Journaled:
		j := p.journal(d.Scene)
		j.events += len(d.Events)
		if j.events > j.allowed {
			p.broken(d.Scene.String(), []sim.Event{*e}, "%d journal events, its attempts, replaced dispatches, refusal edges, resets and repairs permit %d", j.events, j.allowed)
		}
	case ports.Tick:
		life := incarnation(e.Process)
		at, upset := p.upset[life]
		if first, wrote := p.idle[e.Process]; wrote && !p.busy[life] && !(upset && e.At-at < lateMax) {
			p.broken(e.Process, []sim.Event{first, *e}, "the tick began nothing and wrote to Redis")
		}
		delete(p.idle, e.Process)
		delete(p.busy, life)
	}
}

func (p *boundedChurn) write(c *change) {
	for _, m := range c.Rows {
		if m.Begun != nil {
			p.journal(m.After.Stage.SceneID).allowed += 4
		}
		if m.Ended != nil && c.Verb == "intent" {
			p.journal(m.After.Stage.SceneID).allowed++
		}
	}
	switch {
	case c.Verb == "begin" && !begun(c):
		p.broken(c.Subject, []sim.Event{c.event()}, "begin began nothing and wrote to Redis")
	case c.Verb == "adopt":
		p.busy[incarnation(c.Task)] = true
	}
	for _, k := range c.Parts {
		// An idle tick writes the tick lock, and what it journals has a bound of its own.
		if _, wrote := p.idle[c.Task]; !wrote && k.Family != keys.FamilySchedulerLock && k.Family != keys.FamilyOutbox {
			p.idle[c.Task] = c.event()
		}
	}
}

func begun(c *change) bool {
	for _, m := range c.Rows {
		if m.Begun != nil {
			return true
		}
	}
	return false
}

// finish counts the end of an attempt of the current generation.
func (p *boundedChurn) finish(e *sim.Event, f ports.Finish) {
	c := p.churn(f.Stage)
	if f.Generation != c.generation {
		return
	}
	r := p.row(f.Stage)
	seconds := int((e.At - r.Since + 10*time.Millisecond) / time.Second) // Redis' times are cut to ms
	if f.Outcome == "nothing" {
		c.nothing[f.WindowSeconds] = append(c.nothing[f.WindowSeconds], *e)
		most := 6*(1+c.resets) + seconds/60
		if f.WindowSeconds > 0 {
			most = 1 + r.Cleared + seconds/int(f.WindowSeconds)
		}
		p.within("zero-progress attempts", f.Stage, c.nothing[f.WindowSeconds], most)
		return
	}
	c.resets++
	if f.Sent > 0 {
		c.sent = append(c.sent, *e)
		if d := p.dispatches[f.Dispatch]; f.Outcome == "partial" && d != nil && d.Done > 0 {
			c.partial++
		}
		p.within("attempts that sent jobs", f.Stage, c.sent, p.sentMax(f.Stage, c))
	}
}

// sentMax is how many attempts may have sent jobs by now.
func (p *boundedChurn) sentMax(s ports.StageID, c *churn) int {
	limits := p.Profile(s.Stage)
	return 1 + limits.RetryBudget + int((p.World.Elapsed()-p.row(s).Since)/limits.RefillEvery) + c.partial
}

// within holds a count against its bound.
func (p *boundedChurn) within(what string, s ports.StageID, events []sim.Event, most int) {
	if len(events) > most {
		p.broken(s.String(), events, "%d %s since the last explicit intent, at most %d are due", len(events), what, most)
	}
}

// lost starts the counts anew of the stages whose deferral, budget or zero-progress count
// is undone, and of all journals: the outbox tells its lines again.
func (p *boundedChurn) lost(names []string) {
	for _, name := range names {
		k := p.parse(name)
		for _, s := range asset.Stages() {
			delete(p.stages, k.SceneID.Of(s))
		}
	}
	for _, j := range p.scenes { //sim:unordered each on its own
		j.events = 0
	}
}

func (p *boundedChurn) broken(subject string, events []sim.Event, format string, args ...any) {
	p.fail(subject, events, format, args...)
}

// churn returns the counts of the current generation of a stage.
func (p *boundedChurn) churn(s ports.StageID) *churn {
	c, generation := p.stages[s], p.row(s).Generation
	if c == nil || c.generation != generation {
		c = &churn{generation: generation, nothing: map[int64][]sim.Event{}}
		p.stages[s] = c
	}
	return c
}

func (p *boundedChurn) journal(s ports.SceneID) *journal {
	j, ok := p.scenes[s]
	if !ok {
		j = &journal{}
		p.scenes[s] = j
	}
	return j
}
