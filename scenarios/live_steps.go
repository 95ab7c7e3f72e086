package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
	"github.com/animastor/orchestra/sim"
)

// do carries a statement out for real. Its cases are the verbs that notLive lets through.
func (r *liveRun) do(s *lang.Step) {
	var err error
	switch s.Verb.Name {
	case "book", "engines", "config", "property":
	case "workers":
		for _, w := range workersOf(s) {
			if err == nil {
				err = r.service.SetWorkers(w)
			}
		}
	case "preload":
		err = r.preload(s)
	case "evict":
		err = r.evict(s)
	case "lose":
		for _, t := range s.Args.Path("path").Targets {
			if err == nil {
				err = r.shelf.lose(r.ctx, t, s.Args.Names("units"))
			}
		}
	case "insert":
		for _, t := range s.Args.Path("path").Targets {
			if err == nil {
				err = r.shelf.insert(t.SceneID)
			}
		}
	case "edit":
		err = r.edit(s)
	case "clear":
		for _, t := range s.Args.Path("path").Targets {
			r.ask(s, t, append([]string{"deferrals"}, of(t)...)...)
		}
	case "reconcile":
		r.reconcile(s)
	case "show":
		err = r.show(s)
	case "request", "regenerate", "reset", "cancel", "delete":
		r.intent(s)
	case "run":
		r.now += s.Args.Duration("duration")
		r.pass(r.now, nil)
	case "settle":
		r.settle(s)
	case "expect":
		r.expect(s)
	default:
		panic("scenarios: notLive lets the verb " + s.Verb.Name + " through, which does nothing; add it to do")
	}
	if err != nil {
		r.broken(fmt.Sprintf("line %d: %s", s.Stmt.Line, s.Verb.Name), err)
	}
}

// intent asks for every target of a path.
func (r *liveRun) intent(s *lang.Step) {
	for _, t := range s.Args.Path("path").Targets {
		args := of(t)
		if s.Verb.Name == "request" && s.Args.YesNo("force") {
			args = append([]string{"--force"}, args...)
		}
		r.ask(s, t, args...)
	}
}

// of names a target on the command line.
func of(t ports.StageID) (args []string) {
	for _, part := range [...][2]string{{"chapter", t.Chapter}, {"scene", t.Scene}, {"stage", t.Stage}} {
		if part[1] != "" {
			args = append(args, "--"+part[0]+"="+part[1])
		}
	}
	return append(args, "--", t.Book)
}

// edit changes the manifest, and tells the engine of it if units are named, as the client of
// a world does.
func (r *liveRun) edit(s *lang.Step) error {
	for _, t := range s.Args.Path("path").Targets {
		e := editOf(t.SceneID, s)
		if err := r.shelf.edit(e); err != nil {
			return err
		}
		if len(e.Units) == 0 {
			continue
		}
		args := of(t)
		if r.plan.Spec.Versioned {
			var units []string
			for _, unit := range e.Units {
				units = append(units, strings.ReplaceAll(unit, ",", `\,`))
			}
			args = append([]string{"--units=" + strings.Join(units, ",")}, args...)
		}
		r.ask(s, t, args...)
	}
	return nil
}

// reconcile has a pass made. One that is suspicious is an answer: asked again it would agree
// with itself.
func (r *liveRun) reconcile(s *lang.Step) {
	var args []string
	if s.Args.YesNo("force") {
		args = append(args, "--force")
	}
	r.insist(s, "", func() error {
		err := r.service.Ask(r.ctx, "reconcile", args...)
		if err != nil && strings.Contains(err.Error(), "Conflict: suspicious") {
			return nil
		}
		return err
	})
}

// ask runs a client command about a target.
func (r *liveRun) ask(s *lang.Step, about ports.StageID, args ...string) {
	r.insist(s, about.String(), func() error { return r.service.Ask(r.ctx, s.Verb.Name, args...) })
}

// insist does something until it succeeds, as the client of a world does: what fails at first
// goes on beside the scenario.
func (r *liveRun) insist(s *lang.Step, about string, do func() error) {
	r.begin()
	err := do()
	if err == nil {
		return
	}
	a := r.asks.begin(Failure{Pos: s.Stmt.Pos, What: s.Verb.Name, Subject: about})
	r.asks.failed(a, err)
	r.asks.all.Go(func() {
		for range liveTries {
			select {
			case <-r.ctx.Done():
				return
			case <-time.After(time.Second):
			}
			if err := do(); err == nil {
				r.asks.end(a)
				return
			} else {
				r.asks.failed(a, err)
			}
		}
	})
}

// asks are the orders of the client that are not through yet.
type asks struct {
	all      sync.WaitGroup
	one      sync.Mutex
	open     []*Failure // what each would be if it never comes through
	troubles []ports.Trouble
}

func (a *asks) begin(f Failure) *Failure {
	a.one.Lock()
	defer a.one.Unlock()
	a.open = append(a.open, &f)
	return &f
}

// failed notes that an order failed once more.
func (a *asks) failed(f *Failure, err error) {
	a.one.Lock()
	defer a.one.Unlock()
	f.Saw = "it is still asked for: " + err.Error()
	a.troubles = append(a.troubles, ports.Trouble{Op: f.What, Err: err})
}

func (a *asks) end(f *Failure) {
	a.one.Lock()
	defer a.one.Unlock()
	a.open = slices.DeleteFunc(a.open, func(o *Failure) bool { return o == f })
}

// pending are the orders that are not through, as the failures that they would be.
func (a *asks) pending() (list []Failure) {
	a.one.Lock()
	defer a.one.Unlock()
	for _, f := range a.open {
		list = append(list, *f)
	}
	return list
}

// news are the errors of orders since it was called last.
func (a *asks) news() []ports.Trouble {
	a.one.Lock()
	defer a.one.Unlock()
	list := a.troubles
	a.troubles = nil
	return list
}

// preload writes a raw value, as that of a world does.
func (r *liveRun) preload(s *lang.Step) error {
	db, key, kind := r.service.Client(), s.Args.Text("key"), s.Args.Text("type")
	held, err := db.Type(r.ctx, key).Result()
	if err != nil {
		return err
	}
	if held != kind {
		err = db.Del(r.ctx, key).Err() // as in a world
	}
	switch values := s.Args.Texts("value"); {
	case err != nil:
	case kind == "string":
		err = db.Set(r.ctx, key, values[0], 0).Err()
	case kind == "set":
		err = db.SAdd(r.ctx, key, values).Err()
	}
	for _, f := range s.Args.Fields() {
		switch {
		case err != nil:
		case kind == "hash":
			err = db.HSet(r.ctx, key, f.Name, f.Value).Err()
		case kind == "zset":
			score, _ := strconv.ParseFloat(f.Value, 64) // vetted
			err = db.ZAdd(r.ctx, key, redis.Z{Score: score, Member: f.Name}).Err()
		}
	}
	if err == nil && s.Args.Has("ttl") {
		err = db.PExpire(r.ctx, key, s.Args.Duration("ttl")).Err()
	}
	return err
}

// evict removes keys, as that of a world does.
func (r *liveRun) evict(s *lang.Step) error {
	db := r.service.Client()
	if !s.Args.Has("service") {
		return db.Del(r.ctx, s.Args.Text("key")).Err()
	}
	family := s.Args.Text("family")
	for _, t := range s.Args.Path("key").Targets {
		dispatch := ""
		if family == "dispatch-jobs" { // only its key has a dispatch in it
			var err error
			dispatch, err = db.HGet(r.ctx, keys.AssetState(t.SceneID), t.Stage+".dispatch").Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				return err
			}
		}
		if key := wire.KeyOf(family, t, dispatch); key != "" {
			if err := db.Del(r.ctx, key).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// show prints a metric; or sees that no key matches, where a golden block says so.
func (r *liveRun) show(s *lang.Step) error {
	if s.Expect == nil {
		return r.showNone(s)
	}
	all, err := r.observe(s.Expect)
	for _, o := range all {
		r.res.Shown = append(r.res.Shown, o.line(s.Expect.Metric.Name))
	}
	return err
}

// showNone looks for keys that should not be there, for as long as an expectation would.
func (r *liveRun) showNone(s *lang.Step) (err error) {
	var found []string
	r.pass(time.Since(r.began)+liveGrace, func() bool {
		found = nil
		keys := r.service.Client().Scan(r.ctx, 0, "*", 1000).Iterator()
		for keys.Next(r.ctx) {
			if sim.Glob(cmp.Or(s.Args.Text("glob"), "*"), keys.Val()) {
				found = append(found, keys.Val())
			}
		}
		err = keys.Err()
		return err == nil && len(found) == 0
	})
	if len(found) > 0 {
		r.fail(Failure{Pos: s.Stmt.Golden.Pos, What: "the golden block is empty", Saw: strings.Join(found, "\n")})
	}
	return err
}

// worldOnly are the verbs of which only a world knows the meaning, and what they are.
var worldOnly = map[string]string{
	"fault": "it has faults", "heal": "it has faults", "crash": "it crashes a process", "restart": "it crashes a process",
	"pause": "it pauses a process", "clock": "it sets a clock off", "latency": "it says how long calls take",
	"failover": "it loses writes of Redis", "replay": "it replays a run call by call", "hub": "it changes the ways of the hub",
}

// notLive says what keeps a scenario from a live run, or "": first what it does to its world,
// then what it needs to be set or seen.
func notLive(p *lang.Program) string {
	for i := range p.Steps {
		if why := worldOnly[p.Steps[i].Verb.Name]; why != "" {
			return why
		}
	}
	for i := range p.Steps {
		if why := stepNotLive(&p.Steps[i]); why != "" {
			return why
		}
	}
	return ""
}

func stepNotLive(s *lang.Step) string {
	switch {
	case s.Verb.Name == "config":
		for _, setting := range s.Args.Given() {
			if !slices.Contains(liveSettings, setting) && !strings.HasPrefix(setting, "slots.") {
				return "it sets " + setting + ", which orchestra serve does not"
			}
		}
	case s.Verb.Name == "show" && s.Args.Text("what") == "redis" && s.Stmt.Golden != nil && len(s.Stmt.Golden.Lines) == 0:
		return "" // there are no such keys, with any seed
	case s.Verb.Name == "show" && (s.Expect == nil || s.Stmt.Golden != nil):
		return "it shows a trace, or what one seed gives"
	case s.Verb.Name == "preload" && worldInstant.MatchString(s.Stmt.String()):
		return "it preloads an instant of a world's clock"
	case s.Expect != nil:
		return metricNotLive(s.Expect)
	}
	return ""
}

// worldInstant is an instant of the first days of a world (sim.Epoch), in ms.
var worldInstant = regexp.MustCompile(`\b1767[0-9]{9}\b`)

// liveSettings are the settings of `config` that `orchestra serve` has, beside the slots.
var liveSettings = []string{"tick", "versioned", "window"}

// unseen are the metrics that only a world shows.
var unseen = []string{"timed", "counter"}

func metricNotLive(e *lang.Expect) string {
	if slices.Contains(unseen, e.Metric.Name) {
		return "it asks for " + e.Metric.Name + ", which a live run does not read"
	}
	if e.Metric.Name == "calls" && !strings.HasPrefix(e.Subject, hubCalls) {
		return "it counts calls that only a world sees"
	}
	return ""
}
