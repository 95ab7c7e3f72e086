package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/callbacks"
	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/fakes/pointers"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// hubURL is where the hub of every world is. No name is resolved, no socket opened.
const (
	hubURL = "http://hub.invalid"
	hubKey = "k"
)

// Options are the settings of a World.
type Options struct {
	Seed    uint64
	Lua     bool                        // run the scripts themselves instead of their twins
	Twins   func(map[string]redis.Twin) // may change them: what a defect would do; nil: nothing
	Keep    int                         // events of the trace to hold on to; 0: all
	Undo    int                         // calls to Redis that a failover can lose at most
	Engines int
	Config  engine.Config
	Latency map[string]sim.Latency // nil: DefaultLatency
	Hub     hub.Options
}

// DefaultLatency is what calls take unless a scenario says otherwise (design 3).
func DefaultLatency() map[string]sim.Latency {
	ms := time.Millisecond
	return map[string]sim.Latency{
		"redis":     {Min: 50 * time.Microsecond, Max: 2 * ms},
		"hub":       {Min: ms, Max: 30 * ms},
		"content":   {Min: ms, Max: 20 * ms},
		"artifacts": {Min: ms, Max: 20 * ms},
		"callback":  {Min: ms, Max: time.Second},
		"media":     {Min: 100 * ms, Max: 2 * time.Second},
		"consumer":  {Min: ms, Max: 100 * ms},
		"pg":        {Min: ms, Max: 20 * ms},
	}
}

// World is a simulation of the whole service: replicas `e1`, `e2`, … of the engine,
// a client `api` that asks for work, a hub, its workers, Redis, the content and the
// artifact tree.
type World struct {
	Sim       *sim.World
	Redis     *redis.Server
	Hub       *hub.Hub
	Content   *content.Books
	Artifacts *artifacts.Store
	Pointers  *pointers.Store // used with Config.Versioned
	Callbacks *callbacks.Queue
	Consumer  *consumer.Consumer
	Recorder  *Recorder

	opts      Options
	hubProc   *sim.Process
	api       *replica
	engines   []*replica
	pools     map[string]*workers.Pool
	closed    bool
	disturbed map[ports.SceneID]time.Duration // when content or files of a scene were changed by hand
	later     []ports.Scene                   // that come into their books with Insert
	files     map[string]string               // what a path of the artifact tree is about, as jobs are named
}

// replica is one process that runs the engine's code.
type replica struct {
	p      *sim.Process
	engine *engine.Engine
}

// New builds a world at rest: Start begins its life.
func New(o Options) *World {
	if o.Latency == nil {
		o.Latency = DefaultLatency()
	}
	if o.Config.Tick == 0 {
		o.Config.Tick = 5 * time.Second
	}
	s := sim.New(sim.Options{Seed: o.Seed, Latency: o.Latency, Keep: o.Keep})
	o.Hub.APIKey = hubKey
	w := &World{Sim: s, opts: o, hubProc: s.Process("hub"), pools: map[string]*workers.Pool{}, disturbed: map[ports.SceneID]time.Duration{}, files: map[string]string{}}
	w.Redis = redis.New(s, redis.Options{Scripts: scripts(o.Twins), Lua: o.Lua, Subject: subject, Undo: o.Undo})
	w.Hub = hub.New(s, w.hubProc, o.Hub)
	w.Content = content.New(s)
	w.Artifacts = artifacts.New(s, w.pathName)
	w.Pointers = pointers.New(s)
	w.Callbacks = callbacks.New(s, w.hubProc)
	w.Consumer = consumer.New(s)
	w.Hub.OnResult = w.Callbacks.Push
	w.Recorder = newRecorder(w)
	w.api = w.replica("api")
	for i := range o.Engines {
		r := w.replica(fmt.Sprintf("e%d", i+1))
		w.engines = append(w.engines, r)
		w.Callbacks.Register(r.p.Name(), r.p.Alive, func(result ports.JobResult) { w.deliver(r, result) })
	}
	return w
}

// Start begins the life of the engines; one that has crashed before waits for its
// restart.
func (w *World) Start() {
	for _, r := range w.engines {
		if r.p.Alive() {
			w.run(r)
		}
	}
}

// Close ends every task of the world.
func (w *World) Close() {
	w.closed = true
	w.Sim.Close()
}

// replica makes a process with the engine's code in it.
func (w *World) replica(name string) *replica {
	r := &replica{p: w.Sim.Process(name)}
	w.build(r)
	return r
}

// build makes the engine of the current incarnation, with connections of its own.
func (w *World) build(r *replica) {
	rt, merger := fakes.Runtime{Process: r.p}, media.New(w.Sim, w.Artifacts)
	var published ports.Pointers
	if w.opts.Config.Versioned {
		published = w.Pointers
	}
	r.engine = engine.New(w.opts.Config, engine.Deps{
		Runtime:   rt,
		Redis:     w.Redis.Client(r.p),
		Hub:       httphub.New(rt, httphub.Options{BaseURL: hubURL, APIKey: hubKey, Client: &http.Client{Transport: w.Hub.Transport(r.p)}}),
		Content:   w.Content,
		Artifacts: w.Artifacts,
		Media:     merger,
		Pointers:  published,
		Observer:  observer{w.Sim},

		Placeholders: merger,
		Consumer:     w.Consumer,
		Timings:      w.Content,
	})
}

func (w *World) run(r *replica) {
	e := r.engine
	r.p.Go(r.p.Context(), "engine", e.Run)
}

// deliver hands a result to a replica: the hub does not wait for what it leads to.
func (w *World) deliver(r *replica, result ports.JobResult) {
	e := r.engine
	r.p.Go(r.p.Context(), "callback", func(ctx context.Context) {
		if err := e.Complete(ctx, result); err != nil {
			observer{w.Sim}.Observe(ports.Trouble{Scene: result.StageID().SceneID, Op: "complete", Err: err})
		}
	})
}

// Workers are GPU workers that are all alike.
type Workers struct {
	Kind           string // the stage that they work for
	N              int
	JobMin, JobMax time.Duration // how long their jobs take
	Workspace      string        // whose private ones they are; "": the system's
	Shared         time.Duration // for how long from now on everybody may use private ones
}

// SetWorkers says how many workers of a type and workspace live, and how long their
// jobs take from now on. Of processes that it starts again the old work is forgotten.
func (w *World) SetWorkers(s Workers) {
	name := s.Kind + " " + s.Workspace
	pool, ok := w.pools[name]
	if !ok {
		pool = workers.Start(w.Sim, w.Artifacts, workers.Spec{Type: s.Kind, Workspace: s.Workspace, APIKey: hubKey, Hub: w.Hub.Transport})
		w.pools[name] = pool
	}
	pool.SetJobTime(s.JobMin, s.JobMax)
	pool.Share(0)
	if s.Shared > 0 {
		pool.Share(w.hubProc.Now().Add(s.Shared).UnixMilli())
	}
	pool.Resize(s.N)
}

// SetHub changes the ways of the hub.
func (w *World) SetHub(o hub.Options) {
	w.opts.Hub = o
	w.Hub.Set(o)
}

// replicas are all processes that run the engine's code.
func (w *World) replicas() []*replica { return append(slices.Clone(w.engines), w.api) }

// process finds a process by name: e1, hub, image-1.
func (w *World) process(name string) (*sim.Process, *replica) {
	for _, r := range w.replicas() {
		if r.p.Name() == name {
			return r.p, r
		}
	}
	return w.Sim.Process(name), nil
}

// Crash kills a process.
func (w *World) Crash(name string) {
	p, _ := w.process(name)
	p.Crash()
}

// Restart starts a process anew, with what its start-up does.
func (w *World) Restart(name string) {
	p, r := w.process(name)
	if r != nil {
		p.Restart()
		w.build(r)
		if r != w.api {
			w.run(r)
		}
		return
	}
	if p == w.hubProc {
		p.Restart()
		w.Hub.Restart()
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(w.pools)) {
		if pool := w.pools[kind]; slices.Contains(pool.Processes(), p) {
			pool.Restart(p)
		}
	}
}

// Pause stops a process in its tracks for d.
func (w *World) Pause(name string, d time.Duration) {
	p, _ := w.process(name)
	p.Pause()
	life := p.Incarnation()
	w.Sim.At(w.Sim.Elapsed()+d, "resume/"+name, func() {
		if p.Incarnation() == life {
			p.Resume()
		}
	})
}

// SetClock sets how far the clock of a process is ahead.
func (w *World) SetClock(name string, offset time.Duration) {
	p, _ := w.process(name)
	p.SetOffset(offset)
}

// Evict removes keys from Redis, as memory pressure does.
func (w *World) Evict(list ...string) {
	for _, key := range list {
		w.Redis.Evict(key)
	}
}

// Heal ends every fault that would go on without end, and the ways of the hub that
// are faults; processes that are down or paused come back. A rule with an end of
// its own (a time before deadline, a count, an n-th call) runs out by itself.
func (w *World) Heal(deadline time.Duration) {
	w.Sim.Heal(func(r sim.Rule) bool {
		return r.Count == 0 && r.NthMax == 0 && (r.Until == 0 || r.Until >= deadline)
	})
	w.SetHub(hub.Options{NoFences: w.opts.Hub.NoFences})
	for _, r := range w.replicas() {
		r.p.Resume()
		if !r.p.Alive() {
			w.Restart(r.p.Name())
		}
	}
	w.hubProc.Resume()
	if !w.hubProc.Alive() {
		w.Restart("hub")
	}
	for _, kind := range slices.Sorted(maps.Keys(w.pools)) {
		pool := w.pools[kind]
		for _, p := range pool.Processes() {
			p.Resume()
			if !p.Alive() {
				pool.Restart(p)
			}
		}
	}
}

// Ask lets the client ask the engine for something, and insist until it is done.
func (w *World) Ask(op string, t engine.Target) {
	w.insist(op, func(ctx context.Context, e *engine.Engine) error {
		var err error
		switch op {
		case "request":
			_, err = e.Request(ctx, t)
		case "regenerate":
			_, err = e.Regenerate(ctx, t)
		case "reset":
			_, err = e.Reset(ctx, t)
		case "cancel":
			_, err = e.Cancel(ctx, t)
		case "delete":
			_, err = e.Delete(ctx, t)
		default:
			panic("wire: the client cannot ask for " + op)
		}
		if err == nil && (op == "cancel" || op == "delete") {
			w.Recorder.stopped(t)
		}
		return err
	})
}

// Edit raises the version of a scene's content, and of the units named, and changes the
// number of its segments or groups, unless it is negative. If units are named, the client
// then tells the engine, as who edits has to.
func (w *World) Edit(e Edit) {
	w.edit(e)
	if len(e.Units) == 0 {
		return
	}
	t := engine.Target{Book: e.Scene.Book, Chapter: e.Scene.Chapter, Scene: e.Scene.Scene}
	marked := e.Units
	if !w.opts.Config.Versioned {
		marked = nil
	}
	w.insist("edit", func(ctx context.Context, en *engine.Engine) error {
		_, err := en.Edit(ctx, t, marked...)
		return err
	})
}

// Reconcile lets the client make a pass, forced or not, until one ends that did not wait
// for another's lock.
func (w *World) Reconcile(forced bool) {
	w.insist("reconcile", func(ctx context.Context, e *engine.Engine) error {
		pass := e.Reconcile
		if forced {
			pass = e.ForceReconcile
		}
		_, err := pass(ctx)
		if errors.Is(err, engine.ErrPassSuspicious) {
			return nil // asked again it would agree with itself
		}
		return err
	})
}

// ClearDeferrals clears the backoff windows of a book, or of one scene of it.
func (w *World) ClearDeferrals(s ports.SceneID) {
	w.insist("clear", func(ctx context.Context, e *engine.Engine) (err error) {
		if s.Scene == "" {
			_, err = e.ClearDeferralsForBook(ctx, s.Book)
		} else {
			_, err = e.ClearDeferralsForScene(ctx, s)
		}
		return err
	})
}

// insist does something in a task of the client until it succeeds, through crashes
// of the client, which starts again a second later, and for 600 tries at most.
func (w *World) insist(name string, do func(context.Context, *engine.Engine) error) {
	w.Recorder.asking++
	tries := 0
	w.attend(name, func(ctx context.Context) {
		for ; tries < 600; tries++ {
			err := do(ctx, w.api.engine)
			if err == nil {
				break
			}
			observer{w.Sim}.Observe(ports.Trouble{Op: name, Err: err})
			if w.api.p.Sleep(ctx, time.Second) != nil {
				return
			}
		}
		w.Recorder.asking--
	})
}

// attend runs a task of the client, and again after each crash, until it returns.
func (w *World) attend(name string, task func(context.Context)) {
	if !w.api.p.Alive() {
		w.Restart(w.api.p.Name())
	}
	done := false
	w.api.p.Go(w.api.p.Context(), name, func(ctx context.Context) {
		defer func() {
			if !done && !w.closed {
				w.Sim.At(w.Sim.Elapsed()+time.Second, "client/"+name, func() { w.attend(name, task) })
			}
		}()
		task(ctx)
		done = true
	})
}

// scripts are the engine's scripts with their twins, after change has seen to them.
func scripts(change func(map[string]redis.Twin)) []redis.Script {
	twins := Twins()
	if change != nil {
		change(twins)
	}
	var out []redis.Script
	for _, s := range store.Scripts() {
		twin, ok := twins[s.Name]
		if !ok {
			panic("wire: the script " + s.Name + " has no twin; write one in twins.go")
		}
		out = append(out, redis.Script{Name: s.Name, SHA: s.SHA, Source: s.Source, Twin: twin})
	}
	return out
}

// subject is what a Redis command is about: the first of its keys that says.
func subject(_ string, names []string) string {
	for _, k := range names {
		if s := keys.Subject(k); s != "" {
			return s
		}
	}
	return ""
}
