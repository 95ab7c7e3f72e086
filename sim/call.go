package sim

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Errors that a call ends with when the world, and not the fake, decides.
var (
	// ErrRefused: the connection was refused; nothing was done.
	ErrRefused = errors.New("connection refused")
	// ErrReset: the connection was reset; the request may have been carried out.
	ErrReset = errors.New("connection reset by peer")
	// ErrDeadline: the deadline passed before the answer came.
	ErrDeadline = errors.New("i/o timeout")
)

// Latency is how long the calls of a service take, there and back. One call in 50
// takes 20 times longer.
type Latency struct {
	Min, Max time.Duration
}

// Call is one request of the running task to a fake. Together with the name of
// the task, Service, Verb and Subject name it; they hold no random ids.
type Call struct {
	Service string // redis, hub, content, …
	Verb    string // get, begin, post, …
	Subject string // b1/c1/s1:image/u2, or ""

	Deadline time.Time // virtual, from Process.WithTimeout or World.Now; zero: none
	Detail   string    // for the trace

	// Effects are those that Do knows, beside the kernel's. A fault of another one would
	// do nothing and count as fired: it fails the world.
	Effects Effects
	// Do carries the request out at the instant at which it arrives. It runs
	// outside any task and must not wait. fx is the effect that the fault plan
	// gave the call, if the kernel does not handle it by itself; else nil.
	Do func(fx *Fired) (any, error)
	// Outcome describes the answer in the trace; nil: "ok", or the error's text.
	Outcome func(any, error) string
}

// Effects are effects of a fake, each with the verbs of the calls that it means something
// to; nil: of all.
type Effects map[string][]string

// Of says whether an effect means something to a call of that verb.
func (e Effects) Of(effect, verb string) bool {
	verbs, known := e[effect]
	return known && (verbs == nil || slices.Contains(verbs, verb))
}

// effects lists those that a fault may have on the call.
func (c *Call) effects() string {
	names := []string{"crash", "down", "hang", "late", "lost", "pause", "refuse", "slow"}
	for _, name := range sortedKeys(c.Effects) {
		if c.Effects.Of(name, c.Verb) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

type callKey struct{ task, service, verb, subject string }

// request is a call under way.
type request struct {
	w       *World
	call    *Call
	name    CallName
	fx      *Fired // for Do
	reply   any
	err     error
	arrived bool
}

// CallName names a call: `process/task service.verb subject #n`, where n counts
// the calls of that name.
type CallName struct {
	Task, Service, Verb, Subject string
	N                            int
}

func (n CallName) String() string {
	s := n.Task + " " + n.Service + "." + n.Verb
	if n.Subject != "" {
		s += " " + n.Subject
	}
	return s + " #" + strconv.Itoa(n.N)
}

// Calls lists the calls made so far, sorted by name; N says how many of that name
// there were.
func (w *World) Calls() []CallName {
	out := make([]CallName, 0, len(w.calls))
	for k, n := range w.calls {
		out = append(out, CallName{k.task, k.service, k.verb, k.subject, n})
	}
	slices.SortFunc(out, func(a, b CallName) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// Process is the process that the call belongs to, with its incarnation.
func (n CallName) Process() string {
	for i := 0; i < len(n.Task); i++ {
		if n.Task[i] == '/' {
			return n.Task[:i]
		}
	}
	return n.Task
}

// Do makes a call from the running task and returns its answer. Death is checked
// first: a dead process can do nothing to the world.
func (w *World) Do(c *Call) (any, error) {
	t := w.task()
	key := callKey{t.name, c.Service, c.Verb, c.Subject}
	n := w.calls[key] + 1
	w.calls[key] = n
	name := CallName{t.name, c.Service, c.Verb, c.Subject, n}
	if c.Deadline != c.Deadline.Round(0) { // a monotonic reading: nothing virtual has one
		w.WallClock(c.Service + "." + c.Verb)
	}
	fx := w.plan.match(w, name)
	latency := w.draw(c, name)
	if fx == nil && latency == 0 {
		reply, err := c.Do(nil)
		w.traceCall(c, name, reply, err)
		w.alive()
		return reply, err
	}
	r := &request{w: w, call: c, name: name}
	if fx == nil {
		return r.send(t, latency, latency)
	}
	w.Emit(Event{Kind: "fault", Subject: name.String(), Detail: fx.String(), Outcome: "#" + strconv.Itoa(fx.Number)})
	return r.suffer(t, fx, latency)
}

// suffer is what an effect of the fault plan makes of a call.
func (r *request) suffer(t *Task, fx *Fired, latency time.Duration) (any, error) {
	switch fx.Effect {
	case "refuse", "down":
		r.traced(ErrRefused)
		return nil, r.await(t, latency, ErrRefused)
	case "hang":
		r.traced(ErrDeadline)
		return nil, r.await(t, never, ErrDeadline)
	case "lost":
		_, err := r.send(t, latency, latency)
		if !errors.Is(err, ErrDeadline) {
			err = ErrReset
		}
		return nil, err
	case "slow":
		return r.send(t, latency+fx.Delay, latency+fx.Delay)
	case "late":
		return r.send(t, latency, latency+fx.Delay)
	case "crash":
		if !fx.After {
			t.inc.p.Crash()
			panic(errCrashed)
		}
		r.deliver(latency/2, func() { t.inc.crashed() })
		return nil, r.await(t, never, nil)
	case "pause":
		p := t.inc.p
		pause := func() {
			p.Pause()
			r.w.At(time.Duration(r.w.now)+fx.Delay, "resume/"+t.inc.name, t.inc.resumed)
		}
		if !fx.After {
			// The request leaves when the process wakes.
			pause()
			r.w.schedule(r.w.now, t.counter, t, nil)
			t.park()
			return r.send(t, latency, latency)
		}
		r.deliver(latency/2, pause)
		return r.answer(t, latency)
	}
	if r.call.Effects.Of(fx.Effect, r.call.Verb) {
		r.fx = fx
	} else {
		r.w.Fail("fault", "a call of "+r.call.Service+"."+r.call.Verb+" has no effect "+fx.Effect+", but "+r.call.effects())
	}
	return r.send(t, latency, latency)
}

const never = time.Duration(1<<63 - 1)

// send delivers the request after half of the way and answers at the end of it.
func (r *request) send(t *Task, latency, answer time.Duration) (any, error) {
	r.deliver(latency/2, nil)
	return r.answer(t, answer)
}

// deliver carries the request out when it has travelled for d; whatever becomes
// of the caller in the meantime.
func (r *request) deliver(d time.Duration, then func()) {
	do := func() {
		r.reply, r.err = r.call.Do(r.fx)
		r.arrived = true
		r.w.traceCall(r.call, r.name, r.reply, r.err)
		if then != nil {
			then()
		}
	}
	if d == 0 {
		outer := r.w.current
		do()
		r.w.current = outer
		return
	}
	r.w.schedule(r.w.now+int64(d), r.w.counter("arrival/"+r.name.Task), nil, &timer{fn: do})
}

func (r *request) answer(t *Task, d time.Duration) (any, error) {
	if err := r.await(t, d, nil); err != nil {
		return nil, err
	}
	return r.reply, r.err
}

// await parks the task for d, or until the call's deadline: then it returns
// ErrDeadline. Without either it parks for good.
func (r *request) await(t *Task, d time.Duration, err error) error {
	w := r.w
	if d == 0 {
		w.alive()
		return err
	}
	at := int64(1<<63 - 1)
	if d != never {
		at = w.now + int64(d)
	}
	if dl := r.call.Deadline; !dl.IsZero() {
		if due := max(int64(dl.Sub(Epoch)), w.now); due < at {
			at, err = due, ErrDeadline
		}
	}
	if at != 1<<63-1 {
		w.schedule(at, t.counter, t, nil)
	}
	w.inFlight++
	defer func() { w.inFlight-- }()
	t.park()
	return err
}

// InFlight is the number of calls that wait for an answer.
func (w *World) InFlight() int { return w.inFlight }

func (r *request) traced(err error) { r.w.traceCall(r.call, r.name, nil, err) }

func (w *World) traceCall(c *Call, n CallName, reply any, err error) {
	outcome := "ok"
	switch {
	case c.Outcome != nil:
		outcome = c.Outcome(reply, err)
	case err != nil:
		outcome = err.Error()
	}
	w.trace.append(Event{At: time.Duration(w.now), Process: n.Task, Kind: "call", Subject: n.Subject,
		Detail: callDetail(c), Outcome: outcome})
}

func callDetail(c *Call) string {
	if c.Detail == "" {
		return c.Service + "." + c.Verb
	}
	return c.Service + "." + c.Verb + " " + c.Detail
}

// draw is the latency of a call: by its name, so that an edit elsewhere does not
// move it.
func (w *World) draw(c *Call, n CallName) time.Duration {
	l, ok := w.latency[c.Service]
	if !ok || l.Max <= 0 {
		return 0
	}
	h := w.Hash("latency", n.Task, n.Service, n.Verb, n.Subject, strconv.Itoa(n.N))
	d := l.Min + time.Duration(unit(h)*float64(l.Max-l.Min))
	if mix(h)%50 == 0 {
		d *= 20
	}
	return d
}

// crashed crashes this incarnation, if it still is the process's.
func (inc *incarnation) crashed() {
	if inc.p.inc == inc {
		inc.p.Crash()
	}
}

func (inc *incarnation) resumed() {
	if inc.p.inc == inc {
		inc.p.Resume()
	}
}
