package sim

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Process is a group of tasks that live and die together and share a clock: an
// engine replica, a hub, a worker. Its methods are what code under test may know
// of time, concurrency and chance.
type Process struct {
	w      *World
	name   string
	offset time.Duration
	inc    *incarnation
	number int // of the incarnation
}

// incarnation is one life of a process.
type incarnation struct {
	p       *Process
	name    string // e1, then e1.2, e1.3, …
	root    *Context
	tasks   []*Task
	dead    bool
	paused  bool
	pending []*Task // woken while paused
}

// Process makes a process, or returns the one of that name.
func (w *World) Process(name string) *Process {
	if p, ok := w.byName[name]; ok {
		return p
	}
	p := &Process{w: w, name: name}
	p.incarnate()
	w.processes = append(w.processes, p)
	w.byName[name] = p
	return p
}

func (p *Process) incarnate() {
	p.number++
	name := p.name
	if p.number > 1 {
		name = fmt.Sprintf("%s.%d", p.name, p.number)
	}
	p.inc = &incarnation{p: p, name: name}
	p.inc.root = &Context{w: p.w, parent: context.Background(), endless: true}
}

// Name is the name of the process, without its incarnation.
func (p *Process) Name() string { return p.name }

// Incarnation is the name of the current life: e1, then e1.2 and so on.
func (p *Process) Incarnation() string { return p.inc.name }

// Alive says whether the process has not crashed since it was last started.
func (p *Process) Alive() bool { return !p.inc.dead }

// Paused says whether the process stands still.
func (p *Process) Paused() bool { return p.inc.paused }

// World is the world that the process lives in.
func (p *Process) World() *World { return p.w }

// Context is what the process's tasks start with. It never ends: a crash unwinds them.
func (p *Process) Context() context.Context { return p.inc.root }

// Now is the process's clock: the world's time and the process's offset.
func (p *Process) Now() time.Time { return p.w.Now().Add(p.offset) }

// SetOffset sets how far the clock of the process is ahead of the world's.
func (p *Process) SetOffset(d time.Duration) {
	p.offset = d
	p.w.Emit(Event{Kind: "clock", Subject: p.name, Detail: d.String()})
}

// Go starts a task of the process. It begins at this instant, in the order that
// the seed gives it.
func (p *Process) Go(ctx context.Context, name string, fn func(context.Context)) {
	p.start(ctx, name, fn, nil)
}

func (p *Process) start(ctx context.Context, name string, fn func(context.Context), g *Group) {
	p.w.alive()
	if p.inc.dead {
		panic(fmt.Sprintf("sim: process %s is dead; Restart it before Go", p.name))
	}
	t := newTask(p.inc, name, ctx, fn)
	t.group = g
	p.inc.tasks = append(p.inc.tasks, t)
	p.w.schedule(p.w.now, t.counter, t, nil)
}

// Token is 128 random bits, as 32 hexadecimal digits, from a stream of the
// process's incarnation.
func (p *Process) Token() string { return token(p.w.Rand("token/" + p.inc.name)) }

// Crash ends the life of the process: its tasks unwind and can do nothing more to
// the world. Crashing a dead process does nothing.
func (p *Process) Crash() {
	if p.inc.dead {
		return
	}
	inc := p.inc
	inc.dead = true
	p.w.Emit(Event{Kind: "crash", Subject: inc.name})
	// A running task cannot unwind itself from here; the reaper does it at this
	// very instant, and whoever is woken before it finds itself dead.
	p.w.At(time.Duration(p.w.now), "reaper/"+inc.name, inc.unwind)
}

// Restart crashes the process if it lives, and begins a new incarnation without
// tasks. The caller starts them.
func (p *Process) Restart() {
	p.Crash()
	p.incarnate()
	p.w.Emit(Event{Kind: "restart", Subject: p.inc.name})
}

// Pause lets the process stand still, as a stopped or swapped-out one does: its
// tasks run no further until Resume. Time and the rest of the world go on, and
// requests that it has sent are carried out.
func (p *Process) Pause() {
	if p.inc.dead || p.inc.paused {
		return
	}
	p.inc.paused = true
	p.w.Emit(Event{Kind: "pause", Subject: p.inc.name})
}

// Resume ends a pause.
func (p *Process) Resume() {
	inc := p.inc
	if inc.dead || !inc.paused {
		return
	}
	inc.paused = false
	p.w.Emit(Event{Kind: "resume", Subject: inc.name})
	for _, t := range inc.pending {
		p.w.schedule(p.w.now, t.counter, t, nil)
	}
	inc.pending = nil
}

// Isolate runs fn and turns a panic into a *PanicError. The crash of the process
// goes through it.
func (p *Process) Isolate(fn func() error) error { return isolate(fn) }

// Sleep waits for d of virtual time, or until ctx ends; then it returns ctx's error.
func (p *Process) Sleep(ctx context.Context, d time.Duration) error {
	t := p.w.task()
	if c, ok := ctx.(*Context); ok && c.endless { // the common wait, which nothing ends early
		p.w.schedule(p.w.now+int64(max(d, 0)), t.counter, t, nil)
		t.park()
		return nil
	}
	c := p.w.ending(ctx, "Process.Sleep")
	if err := ctx.Err(); err != nil {
		return err
	}
	p.w.schedule(p.w.now+int64(max(d, 0)), t.counter, t, nil)
	if c != nil {
		t.parkUntil(c)
	} else {
		t.park()
	}
	return ctx.Err()
}

// Group returns an empty group of tasks of the process.
func (p *Process) Group() *Group { return &Group{p: p} }

func (inc *incarnation) unwind() {
	for len(inc.tasks) > 0 {
		tasks := inc.tasks
		inc.tasks = nil
		for _, t := range tasks {
			t.unwind()
		}
	}
	inc.pending = nil
}

func (inc *incarnation) remove(t *Task) {
	if i := slices.Index(inc.tasks, t); i >= 0 {
		inc.tasks = slices.Delete(inc.tasks, i, i+1)
	}
}

// Group is a set of tasks that can be waited for.
type Group struct {
	p       *Process
	n       int
	waiters []*Task
}

// Go starts a task of the group.
func (g *Group) Go(ctx context.Context, name string, fn func(context.Context)) {
	g.n++
	g.p.start(ctx, name, fn, g)
}

// Wait returns nil when every task of the group has ended, or ctx's error if ctx
// ends first; the tasks then go on.
func (g *Group) Wait(ctx context.Context) error {
	t := g.p.w.task()
	c := g.p.w.ending(ctx, "Group.Wait")
	for g.n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.waiters = append(g.waiters, t)
		if c != nil {
			t.parkUntil(c)
		} else {
			t.park()
		}
		// Who has left must not be woken by the end of the group, out of another wait.
		g.waiters = slices.DeleteFunc(g.waiters, func(w *Task) bool { return w == t })
	}
	return nil
}

func (g *Group) done(w *World) {
	g.n--
	if g.n > 0 {
		return
	}
	for _, t := range g.waiters {
		w.schedule(w.now, t.counter, t, nil)
	}
	g.waiters = nil
}
