package properties

import (
	"maps"
	"slices"
	"time"

	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// exactSweep: what a clear removes at one stroke is all of one dispatch, or all of one
// book; a sweep that counts as cleared has left no job that was there before it; and it
// counts as cleared only if the hub echoes the scope that was asked for. And a complete
// pass leaves the hub no job of a dispatch that had ended before it: whoever should have
// purged it may have died, or found no hub.
//
// Proof: the removals, the job that was left, the sweep or the pass.
type exactSweep struct {
	*watch
	queue   map[string]sim.Event // live jobs by id: how they were accepted
	stroke  []sim.Event          // what the clear under way has removed
	resumed map[string]time.Duration
	echoed  time.Duration // when the hub was last seen to echo scopes

	passed   map[string]time.Duration // by task: when its last pass ended
	troubled map[string]bool          // by task: it met trouble since
	forgot   time.Duration            // when Redis last lost what it was told
}

// purgesMax is how many dispatches one pass purges.
const purgesMax = 20

// answerMax is more than the time within which the answer to a clear is told.
const answerMax = 30 * time.Second

var (
	_ eventer = (*exactSweep)(nil)
	_ ender   = (*exactSweep)(nil)
	_ loser   = (*exactSweep)(nil)
)

func newExactSweep(w *watch) any {
	return &exactSweep{watch: w, queue: map[string]sim.Event{}, resumed: map[string]time.Duration{}, echoed: -2 * answerMax,
		passed: map[string]time.Duration{}, troubled: map[string]bool{}}
}

func (p *exactSweep) event(e *sim.Event) {
	if p.ScopeEchoed() {
		p.echoed = e.At
	}
	h, isHub := e.Data.(hub.Event)
	if n := len(p.stroke); n > 0 && (h.Kind != hub.Cleared || p.stroke[n-1].Seq+1 != e.Seq) {
		p.end()
	}
	switch d := e.Data.(type) {
	case ports.Swept:
		p.swept(e, d)
	case ports.Trouble:
		p.troubled[e.Process] = true
	case ports.Pass:
		p.pass(e, d)
	default:
		switch e.Kind {
		case "resume":
			p.resumed[e.Subject] = e.At
		case "evict":
			p.forgot = e.At
		}
	}
	if !isHub {
		return
	}
	switch h.Kind {
	case hub.Accepted:
		p.queue[h.Job.JobID] = *e
	case hub.Cleared:
		delete(p.queue, h.Job.JobID)
		if p.stroke = append(p.stroke, *e); scope(*e) != scope(p.stroke[0]) {
			p.broken(e.Subject, p.stroke, "one clear removed jobs of two scopes")
		}
	case hub.Done, hub.Failed, hub.Lost, hub.Expired:
		delete(p.queue, h.Job.JobID)
	}
}

// scope is the dispatch or the book of a clear, as one removal of it shows.
func scope(removed sim.Event) ports.Swept {
	h := removed.Data.(hub.Event)
	if h.Reason == "book" {
		return ports.Swept{Book: h.Job.BookID}
	}
	return ports.Swept{Dispatch: h.Job.DispatchID}
}

// end judges the clear that is over.
func (p *exactSweep) end() {
	if len(p.stroke) == 0 {
		return
	}
	if left := p.left(scope(p.stroke[0]), p.World.Elapsed()); len(left) > 0 {
		p.broken(left[0].Subject, append(left, p.stroke...), "a clear of its scope left the job")
	}
	p.stroke = nil
}

// left are the live jobs of a scope that were accepted until then.
func (p *exactSweep) left(s ports.Swept, until time.Duration) (events []sim.Event) {
	for _, accepted := range p.queue { //sim:unordered sorted below
		j := accepted.Data.(hub.Event).Job
		if in := j.DispatchID == s.Dispatch || s.Dispatch == "" && j.BookID == s.Book; in && accepted.At <= until {
			events = append(events, accepted)
		}
	}
	slices.SortFunc(events, func(a, b sim.Event) int { return a.Seq - b.Seq })
	return events
}

func (p *exactSweep) swept(e *sim.Event, s ports.Swept) {
	name := s.Dispatch
	if name == "" {
		name = ports.Quote(s.Book)
	}
	if s.Requested != s.Cleared+s.Failed {
		p.broken(name, []sim.Event{*e}, "a sweep of %d requests counts %d cleared and %d failed", s.Requested, s.Cleared, s.Failed)
	}
	if s.Cleared == 0 {
		return
	}
	if e.At-p.echoed > answerMax {
		p.broken(name, []sim.Event{*e}, "a sweep counts as cleared, but the hub echoes another scope")
	}
	// A process that stood still tells late of a clear.
	if at, was := p.resumed[incarnation(e.Process)]; was && e.At-at < answerMax {
		return
	}
	if left := p.left(s, e.At-answerMax); len(left) > 0 {
		p.broken(left[0].Subject, append(left, *e), "a sweep of its scope counts as cleared and left the job")
	}
}

func (p *exactSweep) lost([]string) { p.forgot = p.World.Elapsed() }

// pass demands of a complete pass, all of which came after the last one of its task, that
// it has purged what had ended before.
func (p *exactSweep) pass(e *sim.Event, d ports.Pass) {
	began, known := p.passed[e.Process]
	complete := !d.Skipped && d.Cause == "" && !p.troubled[e.Process] && d.Report.Withheld == 0 && d.Report.Purged < purgesMax
	p.passed[e.Process], p.troubled[e.Process] = e.At, false
	if !known || !complete {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(p.queue)) {
		accepted := p.queue[id]
		of := p.dispatches[accepted.Data.(hub.Event).Job.DispatchID]
		if of == nil || !of.Ended || of.EndedAt >= began || of.EndedAt <= p.forgot || accepted.At >= of.EndedAt {
			continue
		}
		p.broken(id, []sim.Event{accepted, *e}, "is still at the hub after a complete pass, and %s ended its dispatch %s before", of.EndedBy, e.At-of.EndedAt)
	}
}

func (p *exactSweep) broken(subject string, events []sim.Event, format string, args ...any) {
	p.fail(subject, events, format, args...)
}
