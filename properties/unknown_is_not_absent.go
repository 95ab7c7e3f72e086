package properties

import (
	"maps"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// unknownIsNotAbsent: what stands is not made again, whatever could not be read. A pass
// puts no ready stage back whose artifacts stand; a dispatch has no job for a picture that
// stands; and a dirty mark goes away only when a picture was published for it. An answer
// that is a lie (the effects missing, empty and stale) can be told from the truth by nobody,
// and excuses its scene for a while; so does what a scenario changes itself.
//
// Proof: the act, and the intent before it.
type unknownIsNotAbsent struct {
	*watch
	lied  time.Duration // the last lie
	marks map[ports.SceneID]map[string]int64
}

// readGrace is how old the answer may be that an act rests on: a pass reads before it
// repairs, and a begin is asked three times.
const readGrace = 90 * time.Second

var _ eventer = (*unknownIsNotAbsent)(nil)

func newUnknownIsNotAbsent(w *watch) any {
	return &unknownIsNotAbsent{watch: w, lied: -readGrace, marks: map[ports.SceneID]map[string]int64{}}
}

func (p *unknownIsNotAbsent) event(e *sim.Event) {
	if p.Stands == nil {
		return
	}
	if e.Kind == "fault" && lies(e.Detail) {
		p.lied = e.At
	}
	switch d := e.Data.(type) {
	case ports.Restored:
		if d.Verdict == "dirty" && p.Stands(d.Stage) == "" {
			p.judge(e, d.Stage, "was put back although its artifacts stand")
		}
	case ports.Attempt:
		for _, job := range d.Jobs {
			if _, unit, _, err := keys.ParseJob(job); err == nil && p.Pictured(d.Stage, unit) {
				p.judge(e, d.Stage, "has a job for "+ports.Quote(unit)+", whose picture stands")
			}
		}
		p.settled(e, d.Stage)
	case ports.Finish:
		p.settled(e, d.Stage)
	}
}

// lies says whether the effect of a fault is an answer that is not true.
func lies(fired string) bool {
	for _, effect := range []string{"missing", "empty", "stale"} {
		if strings.Contains(fired, effect) {
			return true
		}
	}
	return false
}

// settled looks which marks of a scene are gone since the last look, and what for.
func (p *unknownIsNotAbsent) settled(e *sim.Event, id ports.StageID) {
	now := p.Marks(id.SceneID)
	for unit, n := range p.marks[id.SceneID] { //sim:unordered any of them will do
		if _, still := now[unit]; !still && p.Published(id.SceneID, unit) < n {
			p.judge(e, id, "lost the dirty mark of "+ports.Quote(unit)+" without a new picture")
		}
	}
	p.marks[id.SceneID] = maps.Clone(now)
}

func (p *unknownIsNotAbsent) judge(e *sim.Event, id ports.StageID, problem string) {
	if e.At-max(p.lied, p.Disturbed(id.SceneID)) <= readGrace {
		return
	}
	p.fail(id.String(), []sim.Event{*e}, "it %s", problem)
}
