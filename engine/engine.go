package engine

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/deliver"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/metrics"
	"github.com/animastor/orchestra/engine/reconcile"
	"github.com/animastor/orchestra/engine/schedule"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/engine/window"
	"github.com/animastor/orchestra/ports"
)

// Config are the settings of an engine. The zero value is the published one.
type Config struct {
	Tick   time.Duration // between two ticks; 0: 5 s
	Outbox time.Duration // between two drains of the outbox; 0: 5 s
	// Reconcile is the time between two passes, to which each process adds up to 5 s
	// of its own; 0: 60 s.
	Reconcile time.Duration
	// Window is how many scenes of a book may be under way at once for what was asked of it;
	// 0: all.
	Window int
	// Versioned says that pictures are published in the pointer store, and that their
	// dirty marks, the stamps of accepted versions and the tombstones of books stand there.
	// Without it the store is never called.
	Versioned bool
	// Profiles replaces the limits of a stage, by name.
	Profiles map[string]asset.Profile
}

// Deps are the parts of the world that an engine needs. All are required, but for the last
// three, and Pointers without Config.Versioned.
type Deps struct {
	Runtime   ports.Runtime
	Redis     redis.UniversalClient // the engine's own: it gets a hook
	Hub       ports.Hub
	Content   ports.Content
	Artifacts ports.Artifacts
	Media     ports.Media
	Pointers  ports.Pointers
	Observer  ports.Observer
	// Placeholders and Timings serve the audio stage beside its work; nil: there is no
	// silence before the audio stands, and nobody is told when a picture is shown.
	Placeholders ports.Placeholders
	Timings      ports.Timings
	// Consumer is told what becomes of stages and scenes; nil: nobody is, and nothing is
	// kept for anybody. All replicas must have one, or none.
	Consumer ports.Consumer
}

// Engine is one replica.
type Engine struct {
	cfg      Config
	deps     Deps
	store    *store.Store
	dispatch *dispatch.Dispatcher
	schedule *schedule.Scheduler
	deliver  *deliver.Deliverer // nil: there is no consumer
	pass     *reconcile.Reconciler
	recorder *metrics.Recorder // stands in front of Deps.Observer
	window   *window.Window
	stages   []string
}

// New builds an engine; Run starts it. It panics if a dependency is missing.
func New(cfg Config, deps Deps) *Engine {
	if deps.Runtime == nil || deps.Redis == nil || deps.Hub == nil || deps.Content == nil || deps.Artifacts == nil || deps.Media == nil || deps.Observer == nil {
		panic("engine: New needs every field of Deps")
	}
	if cfg.Versioned != (deps.Pointers != nil) {
		panic("engine: Deps.Pointers and Config.Versioned go together")
	}
	if cfg.Tick == 0 {
		cfg.Tick = 5 * time.Second
	}
	if cfg.Reconcile == 0 {
		cfg.Reconcile = 60 * time.Second
	}
	if cfg.Outbox == 0 {
		cfg.Outbox = 5 * time.Second
	}
	bounded := deadlines{deps.Runtime, deps.Content, deps.Artifacts, deps.Media}
	if cfg.Versioned {
		deps.Pointers = pointers{bounded, deps.Pointers}
	}
	deps.Redis.AddHook(bounded)
	deps.Content, deps.Artifacts, deps.Media = bounded, bounded, bounded
	recorder := metrics.New(deps.Observer)
	deps.Observer = recorder
	e := &Engine{cfg: cfg, deps: deps, store: store.New(deps.Redis), recorder: recorder}
	image := &stage.Image{Artifacts: deps.Artifacts, Pointers: deps.Pointers}
	executors := []stage.Stage{ // in the order of asset.Stages
		&stage.Audio{Artifacts: deps.Artifacts, Media: deps.Media, Placeholders: deps.Placeholders, Timings: deps.Timings},
		image,
		&stage.Video{Artifacts: deps.Artifacts, Media: deps.Media, Image: image},
	}
	for _, s := range executors {
		e.stages = append(e.stages, s.Name())
	}
	holder := deps.Runtime.Token()
	e.dispatch = dispatch.New(dispatch.Deps{Runtime: deps.Runtime, Store: e.store, Hub: deps.Hub, Content: deps.Content, Pointers: deps.Pointers,
		Observer: deps.Observer, Stages: executors, Profile: cfg.profile}, holder)
	e.window = window.New(e.dispatch, cfg.Window)
	e.schedule = schedule.New(e.dispatch, e.stages, deps.Consumer != nil, holder,
		func(ctx context.Context, book string) { e.follow(ctx, book, 0) })
	if deps.Consumer != nil {
		e.deliver = deliver.New(deps.Runtime, e.store, deps.Consumer, deps.Observer)
	}
	e.pass = reconcile.New(e.dispatch, e.stages, holder, e.window)
	return e
}

func (c Config) profile(stage string) asset.Profile {
	if p, ok := c.Profiles[stage]; ok {
		return p
	}
	return asset.ProfileOf(stage)
}

// Run ticks, reconciles and drains the outbox until ctx ends. The first tick is drawn within
// the first period, so that replicas started together do not tick together.
func (e *Engine) Run(ctx context.Context) {
	rt := e.deps.Runtime
	delay := drawn(rt.Token(), e.cfg.Tick)
	e.deps.Observer.Observe(ports.Started{Delay: delay})
	e.repeat(ctx, "outbox", "drain outbox", e.schedule.DrainOutbox)
	if e.deliver != nil {
		e.repeat(ctx, "events", "deliver", e.deliver.Deliver)
	}
	rt.Go(ctx, "reconcile", func(ctx context.Context) {
		period := e.cfg.Reconcile + drawn(rt.Token(), 5*time.Second)
		for rt.Sleep(ctx, period) == nil {
			_, _ = e.Reconcile(ctx) // the observer has been told
		}
	})
	due := rt.Now().Add(delay)
	// A clock that is set back must not stop the beat.
	for rt.Sleep(ctx, min(due.Sub(rt.Now()), e.cfg.Tick)) == nil {
		_, _ = e.Tick(ctx) // the observer has been told
		due = beat(due, rt.Now(), e.cfg.Tick)
	}
}

// beat is the first instant after now on the beat of due, or due if that is to come: what a
// slow tick, or a clock that was set forward, overran is skipped.
func beat(due, now time.Time, tick time.Duration) time.Time {
	late := now.Sub(due)
	if late < 0 {
		return due
	}
	return now.Add(tick - late%tick)
}

// repeat does something each Outbox period in a task of its own. What goes wrong, also a panic,
// is reported, and ends one round.
func (e *Engine) repeat(ctx context.Context, task, op string, do func(context.Context) (int, error)) {
	rt := e.deps.Runtime
	rt.Go(ctx, task, func(ctx context.Context) {
		for rt.Sleep(ctx, e.cfg.Outbox) == nil {
			err := rt.Isolate(func() error {
				_, err := do(ctx)
				return err
			})
			if err != nil {
				e.deps.Observer.Observe(ports.Trouble{Op: op, Err: err})
			}
		}
	})
}

// drawn maps a token to a duration below period.
func drawn(token string, period time.Duration) time.Duration {
	n, err := strconv.ParseUint(token[:8], 16, 64)
	if err != nil {
		panic(fmt.Sprintf("engine: Runtime.Token gave %q, not hexadecimal digits", token))
	}
	return time.Duration(n % uint64(period))
}

// Tick looks at every active scene once (package schedule). A panic in it is
// isolated and returned.
func (e *Engine) Tick(ctx context.Context) (sum ports.Summary, err error) {
	panicked := e.deps.Runtime.Isolate(func() error {
		sum, err = e.schedule.Tick(ctx)
		return nil
	})
	if panicked != nil {
		e.deps.Observer.Observe(ports.Trouble{Op: "tick", Err: panicked})
		return sum, panicked
	}
	return sum, err
}

// followWaitMax is the wait after which a scope is followed for the last time.
const followWaitMax = 30 * time.Second

// follow leads the scope of a book on, after a wait and in a task of its own: it may read many
// scenes, and who calls it must not wait for that. What fails is tried again for about a
// minute; then the next pass takes it up.
func (e *Engine) follow(ctx context.Context, book string, wait time.Duration) {
	rt := e.deps.Runtime
	rt.Go(ctx, "window", func(ctx context.Context) {
		panicked := rt.Isolate(func() error {
			for rt.Sleep(ctx, wait) == nil && !e.window.Follow(ctx, book) && wait < followWaitMax {
				wait = max(2*wait, time.Second)
			}
			return nil
		})
		if panicked != nil {
			e.deps.Observer.Observe(ports.Trouble{Scene: ports.SceneID{Book: book}, Op: "window", Err: panicked})
		}
	})
}

// ErrPassIncomplete is what the error of Reconcile wraps when a source of proofs could
// not be read.
var ErrPassIncomplete = reconcile.ErrPassIncomplete

// ErrPassSuspicious is what Reconcile returns if it would make most of what is ready again.
var ErrPassSuspicious = reconcile.ErrPassSuspicious

// ErrPassSkipped is what Reconcile returns if a pass is under way, at this replica or another.
var ErrPassSkipped = reconcile.ErrPassSkipped

// ErrLockLost is what Reconcile returns if its lock lapsed, or went to another replica, while it
// was under way; it has repaired nothing since.
var ErrLockLost = reconcile.ErrLockLost

// Reconcile looks for what no tick and no callback will find, and repairs it (package
// reconcile). A panic in it is isolated and returned. It may be called beside Run.
func (e *Engine) Reconcile(ctx context.Context) (ports.Reconciled, error) {
	return e.reconcile(ctx, e.pass.Pass)
}

// ForceReconcile is a Reconcile that does what it would find suspicious: an operator has
// seen to it that the artifacts are gone.
func (e *Engine) ForceReconcile(ctx context.Context) (ports.Reconciled, error) {
	return e.reconcile(ctx, e.pass.Force)
}

func (e *Engine) reconcile(ctx context.Context, pass func(context.Context) (ports.Reconciled, error)) (report ports.Reconciled, err error) {
	panicked := e.deps.Runtime.Isolate(func() error {
		report, err = pass(ctx)
		return nil
	})
	if panicked != nil {
		e.deps.Observer.Observe(ports.Trouble{Op: "reconcile", Err: panicked})
		return report, panicked
	}
	return report, err
}

// Complete takes the result of one job, good or bad (package dispatch). It may be
// called on any replica and more than once. A result that no job can have led to is
// ports.ErrInvalid, and nothing is asked.
func (e *Engine) Complete(ctx context.Context, r ports.JobResult) error {
	return e.dispatch.Complete(ctx, r)
}
