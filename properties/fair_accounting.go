package properties

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// fairAccounting: retry budget and breaker move only in the step that ends a dispatch,
// once, and as its results say.
//
// Budget: one token goes for a bad result, a missing artifact, or a loss after a worker
// had claimed a job; it is full after success and after an explicit intent; nothing else
// touches it. Breaker: a failure of the machinery under a worker's hands counts, the
// fifth in 120 s opens the circuit, and in an open one only the holder of a permit
// decides: its failure opens it anew, and only its success closes it. An artifact that
// stood already tells nothing.
//
// It is told at the instant of the write. A result that came while the finish was under
// way may be missed by it; and who finds that the hub has forgotten a dispatch cannot
// know of a claim, so that such a loss may go free.
//
// Proof: what the hub told of the jobs, and the write.
type fairAccounting struct {
	*watch
	works    map[string]*work
	told     map[string]told // ends whose event is to come
	troubled map[ports.SceneID]time.Duration
}

// work is what the hub told of the jobs of a dispatch.
type work struct {
	claimed  bool
	progress map[string]time.Duration // of jobs that run, or did when they were cleared
	events   []sim.Event
}

// told is what the end of a dispatch did to the circuit, as Redis has it.
type told struct {
	before, after string // closed, open, half_open
	moved         string // opened, counted, closed, forgiven, or nothing
	probe         bool
}

// settling is how long a result may be under way to the one that ends the dispatch.
const settling = 30 * time.Second

var (
	_ eventer = (*fairAccounting)(nil)
	_ writer  = (*fairAccounting)(nil)
)

func newFairAccounting(w *watch) any {
	return &fairAccounting{watch: w, works: map[string]*work{}, told: map[string]told{}, troubled: map[ports.SceneID]time.Duration{}}
}

func (p *fairAccounting) event(e *sim.Event) {
	switch d := e.Data.(type) {
	case hub.Event:
		if of := p.dispatches[d.Job.DispatchID]; of == nil || !of.Ended {
			p.work(d.Job.DispatchID).add(e, d)
		}
	case ports.Trouble:
		p.troubled[d.Scene] = e.At
	case ports.Finish:
		t, known := p.told[d.Dispatch]
		delete(p.told, d.Dispatch)
		want := map[string]string{"opened": "failure", "counted": "failure", "closed": "success", "forgiven": "success", "": d.Evidence}[t.moved]
		counts := t.probe || t.before == "closed"
		switch {
		case !known:
		case d.Evidence != want, d.Evidence == "failure" && t.moved == "" && counts, d.Evidence == "success" && t.moved == "" && t.probe:
			p.broken(d.Stage.String(), d.Dispatch, *e, "tells the breaker %q, which was %s and is %s (%s)", d.Evidence, t.before, t.after, t.moved)
		case d.Circuit != t.after:
			p.broken(d.Stage.String(), d.Dispatch, *e, "says that the circuit is %s, and it is %s", d.Circuit, t.after)
		}
	}
}

func (p *fairAccounting) work(dispatch string) *work {
	w, ok := p.works[dispatch]
	if !ok {
		w = &work{progress: map[string]time.Duration{}}
		p.works[dispatch] = w
	}
	return w
}

// forget keeps of a dispatch that has ended only whether it was claimed: a failover may
// bring it back.
func (w *work) forget() {
	w.events = nil
	clear(w.progress)
}

func (w *work) add(e *sim.Event, h hub.Event) {
	switch h.Kind {
	case hub.Claimed:
		w.claimed = true
		w.progress[h.Job.JobID] = e.At
	case hub.Progressed:
		w.progress[h.Job.JobID] = e.At
		return // there are many
	case hub.Cleared: // by whom the dispatch is lost to
	default:
		delete(w.progress, h.Job.JobID)
	}
	w.events = append(w.events, *e)
}

func (p *fairAccounting) write(c *change) {
	var ended *dispatch
	for _, m := range c.Rows {
		if m.Ended != nil {
			defer p.work(m.Ended.ID).forget()
		}
		if c.Verb == "finish" && m.Ended != nil {
			ended = m.Ended
		}
		p.budget(c, m)
	}
	for _, t := range c.Circuits {
		if moved := t.moved(p.redisNow()); moved != "" && (ended == nil || ended.Stage.Stage != t.Stage) {
			p.broken(t.Stage, "", c.event(), "changed the circuit (%s), and no dispatch of the stage ended", moved)
		}
	}
	if ended != nil {
		p.circuit(c, ended)
	}
}

// budget holds the budget of a stage against what the write may do to it.
func (p *fairAccounting) budget(c *change, m move) {
	before, after := m.Before.Budget, m.After.Budget
	limits := p.Profile(m.After.Stage.Stage)
	now := p.redisNow()
	if after == (tokens{}) && now-number(before.At) >= (24*time.Hour).Milliseconds() {
		before = tokens{} // its time to live was over
	}
	charged := strconv.Itoa(max(0, before.left(now, limits.RetryBudget, limits.RefillEvery)-1))
	due, why := []string{"keep"}, "no dispatch ended"
	switch {
	case c.Verb == "intent" && slices.Contains(c.Keys, keys.Intent(m.After.Stage)): // not one of another stage of the scene
		due, why = []string{"reset"}, "an explicit intent"
	case m.Ended != nil:
		due, why = p.due(m.Ended)
	}
	for _, op := range due {
		switch {
		case op == "keep" && after == before, op == "reset" && after == tokens{}, op == "charge" && after.Left == charged:
			return
		}
	}
	id := ""
	if m.Ended != nil {
		id = m.Ended.ID
	}
	p.broken(m.After.Stage.String(), id, c.event(), "left the budget at %s after %s: due is to %s it, for %s", after, before, strings.Join(due, " or "), why)
}

// due is what the end of a dispatch may do to the budget, and why.
func (p *fairAccounting) due(d *dispatch) (ops []string, why string) {
	how, reason := p.ending(d)
	w := p.work(d.ID)
	failed := len(d.Failed) > 0
	at, troubled := p.troubled[d.Stage.SceneID]
	settled := failed && p.World.Elapsed()-d.FailedAt > settling && !(troubled && at >= d.FailedAt)
	switch {
	case how == "ready":
		return []string{"reset"}, "success"
	case how == "failed" && !failed && reason == outcome.SceneNotFound:
		return []string{"keep"}, "a missing scene"
	case how == "failed" && (failed || reason != outcome.JobFailed), settled:
		return []string{"charge"}, "a failure"
	case how == "lost" && p.hung(d):
		return []string{"charge"}, "a worker that stopped working"
	case how == "lost" && (w.claimed || failed):
		return []string{"charge", "keep"}, "a loss after a claim"
	case failed:
		return []string{"charge", "keep"}, "a failure of this moment"
	}
	return []string{"keep"}, "the end " + how + " of what no worker failed"
}

// ending is how a dispatch ended, as Redis has it.
func (p *fairAccounting) ending(d *dispatch) (how, reason string) {
	marker, _ := p.Redis.Get(keys.DispatchCompleted(d.Stage, d.ID))
	how, _, _ = strings.Cut(marker, "|")
	return how, p.Redis.HGetAll(keys.AssetState(d.Stage.SceneID))[d.Stage.Stage+".reason"]
}

// hung says whether a worker has a job of the dispatch and made no progress in its time.
func (p *fairAccounting) hung(d *dispatch) bool {
	for _, at := range p.work(d.ID).progress { //sim:unordered any will do
		if p.World.Elapsed()-at > p.Profile(d.Stage.Stage).ProgressDeadline {
			return true
		}
	}
	return false
}

// left is what is left of a budget, with what has come back by now.
func (t tokens) left(now int64, limit int, refill time.Duration) int {
	left, err := strconv.Atoi(t.Left)
	if err != nil || t.At == "" {
		return limit
	}
	return min(limit, left+int(max(0, now-number(t.At))/refill.Milliseconds()))
}

func (t tokens) String() string {
	if t == (tokens{}) {
		return "full"
	}
	return t.Left
}

// circuit holds a circuit against what the end of a dispatch may do to it, and must.
func (p *fairAccounting) circuit(c *change, d *dispatch) {
	now, current := p.redisNow(), p.circuits[d.Stage.Stage]
	t := turn{d.Stage.Stage, current, current}
	for _, turned := range c.Circuits {
		if turned.Stage == t.Stage {
			t = turned
		}
	}
	told := told{t.Before.state(now), t.After.state(now), t.moved(now), t.Before.Permits[d.ID] > now}
	p.told[d.ID] = told
	counting := t.Before.Opened == 0
	limits := p.Profile(t.Stage).Breaker
	failures := after(t.Before.Failures, now-limits.Window.Milliseconds()) + 1
	_, own := t.After.Failures[d.ID]
	some, all := p.machinery(d)
	how, _ := p.ending(d)
	fair := false
	switch told.moved {
	case "opened":
		fair = some && (told.probe || counting && failures >= limits.Trip)
	case "counted":
		fair = some && counting && own && failures < limits.Trip
	case "closed":
		fair = d.Executed && told.probe
	case "forgiven":
		fair = d.Executed && (told.probe || counting)
	default:
		fair = !(all && (told.probe || counting)) && !(how == "ready" && d.Executed && told.probe)
	}
	if !fair {
		p.broken(t.Stage, d.ID, c.event(), "ended %s (claimed %t, executed %t, failed %v, probe %t) and left the circuit %s (%s), which was %s with %d failures",
			how, p.work(d.ID).claimed, d.Executed, slices.Sorted(maps.Values(d.Failed)), told.probe, told.after, told.moved, told.before, failures-1)
	}
}

// machinery says whether a dispatch may have ended by a failure of the machinery under a
// worker's hands, and whether nothing else can have ended it.
func (p *fairAccounting) machinery(d *dispatch) (some, all bool) {
	how, _ := p.ending(d)
	some, all = how == "lost", how == "lost" && p.hung(d) || how == "failed" && len(d.Failed) > 0
	for _, code := range d.Failed { //sim:unordered some and all
		broken := outcome.ClassifyFailure(code, "").Class == outcome.Infrastructure
		some, all = some || broken, all && (broken || how == "lost")
	}
	claimed := p.work(d.ID).claimed
	return some && claimed, all && claimed
}

// broken reports what a dispatch (or, if it is empty, something else) did.
func (p *fairAccounting) broken(subject, dispatch string, e sim.Event, format string, args ...any) {
	events := []sim.Event{e}
	if dispatch != "" {
		events = append(slices.Clone(p.work(dispatch).events), e)
		format, args = "dispatch %s "+format, append([]any{dispatch}, args...)
	}
	p.fail(subject, events, format, args...)
}

// moved is the word for what a write did to a circuit. Failures whose time is over do not
// count.
func (t turn) moved(now int64) string {
	switch {
	case t.After.Opened != t.Before.Opened && t.After.Opened == 0:
		return "closed"
	case t.After.Opened != t.Before.Opened:
		return "opened"
	}
	for id, at := range t.After.Failures { //sim:unordered any will do
		if t.Before.Failures[id] != at {
			return "counted"
		}
	}
	for id, at := range t.Before.Failures { //sim:unordered any will do
		if _, stands := t.After.Failures[id]; !stands && at > now-t.Before.Limits.Breaker.Window.Milliseconds() {
			return "forgiven"
		}
	}
	return ""
}
