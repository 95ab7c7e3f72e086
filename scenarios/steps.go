package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/properties"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
	"github.com/animastor/orchestra/sim"
)

// build makes the world of a program: what must be known before anything else is.
func (r *run) build(seed uint64) {
	o := wire.Options{Seed: seed, Lua: r.opts.Lua, Twins: r.opts.Twins, Keep: r.opts.Keep, Engines: 1, Latency: wire.DefaultLatency()}
	for i := range r.prog.Steps {
		s := &r.prog.Steps[i]
		switch s.Verb.Name {
		case "engines":
			o.Engines = int(s.Args.Count("count"))
		case "latency":
			latency(s, o.Latency)
		case "config":
			o.Config = configure(s, o.Config)
		case "replay":
			r.strict = true
		case "failover":
			o.Undo = lang.FailoverMax
		}
	}
	r.faults, r.firings = map[string]*lang.Step{}, map[*lang.Step]int{}
	r.w = wire.New(o)
	r.props = properties.New(r.w.View())
	r.w.Sim.Trace().Watch(r.props.Event)
	r.w.Redis.OnWrite(r.props.Write)
}

// latency changes what calls take.
func latency(s *lang.Step, l map[string]sim.Latency) {
	if s.Args.Has("none") {
		clear(l)
		return
	}
	for _, service := range s.Args.Given() {
		d := s.Args.DurationRange(service)
		l[service] = sim.Latency{Min: d.Min, Max: d.Max}
	}
}

// configure changes settings of the engine.
func configure(s *lang.Step, c engine.Config) engine.Config {
	if s.Args.Has("tick") {
		c.Tick = s.Args.Duration("tick")
	}
	if s.Args.Has("versioned") {
		c.Versioned = s.Args.YesNo("versioned")
	}
	if s.Args.Has("window") {
		c.Window = int(s.Args.Count("window"))
	}
	profiles := map[string]asset.Profile{}
	for _, p := range asset.Profiles() {
		if before, ok := c.Profiles[p.Stage]; ok {
			p = before
		}
		adjust(&p, s.Args)
		profiles[p.Stage] = p
	}
	c.Profiles = profiles
	return c
}

// adjust changes the limits of one stage.
func adjust(p *asset.Profile, a lang.Args) {
	count := func(key string, to *int) {
		if key += "." + p.Stage; a.Has(key) {
			*to = int(a.Count(key))
		}
	}
	period := func(key string, to *time.Duration) {
		if key += "." + p.Stage; a.Has(key) {
			*to = a.Duration(key)
		}
	}
	if a.Has("renew") {
		p.RenewEvery = a.Duration("renew")
	}
	count("slots", &p.Slots)
	period("lease", &p.Lease)
	p.RenewedLease = p.Lease + 180*time.Second
	count("budget", &p.RetryBudget)
	period("refill", &p.RefillEvery)
	count("trip", &p.Breaker.Trip)
	period("window", &p.Breaker.Window)
	period("cooldown", &p.Breaker.CoolDown)
	count("permits", &p.Breaker.Permits)
}

// do carries a statement out. The cases are all verbs but those that build has
// read; each is shown by `sim help VERB`.
func (r *run) do(s *lang.Step) {
	switch s.Verb.Name {
	case "engines", "latency", "config", "replay":
	case "book":
		r.book(s)
	case "workers":
		for _, w := range workersOf(s) {
			r.w.SetWorkers(w)
		}
	case "hub":
		r.hub(s)
	case "preload":
		r.preload(s)
	case "request", "regenerate", "reset", "cancel", "delete":
		r.intent(s)
	case "clear":
		for _, t := range s.Args.Path("path").Targets {
			r.w.ClearDeferrals(t.SceneID)
		}
	case "edit":
		for _, t := range s.Args.Path("path").Targets {
			r.w.Edit(editOf(t.SceneID, s))
		}
	case "lose":
		r.lose(s)
	case "reconcile":
		r.w.Reconcile(s.Args.YesNo("force"))
	case "insert":
		for _, t := range s.Args.Path("path").Targets {
			r.w.Insert(t.SceneID)
		}
	case "fault":
		r.fault(s)
	case "evict":
		r.evict(s)
	case "failover":
		r.w.Redis.Failover(int(s.Args.Count("lose")))
	case "crash":
		r.crash(s)
	case "restart":
		r.w.Restart(s.Args.Text("process"))
	case "pause":
		r.w.Pause(s.Args.Text("process"), s.Args.Duration("for"))
	case "clock":
		r.w.SetClock(s.Args.Text("process"), s.Args.Duration("offset"))
	case "heal":
		r.heal(s)
	case "property":
		r.property(s)
	case "run":
		r.until(r.w.Sim.Elapsed()+s.Args.Duration("duration"), nil)
	case "settle":
		r.settle(s)
	case "expect":
		r.expect(s)
	case "show":
		r.show(s)
	default:
		panic("scenarios: the verb " + s.Verb.Name + " is registered and does nothing; add it to do")
	}
}

func (r *run) book(s *lang.Step) {
	for _, b := range r.prog.Books {
		if b.ID == s.Args.Text("id") {
			r.w.AddBook(wire.Book(b))
		}
	}
}

// editOf is what an edit does to a scene.
func editOf(id ports.SceneID, s *lang.Step) wire.Edit {
	count := func(key string) int {
		if s.Args.Has(key) {
			return int(s.Args.Count(key))
		}
		return -1
	}
	return wire.Edit{Scene: id, Units: s.Args.Names("units"), Same: s.Args.YesNo("same"), Layers: s.Args.Names("layers"), Segments: count("segments"), Groups: count("groups")}
}

// lose takes the files of stages away.
func (r *run) lose(s *lang.Step) {
	for _, t := range s.Args.Path("path").Targets {
		r.w.Lose(t, s.Args.Names("units"))
	}
}

// workersOf are the workers of each type that a statement names.
func workersOf(s *lang.Step) (list []wire.Workers) {
	d := s.Args.DurationRange("job")
	w := wire.Workers{JobMin: d.Min, JobMax: d.Max, Workspace: s.Args.Text("workspace"), Shared: s.Args.Duration("shared")}
	for _, stage := range asset.Stages() {
		if s.Args.Has(stage) {
			w.Kind, w.N = stage, int(s.Args.Count(stage))
			list = append(list, w)
		}
	}
	return list
}

func (r *run) hub(s *lang.Step) {
	o := hub.Options{NoFences: !s.Args.YesNo("fences")}
	o.Scope = map[string]hub.Scope{"echo": hub.ScopeEcho, "absent": hub.ScopeAbsent, "foreign": hub.ScopeForeign}[s.Args.Text("scope")]
	if n := s.Args.Count("capacity"); n < math.MaxInt32 {
		o.Capacity = int(n)
	}
	r.w.SetHub(o)
}

func (r *run) preload(s *lang.Step) {
	key, db := s.Args.Text("key"), r.w.Redis.DB()
	values := s.Args.Texts("value")
	if held := r.w.Redis.Peek().Type(key); held != s.Args.Text("type") {
		db.Del(key) // an operator who writes a value of another type has removed the old one
	}
	switch s.Args.Text("type") {
	case "string":
		db.Set(key, values[0])
	case "set":
		db.SAdd(key, values...)
	case "hash":
		for _, f := range s.Args.Fields() {
			db.HSet(key, f.Name, f.Value)
		}
	case "zset":
		for _, f := range s.Args.Fields() {
			score, _ := strconv.ParseFloat(f.Value, 64) // vetted
			db.ZAdd(key, score, f.Name)
		}
	}
	if s.Args.Has("ttl") {
		db.PExpire(key, s.Args.Duration("ttl").Milliseconds())
	}
	r.w.Sim.Emit(sim.Event{Kind: "preload", Subject: key})
	r.props.Reload()
}

// intent asks for every target of a path, as one client would.
func (r *run) intent(s *lang.Step) {
	path := s.Args.Path("path")
	force := s.Verb.Name == "request" && s.Args.YesNo("force")
	for _, t := range path.Targets {
		r.w.Ask(s.Verb.Name, engine.Target{Book: t.Book, Chapter: t.Chapter, Scene: t.Scene, Stage: t.Stage, Force: force})
	}
}

// fault adds a rule to the fault plan.
func (r *run) fault(s *lang.Step) {
	a := s.Args
	id := s.Name
	if n := r.firings[s]; n > 1 {
		id = fmt.Sprintf("%s, again %d", s.Name, n)
	}
	r.faults[id] = s
	rule := sim.Rule{ID: id, Effect: s.Effect.Name, Param: s.Param(), Delay: a.Duration("delay"), After: a.Text("when") == "after",
		Rate: a.Percent("rate"), Count: int(a.Count("count")), From: r.w.Sim.Elapsed(), Match: matcher(a, s.Effect)}
	if a.Has("nth") {
		n := a.CountRange("nth")
		rule.NthMin = int(n.Min)
		if n.Max < math.MaxInt32 {
			rule.NthMax = int(n.Max)
		}
	}
	if a.Has("call") {
		rule.Count = 1 // a name comes once
	}
	switch {
	case a.Has("for"):
		rule.Until = rule.From + a.Duration("for")
	case a.Has("until"):
		rule.Until = a.Duration("until")
	}
	r.w.Sim.Inject(rule)
}

// matcher says which calls a fault is about: never one that its effect means nothing to.
func matcher(a lang.Args, effect *lang.FaultEffect) func(sim.CallName) bool {
	if a.Has("call") {
		name := a.Text("call")
		return func(n sim.CallName) bool { return n.String() == name }
	}
	service, verb, subject, on := a.Text("service"), a.Text("verb"), a.Text("subject"), a.Text("on")
	return func(n sim.CallName) bool {
		return n.Service == service && effect.Hits(n.Verb) && (verb == "" || sim.Glob(verb, n.Verb)) && (subject == "" || sim.Glob(subject, n.Subject)) &&
			(on == "" || n.Process() == on || strings.HasPrefix(n.Process(), on+"."))
	}
}

func (r *run) evict(s *lang.Step) {
	if !s.Args.Has("service") {
		r.w.Evict(s.Args.Text("key"))
		return
	}
	for _, t := range s.Args.Path("key").Targets {
		if key := r.w.KeyOf(s.Args.Text("family"), t); key != "" {
			r.w.Evict(key)
		}
	}
}

func (r *run) crash(s *lang.Step) {
	name := s.Args.Text("process")
	r.w.Crash(name)
	if s.Args.Has("for") {
		r.w.Sim.At(r.w.Sim.Elapsed()+s.Args.Duration("for"), "restart/"+name, func() { r.w.Restart(name) })
	}
}

func (r *run) heal(s *lang.Step) {
	if !s.Args.Has("service") {
		r.w.Sim.Heal(nil)
		return
	}
	service := s.Args.Text("service")
	r.w.Sim.Heal(func(rule sim.Rule) bool {
		f := r.faults[rule.ID]
		return f != nil && f.Args.Text("service") == service
	})
}

func (r *run) property(s *lang.Step) {
	if s.Args.Text("switch") == "off" {
		r.props.Off(s.Args.Text("id"), s.Args.Text("reason"))
	} else {
		r.props.On(s.Args.Text("id"))
	}
}
