package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Epoch is the instant at which every world begins.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Options are the settings of a World. The zero value is usable.
type Options struct {
	// Seed decides everything that is not decided by the code under test.
	Seed uint64
	// Latency of the calls of a service; a service without an entry is free.
	Latency map[string]Latency
	// Keep is how many events the trace holds on to; 0: all. The digest covers
	// all in any case.
	Keep int
	// Steps is how many events a world may handle in all (0: 50 million) before it
	// fails. At most a million of them may share one instant.
	Steps int
}

// World is one run: a clock, processes, a fault plan and a trace. It is not safe
// for use from two goroutines; two worlds share nothing.
type World struct {
	seed      uint64
	now       int64 // virtual ns since Epoch
	heap      eventHeap
	current   *Task
	processes []*Process
	byName    map[string]*Process
	streams   map[string]*rand.Rand
	counters  map[string]*counter
	calls     map[callKey]int
	latency   map[string]Latency
	plan      plan
	trace     Trace
	failures  []Failure
	clocks    map[string]bool // where WallClock was called
	steps     int
	stepsMax  int
	sameTime  int // events handled at this instant
	inFlight  int
	exited    []*Task // tasks that called runtime.Goexit
	closed    bool
}

// counter numbers the events of one task name; its hash is mixed into each tie.
type counter struct {
	hash uint64
	n    uint64
}

// sameTimeMax is how many events may share one instant.
const sameTimeMax = 1_000_000

// Failure is something that must not happen in a run: a panic of code under
// test, a Goexit, a step budget exceeded, or what World.Fail reported.
type Failure struct {
	At      time.Duration
	Process string // process/task, or ""
	Kind    string // panic, goexit, steps, or the caller's word
	Message string
	Stack   string // of a panic; never part of a trace
}

func (f Failure) Error() string {
	where := ""
	if f.Process != "" {
		where = f.Process + ": "
	}
	return fmt.Sprintf("%s: %s%s: %s", formatTime(f.At), where, f.Kind, f.Message)
}

// ErrClosed is the panic value of a World that is used after Close.
var ErrClosed = errors.New("sim: world is closed")

// New makes a world at virtual time 0.
func New(o Options) *World {
	w := &World{
		seed:     o.Seed,
		byName:   map[string]*Process{},
		streams:  map[string]*rand.Rand{},
		counters: map[string]*counter{},
		calls:    map[callKey]int{},
		clocks:   map[string]bool{},
		latency:  map[string]Latency{},
		stepsMax: o.Steps,
		trace:    Trace{keep: o.Keep, digest: xxhash.New()},
	}
	for _, name := range sortedKeys(o.Latency) {
		w.latency[name] = o.Latency[name]
	}
	if w.stepsMax == 0 {
		w.stepsMax = 50_000_000
	}
	return w
}

// Seed is the seed that the world was made with.
func (w *World) Seed() uint64 { return w.seed }

// Elapsed is the virtual time since the world began.
func (w *World) Elapsed() time.Duration { return time.Duration(w.now) }

// Now is the world's time. A process may have a clock of its own (Process.Now).
func (w *World) Now() time.Time { return Epoch.Add(time.Duration(w.now)) }

// Trace is the world's trace.
func (w *World) Trace() *Trace { return &w.trace }

// Failures lists what went wrong so far.
func (w *World) Failures() []Failure { return w.failures }

// Steps is the number of events handled so far.
func (w *World) Steps() int { return w.steps }

// Running names the task that is awake as process/task, or "".
func (w *World) Running() string {
	if w.current == nil {
		return ""
	}
	return w.current.name
}

// Emit appends an event to the trace, in the name of the running task.
func (w *World) Emit(e Event) {
	e.At = time.Duration(w.now)
	if e.Process == "" {
		e.Process = w.Running()
	}
	w.trace.append(e)
}

// Fail records a failure at this instant. The run goes on; its owner decides.
func (w *World) Fail(kind, message string) {
	w.fail(Failure{Kind: kind, Message: message})
}

func (w *World) fail(f Failure) {
	f.At = time.Duration(w.now)
	if f.Process == "" {
		f.Process = w.Running()
	}
	w.failures = append(w.failures, f)
	w.Emit(Event{Kind: "failure", Process: f.Process, Subject: f.Kind, Detail: f.Message})
}

// At runs fn at a virtual time, or at this instant if it has passed. name orders
// it among what is due at the same time.
func (w *World) At(at time.Duration, name string, fn func()) {
	w.schedule(max(int64(at), w.now), w.counter(name), nil, &timer{fn: fn})
}

// RunFor handles all events of the next d of virtual time.
func (w *World) RunFor(d time.Duration) { w.RunUntil(time.Duration(w.now) + d) }

// RunUntil handles all events up to and at the virtual time end, which is then
// the time of the world. It stops early when the step budget is exceeded.
func (w *World) RunUntil(end time.Duration) {
	w.handle(int64(end), 1<<62)
	if w.stepsMax > 0 {
		w.now = max(w.now, int64(end))
	}
}

// Step handles the next event if it is due at or before the virtual time end.
// It returns false if there is none.
func (w *World) Step(end time.Duration) bool { return w.handle(int64(end), 1) == 1 }

// handle handles at most limit events that are due up to end and returns how many
// there were. It is one function, because each return after a switch of coroutines
// is one that the processor predicts wrongly.
func (w *World) handle(end int64, limit int) (n int) {
	if w.closed {
		panic(ErrClosed)
	}
	if w.current != nil {
		panic("sim: a task must not run the world")
	}
	for n < limit && len(w.heap) > 0 && w.heap[0].at <= end {
		at, t, timer, gen := w.heap[0].at, w.heap[0].task, w.heap[0].timer, w.heap[0].gen
		w.heap.drop()
		if t != nil && (t.gen != gen || t.done) || timer != nil && timer.stopped {
			continue
		}
		if at > w.now {
			w.now, w.sameTime = at, 0
		}
		w.steps++
		w.sameTime++
		if w.steps > w.stepsMax || w.sameTime > sameTimeMax {
			w.overspent(t)
			return n
		}
		n++
		if timer != nil {
			timer.stopped = true
			timer.fn()
			continue
		}
		switch {
		case t.inc.dead:
			continue // the reaper is on its way
		case t.inc.paused:
			t.inc.pending = append(t.inc.pending, t)
			continue
		}
		t.gen++
		w.current = t
		w.warmUp()
		_, more := t.resume()
		w.current = nil
		if !more || t.exited {
			t.end()
		}
	}
	return n
}

// warmUp fetches the memory of the task that is likely to wake next, while this one runs.
func (w *World) warmUp() {
	if len(w.heap) > 0 {
		prefetch(w.heap[0].task) // nil for a timer
	}
}

// overspent fails the world for the event of t, or of a timer, and stops it.
func (w *World) overspent(t *Task) {
	if w.stepsMax == 0 {
		return
	}
	who := "a timer"
	if t != nil {
		who = t.name
	}
	w.fail(Failure{Kind: "steps", Process: who,
		Message: fmt.Sprintf("budget exceeded: %d events in all, %d at this instant; is something waking itself without end?", w.steps, w.sameTime)})
	w.stepsMax = 0
	w.heap = nil
}

// Close unwinds every task. The world cannot be run any more.
func (w *World) Close() {
	if w.closed {
		return
	}
	for _, p := range w.processes {
		p.inc.dead = true
		p.inc.unwind()
	}
	w.drainExited()
	w.closed = true
	w.heap = nil
}

func (w *World) counter(name string) *counter {
	c, ok := w.counters[name]
	if !ok {
		c = &counter{hash: w.Hash("tie", name)}
		w.counters[name] = c
	}
	return c
}

func (w *World) schedule(at int64, c *counter, t *Task, f *timer) {
	c.n++
	e := w.heap.open(at, mix(c.hash+c.n*0x9e3779b97f4a7c15))
	e.task, e.timer, e.gen = t, f, 0
	if t != nil {
		e.gen = t.gen
		t.stack = stack()
	}
}
