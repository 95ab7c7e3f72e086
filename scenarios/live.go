package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
)

// LiveService is the service of one scenario, run for real by somebody else.
type LiveService interface {
	// Serve starts the replicas of the engine. All else serves from the beginning.
	Serve() error
	// Ask runs a client command of the engine, such as `request`, with its arguments.
	Ask(ctx context.Context, verb string, args ...string) error
	// SetWorkers gives the hub workers.
	SetWorkers(w wire.Workers) error
	// Client is a client of the service's own Redis.
	Client() redis.UniversalClient
	// DSN is that of its pointer store; "" if it has none.
	DSN() string
	// Tree is the directory of its artifacts, Books that of its manifests.
	Tree() string
	Books() string
	// Log is the file of what a process says, hub, e1, e2, …: lines of JSON, of every level.
	Log(process string) string
	// LiveJobs counts the jobs of a dispatch that the hub has queued or running.
	LiveJobs(dispatch string) (int, error)
	// Heard are the result events that the engine has told its host, as they were posted,
	// repeats included.
	Heard() [][]byte
	// Leftovers lists what is left of dispatches, in Redis and at the hub.
	Leftovers(ctx context.Context) ([]string, error)
	// Close ends it.
	Close() error
}

// LiveSpec is what a scenario says of its service before its clock starts.
type LiveSpec struct {
	Name      string // of the scenario's file
	Engines   int
	Versioned bool           // it has a pointer store
	Tick      time.Duration  // 0: the published one
	Window    int            // 0: none
	Slots     map[string]int // by stage, where they are not the published ones
}

// LivePlan says what becomes of a program in a live sweep.
type LivePlan struct {
	Program *lang.Program
	LeftOut string // why it is not run; "": it is
	Spec    LiveSpec
	takes   time.Duration // in a world
}

const (
	liveAtOnce  = 16              // most of a live run is waiting
	liveEngines = 2               // replicas, where a scenario does not say
	liveGrace   = 5 * time.Second // for what a world does at the instant itself
	liveTries   = 600             // of an order, one a second
)

// SweepLive runs what is planned on real services, in real time, and checks what it expects.
// It returns the exit status.
func SweepLive(plans []LivePlan, o Options, start func(LiveSpec) (LiveService, error)) int {
	began := time.Now()
	results := make([]*Result, len(plans))
	var all sync.WaitGroup
	var one sync.Mutex // for what is said on the way
	places := make(chan struct{}, liveAtOnce)
	for _, i := range liveOrder(plans) {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			results[i] = runLive(plans[i], start)
			one.Lock()
			defer one.Unlock()
			fmt.Fprintf(o.Stderr, "%s %s in %s\n", results[i].Outcome, results[i].File, round(results[i].Wall))
		})
	}
	all.Wait()
	rep := newReporter(o.Format, o.Stdout)
	sum := summary{live: true}
	for i, p := range plans {
		if p.LeftOut != "" {
			sum.leftOut++
			rep.leftOut(p.Program.File.Name, p.Program.Name, p.LeftOut)
		}
		if results[i] != nil {
			sum.add(results[i : i+1])
		}
	}
	for i, p := range plans {
		if results[i] != nil {
			rep.scenario(p.Program.File.Name, p.Program.Name, results[i:i+1])
		}
	}
	sum.wall = time.Since(began)
	rep.end(sum)
	if sum.runs == 0 {
		fmt.Fprintln(o.Stderr, "sim: no scenario of these can run live")
		return ExitUsage
	}
	return sum.status()
}

// liveOrder lists what is run, the longest first: so the last ones end together.
func liveOrder(plans []LivePlan) (order []int) {
	for i := range plans {
		if plans[i].LeftOut == "" {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(plans[b].takes, plans[a].takes) })
	return order
}

// liveRun is one scenario under way.
type liveRun struct {
	ctx     context.Context
	plan    LivePlan
	service LiveService
	shelf   *shelf
	witness *witness
	asks    asks
	res     *Result
	begun   bool          // the replicas run
	began   time.Time     // since when
	now     time.Duration // where in its time the scenario is; the clock may be ahead by what looking took
	due     []dueStep
}

// dueStep is a statement that waits for its time.
type dueStep struct {
	at   time.Duration
	step *lang.Step
}

// runLive runs a scenario once. A live run has no seed.
func runLive(plan LivePlan, start func(LiveSpec) (LiveService, error)) *Result {
	p := plan.Program
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := &liveRun{ctx: ctx, plan: plan, began: time.Now(),
		res: &Result{File: p.File.Name, Scenario: p.Name, Live: true, Outcome: Passed}}
	defer func() {
		r.res.Virtual = time.Since(r.began)
		r.res.Wall = r.res.Virtual
	}()
	var err error
	if r.service, err = start(plan.Spec); err != nil {
		r.broken("the service did not start", err)
		return r.res
	}
	defer func() {
		if err := r.service.Close(); err != nil {
			r.broken("the service did not end", err)
		}
	}()
	if r.shelf, err = newShelf(r.service, plan); err != nil {
		r.broken("the books do not stand", err)
		return r.res
	}
	defer r.shelf.close()
	r.witness = newWitness(r.service, r.shelf, plan.Spec)
	r.steps()
	for _, f := range r.asks.pending() {
		r.fail(f)
	}
	cancel()
	r.asks.all.Wait()
	return r.res
}

// steps does the statements in their order, unless the harness breaks.
func (r *liveRun) steps() {
	for i := range r.plan.Program.Steps {
		s := &r.plan.Program.Steps[i]
		if s.Verb.Phase == lang.Flow {
			r.begin()
		}
		switch {
		case r.res.Outcome == Broken:
			return
		case s.At != nil:
			r.due = append(r.due, dueStep{*s.At, s})
		case s.Every > 0:
			r.due = append(r.due, dueStep{r.now + s.Every, s})
		default:
			r.do(s)
		}
	}
	r.begin() // a scenario may only set up
}

// begin starts the replicas, and with them the clock.
func (r *liveRun) begin() {
	if r.begun {
		return
	}
	r.begun = true
	if err := r.service.Serve(); err != nil {
		r.broken("the replicas did not start", err)
	}
	r.began = time.Now()
}

func (r *liveRun) fail(f Failure) {
	f.At = time.Since(r.began)
	if said := r.witness.about(f.Subject); len(said) > 0 {
		f.Saw += "\nthe logs end with\n" + said
	}
	r.res.Failures = append(r.res.Failures, f)
	if r.res.Outcome == Passed {
		r.res.Outcome = Failed
	}
}

func (r *liveRun) broken(what string, err error) {
	r.res.Failures = append(r.res.Failures, Failure{At: time.Since(r.began), What: what, Saw: err.Error()})
	r.res.Outcome = Broken
}

// pass lets time pass, with what is due in it, up to a time of the scenario or until stop says
// so.
func (r *liveRun) pass(end time.Duration, stop func() bool) {
	for {
		for r.doNext() {
		}
		if stop != nil && stop() || time.Since(r.began) >= end {
			return
		}
		time.Sleep(min(50*time.Millisecond, max(0, end-time.Since(r.began))))
	}
}

// doNext does the statement that is due first, if its time has come.
func (r *liveRun) doNext() bool {
	slices.SortStableFunc(r.due, func(a, b dueStep) int { return cmp.Compare(a.at, b.at) })
	if len(r.due) == 0 || time.Since(r.began) < r.due[0].at {
		return false
	}
	d := r.due[0]
	r.due = r.due[1:]
	if next := d.at + d.step.Every; d.step.Every > 0 && (d.step.Until == 0 || next <= d.step.Until) {
		r.due = append(r.due, dueStep{next, d.step})
	}
	r.do(d.step)
	return true
}

// settle waits until every stage that was asked for is done, and nothing is left of the
// dispatches.
func (r *liveRun) settle(s *lang.Step) {
	saw, asked := "", time.Time{}
	r.pass(max(r.now, time.Since(r.began))+s.Args.Duration("within"), func() bool {
		if time.Since(asked) > 200*time.Millisecond { // it asks for much
			saw, asked = r.unsettled(), time.Now()
		}
		return saw == ""
	})
	r.now = time.Since(r.began)
	if saw != "" {
		r.fail(Failure{Pos: s.Stmt.Pos, What: "settle", Saw: saw})
	}
}

// unsettled says what is not done, or left; "" if nothing is.
func (r *liveRun) unsettled() string {
	for _, d := range r.due {
		if d.step.Every == 0 {
			return "statements that are not due yet"
		}
	}
	if asked := r.asks.pending(); len(asked) > 0 {
		return asked[0].What + ": " + asked[0].Saw
	}
	todo, err := r.shelf.todo(r.ctx)
	if err != nil {
		return err.Error()
	}
	if todo != "" {
		return todo
	}
	left, err := r.service.Leftovers(r.ctx)
	switch {
	case err != nil:
		return err.Error()
	case len(left) > 0:
		return "left: " + strings.Join(left, ", ")
	}
	return ""
}

// observe reads a metric. The errors of the client count as those of the engines do.
func (r *liveRun) observe(e *lang.Expect) ([]seen, error) {
	for _, trouble := range r.asks.news() {
		r.witness.tally.Add("api", trouble)
	}
	return r.witness.observe(r.ctx, e)
}

// expect looks, and again for a little while: what a world does at one instant takes time. It
// takes none of the scenario's time, unless that says `within`.
func (r *liveRun) expect(s *lang.Step) {
	var wrong []seen
	var err error
	within := s.Args.Duration("within")
	r.pass(max(r.now+within, time.Since(r.began)+liveGrace), func() bool {
		wrong = nil
		var all []seen
		if all, err = r.observe(s.Expect); err != nil {
			return false
		}
		for _, o := range all {
			if !s.Expect.Want.Holds(o.value) {
				wrong = append(wrong, o)
			}
		}
		return len(wrong) == 0
	})
	if within > 0 {
		r.now = max(r.now, time.Since(r.began))
	}
	what := "expect " + s.Expect.Metric.Name + " " + s.Expect.Want.String()
	if err != nil {
		r.fail(Failure{Pos: s.Stmt.Pos, What: what, Saw: err.Error()})
	}
	for _, o := range wrong {
		r.fail(Failure{Pos: s.Stmt.Pos, What: what, Subject: o.subject, Saw: o.value.String()})
	}
}
