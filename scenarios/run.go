package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/properties"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
	"github.com/animastor/orchestra/scenarios/wire"
	"github.com/animastor/orchestra/sim"
)

// RunOptions are the settings of one run.
type RunOptions struct {
	Lua    bool
	Keep   int  // events of the trace to hold on to; 0: all
	Record bool // keep the run as a scenario
	Update bool // rewrite golden blocks instead of comparing them
	// Twins may put broken twins of scripts in the place of the true ones, by name: a
	// test of what would find such a defect. It means nothing beside Lua.
	Twins func(map[string]redis.Twin)
	// Beat is told now and then how far the run is: a watchdog's business.
	Beat func(steps int, running string)
}

// beatEvery is how many events of the clock pass between two beats.
const beatEvery = 256

// eventsShown is how much of the trace a failure shows.
const eventsShown = 12

// atRest is how long a settled world runs on: longer than a renewal period and a
// round of the outbox, so that whatever should end has ended.
const atRest = 45 * time.Second

// RunProgram runs a scenario with one seed. It never panics: what goes wrong is in
// the result.
func RunProgram(p *lang.Program, seed uint64, o RunOptions) (res *Result) {
	began := time.Now()
	r := &run{prog: p, opts: o, res: &Result{File: p.File.Name, Scenario: p.Name, Seed: seed, Lua: o.Lua, Outcome: Passed}}
	defer func() {
		if v := recover(); v != nil {
			r.fail(Failure{What: "the harness panicked", Saw: fmt.Sprint(v)})
			r.res.Outcome = Broken
		}
		r.res.Wall = time.Since(began)
		res = r.res
	}()
	r.build(seed)
	defer r.w.Close()
	for i := range p.Steps {
		if !r.step(&p.Steps[i]) {
			break
		}
	}
	r.finish()
	return r.res
}

// run is one run under way.
type run struct {
	prog  *lang.Program
	opts  RunOptions
	res   *Result
	w     *wire.World
	props *properties.Set

	begun      bool                  // the clock has started
	strict     bool                  // replay strict: every recorded fault must hit
	faults     map[string]*lang.Step // by the ID of their rules
	firings    map[*lang.Step]int    // of each `every`, with the next
	violations int                   // taken over so far
	crashes    int                   // failures of the world, likewise
}

// fail notes a failure at this instant.
func (r *run) fail(f Failure) {
	if r.w != nil {
		f.At = r.w.Sim.Elapsed()
		if f.Events == nil {
			f.Events = append([]sim.Event(nil), r.w.Sim.Trace().Last(eventsShown)...)
		}
	}
	r.res.Failures = append(r.res.Failures, f)
	r.res.Outcome = Failed
}

// step does one statement. It returns false when the run cannot go on.
func (r *run) step(s *lang.Step) bool {
	if s.Verb.Phase == lang.Flow && !r.begun {
		r.begin()
	}
	switch {
	case s.Every > 0:
		start := r.w.Sim.Elapsed() + s.Every
		if s.At != nil {
			start = *s.At
		}
		r.every(s, start)
	case s.At != nil:
		r.w.Sim.At(*s.At, s.Name, func() { r.do(s) })
	default:
		r.do(s)
	}
	r.takeOver(s.Stmt.Pos)
	return len(r.w.Sim.Failures()) == 0
}

// every does an action again and again.
func (r *run) every(s *lang.Step, at time.Duration) {
	if s.Until > 0 && at > s.Until {
		return
	}
	if r.firings[s]++; r.firings[s] > lang.FiringsMax { // vet knows only how long it is until a settle
		r.fail(Failure{Pos: s.Stmt.Pos, What: fmt.Sprintf("every %s comes more than %d times", s.Every, lang.FiringsMax), Saw: "no end of it; give it one with until, or let it come less often"})
		return
	}
	r.w.Sim.At(at, s.Name, func() {
		r.do(s)
		r.every(s, at+s.Every)
	})
}

// begin starts the clock: all that stands above was set-up.
func (r *run) begin() {
	r.begun = true
	r.w.Start()
}

// until lets the world live up to a virtual time, or until stop says so.
func (r *run) until(end time.Duration, stop func() bool) {
	for n := 0; ; n++ {
		if stop != nil && stop() {
			return
		}
		if r.opts.Beat != nil && n%beatEvery == 0 {
			r.opts.Beat(r.w.Sim.Steps(), r.lastEvent())
		}
		if !r.w.Sim.Step(end) {
			break
		}
	}
	r.w.Sim.RunUntil(end)
}

// settle heals all faults without an end of their own, and runs on until every wanted stage is
// done and nothing has come up while the world rested: a pass may find only then that a text is
// another, and the host has still to be told of what that made.
func (r *run) settle(s *lang.Step) {
	end := r.w.Sim.Elapsed() + s.Args.Duration("within")
	r.w.Heal(end)
	for ends := -1; ends != r.w.Recorder.Ends() || !r.settled(); {
		if !r.done(end) {
			r.props.Late(s.Args.Duration("within"))
			r.takeOver(s.Stmt.Pos)
			return
		}
		ends = r.w.Recorder.Ends()
		r.until(r.w.Sim.Elapsed()+atRest, nil)
		r.res.Rested += atRest
	}
	r.props.Rest()
	r.takeOver(s.Stmt.Pos)
}

// done runs on until nothing is left to do, or until the end.
func (r *run) done(end time.Duration) bool {
	moves, done := -1, false
	r.until(end, func() bool {
		if now := r.w.Recorder.Moves(); now != moves {
			moves, done = now, r.settled()
		}
		return done && !r.w.Recorder.Asking()
	})
	return r.settled()
}

// settled says whether nothing is left to do.
func (r *run) settled() bool {
	if r.w.Recorder.Asking() || len(r.w.OpenScopes()) > 0 {
		return false
	}
	for _, stage := range r.w.Recorder.Wanted() {
		if !r.w.Done(stage) {
			return false
		}
	}
	return true
}

// takeOver makes failures of what the properties and the world have found.
func (r *run) takeOver(pos syntax.Pos) {
	list := r.props.Violations()
	for _, v := range list[r.violations:] {
		r.res.Failures = append(r.res.Failures, Failure{Pos: pos, At: v.At, What: "property " + v.Property, Subject: v.Subject, Saw: v.Message, Events: v.Events})
		r.res.Outcome = Failed
	}
	r.violations = len(list)
	all := r.w.Sim.Failures()
	for _, f := range all[r.crashes:] {
		saw := f.Message
		if f.Stack != "" {
			saw += "\n" + strings.TrimSpace(f.Stack)
		}
		r.fail(Failure{Pos: pos, What: f.Kind + " in " + f.Process, Saw: saw})
	}
	r.crashes = len(all)
}

// finish closes the books of a run.
func (r *run) finish() {
	if !r.begun {
		r.begin()
	}
	r.props.End()
	r.takeOver(syntax.Pos{})
	for _, s := range r.unfired() {
		r.res.Unfired = append(r.res.Unfired, faultName(s))
		if r.strict {
			r.fail(Failure{Pos: s.Stmt.Pos, What: "replay strict: this call did not come", Saw: "the run has taken another way; the first recorded fault that misses is the one to look at"})
			r.strict = false
		}
	}
	for _, c := range r.w.Sim.Calls() {
		r.res.Calls += c.N
	}
	r.res.Virtual = r.w.Sim.Elapsed()
	r.res.Digest = r.w.Sim.Trace().Digest()
	r.res.Trace = r.w.Sim.Trace()
	if r.opts.Record {
		r.res.Record = r.record()
	}
}

// unfired are the faults none of whose rules hit anything.
func (r *run) unfired() (list []*lang.Step) {
	said := map[*lang.Step]bool{}
	for _, fx := range r.w.Sim.Fired() {
		said[r.faults[fx.Rule]] = true
	}
	for _, rule := range r.w.Sim.Unfired() {
		if s := r.faults[rule.ID]; !said[s] {
			said[s] = true
			list = append(list, s)
		}
	}
	return list
}

// faultName is a fault in a report: its line and its effect.
func faultName(s *lang.Step) string {
	name := fmt.Sprintf("line %d: %s", s.Stmt.Line, s.Effect.Name)
	if s.Args.Has("rate") {
		name += fmt.Sprintf(" rate=%.4g%%", 100*s.Args.Percent("rate"))
	}
	return name
}

func (r *run) lastEvent() string {
	if last := r.w.Sim.Trace().Last(1); len(last) == 1 {
		return last[0].String()
	}
	return ""
}
