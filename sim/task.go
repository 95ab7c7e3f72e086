package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
)

// errCrashed is what a call of a dead process panics with. It never leaves the
// kernel: the top of each task recovers it.
var errCrashed = errors.New("sim: the process has crashed")

// Task is one coroutine of a process.
type Task struct {
	// What a wake-up touches stands together: with 10,000 tasks its cost is cache misses.
	resume  func() (struct{}, bool)
	yield   func(struct{}) bool
	inc     *incarnation
	counter *counter
	w       *World
	gen     uint32 // raised at each wake-up: what was scheduled before is stale
	done    bool
	exited  bool

	goroutine, stack uintptr // for prefetch

	name  string // incarnation/task
	group *Group
	stop  func()

	ctxIndex int // among the waiters of the context that it waits on beside its event
}

func newTask(inc *incarnation, name string, ctx context.Context, fn func(context.Context)) *Task {
	w := inc.p.w
	t := &Task{w: w, inc: inc, name: inc.name + "/" + name}
	t.counter = w.counter(t.name)
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield, t.goroutine = yield, goroutine()
		t.main(ctx, fn)
	})
	return t
}

// main runs the task's function and turns whatever ends it into the task's end.
func (t *Task) main(ctx context.Context, fn func(context.Context)) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover() //sim:allow the top of a task is where the crash sentinel and a panic of code under test end
		switch {
		case v == nil:
			t.goexit()
		case v == any(errCrashed):
		default:
			t.w.fail(Failure{Kind: "panic", Process: t.name, Message: fmt.Sprint(v), Stack: string(debug.Stack())})
		}
	}()
	fn(ctx)
	returned = true
}

// goexit handles runtime.Goexit in a task, which is what t.FailNow does. It
// cannot be stopped, and iter.Pull would hand it on to the goroutine of the
// world; so the task stays parked in its last deferred call until the world is
// closed.
func (t *Task) goexit() {
	if !t.w.closed {
		t.w.fail(Failure{Kind: "goexit", Process: t.name, Message: "the task called runtime.Goexit (t.FailNow does)"})
	}
	t.exited = true
	t.w.exited = append(t.w.exited, t)
	t.yield(struct{}{})
}

func (w *World) drainExited() {
	for _, t := range w.exited {
		done := make(chan struct{}) //sim:allow the world is over; a goroutine of its own takes the Goexit
		go func() {                 //sim:allow see above
			defer close(done)
			t.stop()
		}()
		<-done //sim:allow see above
	}
	w.exited = nil
}

// task is the task that is awake. Waiting outside a task is a mistake of the caller.
func (w *World) task() *Task {
	if w.current == nil {
		panic("sim: only a task of a process can wait; start one with Process.Go")
	}
	w.alive()
	return w.current
}

// alive panics with the crash sentinel if the running task belongs to a dead
// process.
func (w *World) alive() {
	if w.current != nil && w.current.inc.dead {
		panic(errCrashed)
	}
}

func (t *Task) end() {
	t.done = true
	t.inc.remove(t)
	if t.group != nil {
		t.group.done(t.w)
	}
}

// unwind ends a parked task: its stack unwinds, and every call that its deferred
// functions try panics again.
func (t *Task) unwind() {
	if t.done {
		return
	}
	t.done = true
	t.gen++
	if t.exited {
		return
	}
	outer := t.w.current
	t.w.current = t
	t.stop()
	t.w.current = outer
}

// park gives up control until the task is woken. The caller has scheduled an
// event for it, or hung it up somewhere.
func (t *Task) park() {
	if !t.yield(struct{}{}) || t.inc.dead {
		panic(errCrashed)
	}
}

// parkUntil parks the task until its event is due or c ends. A wait that nothing can
// end early has no deferred call, and no frame but its own.
func (t *Task) parkUntil(c *Context) {
	c.addWaiter(t)
	defer c.removeWaiter(t)
	t.park()
}

// PanicError is a panic that Isolate stopped.
type PanicError struct {
	Value string // the panic value, printed
	Stack string // where it came from; never part of a trace
}

func (e *PanicError) Error() string { return "panic: " + e.Value }

func isolate(fn func() error) (err error) {
	defer func() {
		switch v := recover(); { //sim:allow Isolate is the one recover that code under test has
		case v == nil:
		case v == any(errCrashed):
			panic(v)
		default:
			err = &PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())}
		}
	}()
	return fn()
}
