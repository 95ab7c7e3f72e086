package sim

import (
	"context"
	"time"
)

// Context is the kernel's context: its deadline is virtual, and ending it starts
// no goroutine (its AfterFunc method is the one that the standard library looks for).
type Context struct {
	w        *World
	parent   context.Context // for Value
	above    *Context        // the nearest kernel context
	index    int             // in above.children
	deadline time.Time
	done     chan struct{}
	err      error
	children []*Context
	waiters  []*Task
	after    []*timer
	expiry   *timer
	endless  bool // the root of a process: whoever waits on it need not be told
}

var _ context.Context = (*Context)(nil)

type contextKey struct{}

// kernelContext finds the kernel context that ctx was derived from, or nil. what is done
// under ctx; a deadline that is not the kernel's fails the world.
func (w *World) kernelContext(ctx context.Context, what string) *Context {
	if c, ok := ctx.(*Context); ok {
		return c
	}
	c, _ := ctx.Value(contextKey{}).(*Context)
	if deadline, has := ctx.Deadline(); has && (c == nil || !deadline.Equal(c.deadline)) {
		w.WallClock(what)
	}
	return c
}

// ending is the kernel context that may end a wait under ctx, or nil.
func (w *World) ending(ctx context.Context, what string) *Context {
	if c := w.kernelContext(ctx, what); c != nil && !c.endless {
		return c
	}
	return nil
}

// WallClock fails the world because what the running task does, a call as service.verb,
// would end by the wall clock: once for each task and what it does.
func (w *World) WallClock(what string) {
	place := w.Running() + " " + what
	if w.clocks[place] {
		return
	}
	w.clocks[place] = true
	w.Fail("clock", what+" has a deadline of the wall clock; take it from Process.WithTimeout: "+
		"a context of the standard library ends by the wall clock, and so does http.Client.Timeout")
}

// WithCancel derives a context that cancel ends.
func (p *Process) WithCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	c := p.w.derive(ctx, "Process.WithCancel")
	return c, func() { c.end(context.Canceled) }
}

// WithTimeout derives a context that ends after d of virtual time.
func (p *Process) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c := p.w.derive(ctx, "Process.WithTimeout")
	deadline := p.w.Now().Add(d)
	if c.deadline.IsZero() || deadline.Before(c.deadline) {
		c.deadline = deadline
		c.expiry = &timer{fn: func() { c.end(context.DeadlineExceeded) }}
		p.w.schedule(p.w.now+int64(max(d, 0)), p.w.counter("timeout"), nil, c.expiry)
	}
	return c, func() { c.end(context.Canceled) }
}

func (w *World) derive(ctx context.Context, what string) *Context {
	w.alive()
	c := &Context{w: w, parent: ctx, above: w.kernelContext(ctx, what)}
	if c.above == nil {
		return c
	}
	c.deadline, c.err = c.above.deadline, c.above.err
	if c.err == nil {
		c.index = len(c.above.children)
		c.above.children = append(c.above.children, c)
	}
	return c
}

// Deadline implements context.Context. The deadline is a virtual instant.
func (c *Context) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// Done implements context.Context. Code under test must not wait on it.
func (c *Context) Done() <-chan struct{} {
	if c.done == nil {
		c.done = make(chan struct{}) //sim:allow the interface asks for a channel; libraries poll it
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err implements context.Context.
func (c *Context) Err() error { return c.err }

// Value implements context.Context.
func (c *Context) Value(key any) any {
	if _, ok := key.(contextKey); ok {
		return c
	}
	return c.parent.Value(key)
}

// AfterFunc runs fn, at the instant at which the context ends, as an event of the
// clock. stop keeps it from running and says whether it did.
func (c *Context) AfterFunc(fn func()) (stop func() bool) {
	t := &timer{fn: fn}
	if c.err != nil {
		c.w.schedule(c.w.now, c.w.counter("after"), nil, t)
	} else {
		c.after = append(c.after, t)
	}
	return func() bool {
		if t.stopped {
			return false
		}
		t.stopped = true
		return true
	}
}

func (c *Context) end(err error) {
	if c.endless {
		panic("sim: the context of a process does not end; its tasks are unwound")
	}
	if c.err != nil {
		return
	}
	c.err = err
	if c.expiry != nil {
		c.expiry.stopped = true
	}
	if c.done != nil {
		close(c.done)
	}
	for _, t := range c.waiters {
		c.w.schedule(c.w.now, t.counter, t, nil)
	}
	for _, f := range c.after {
		if !f.stopped {
			c.w.schedule(c.w.now, c.w.counter("after"), nil, f)
		}
	}
	c.after = nil
	if c.above != nil {
		c.above.removeChild(c)
	}
	children := c.children
	c.children = nil
	for _, child := range children {
		child.above = nil
		child.end(err)
	}
}

func (c *Context) removeChild(child *Context) {
	last := len(c.children) - 1
	if child.index > last || c.children[child.index] != child {
		return
	}
	c.children[child.index] = c.children[last]
	c.children[child.index].index = child.index
	c.children[last] = nil
	c.children = c.children[:last]
}

func (c *Context) addWaiter(t *Task) {
	t.ctxIndex = len(c.waiters)
	c.waiters = append(c.waiters, t)
}

func (c *Context) removeWaiter(t *Task) {
	last := len(c.waiters) - 1
	moved := c.waiters[last]
	c.waiters[t.ctxIndex] = moved
	moved.ctxIndex = t.ctxIndex
	c.waiters[last] = nil
	c.waiters = c.waiters[:last]
}
