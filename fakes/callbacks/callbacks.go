package callbacks

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

const (
	timeout      = 10 * time.Second
	retriesMax   = 3
	retryPause   = 5 * time.Second
	duplicateMax = 30 * time.Second
	reorderMax   = time.Minute
)

// Effects are the effects of a delivery beside those of the kernel.
var Effects = sim.Effects{
	"drop":      nil, // never delivered
	"duplicate": nil, // delivered, and once more within 30 s
	"reorder":   nil, // delivered within 60 s, behind the next ones
	"delay":     nil, // delivered after the delay of the rule, behind the next ones
}

// Queue is the way from a hub to its engines. Each delivery is one call of service
// "callback", made by a task of the hub's process: its verb is deliver, or
// redeliver for the later one of duplicate, reorder and delay.
type Queue struct {
	w        *sim.World
	hub      *sim.Process
	replicas []replica
	waiting  []ports.JobResult
	life     string // incarnation of the hub whose task delivers; "": none does
	counts   Counts
}

type replica struct {
	name   string
	alive  func() bool
	handle func(ports.JobResult)
}

// Counts is what became of the results pushed so far.
type Counts struct {
	Pushed    int
	Delivered int // handed to a replica, duplicates included
	Dropped   int // given up
}

// New returns the queue of a hub.
func New(w *sim.World, hub *sim.Process) *Queue { return &Queue{w: w, hub: hub} }

// Register adds a replica, or replaces the one of that name. handle runs outside
// any task and must not wait.
func (q *Queue) Register(name string, alive func() bool, handle func(ports.JobResult)) {
	r := replica{name, alive, handle}
	if i := slices.IndexFunc(q.replicas, func(r replica) bool { return r.name == name }); i >= 0 {
		q.replicas[i] = r
		return
	}
	q.replicas = append(q.replicas, r)
}

// Counts returns the counts at this instant.
func (q *Queue) Counts() Counts { return q.counts }

// Push hands over a result. It does not wait; it fits hub.Hub.OnResult.
func (q *Queue) Push(r ports.JobResult) {
	q.counts.Pushed++
	if life := q.hub.Incarnation(); q.life != life {
		q.life, q.waiting = life, nil
		q.hub.Go(q.hub.Context(), "callbacks", q.drain)
	}
	q.waiting = append(q.waiting, r)
}

// drain delivers until nothing waits.
func (q *Queue) drain(ctx context.Context) {
	for len(q.waiting) > 0 {
		r := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.deliver(ctx, delivery{r, "deliver", 1})
	}
	q.life = ""
}

// delivery is one attempt, from 1, to deliver a result.
type delivery struct {
	result  ports.JobResult
	verb    string
	attempt int
}

// fate is what became of a delivery: the replica that has it, and when it leaves
// (again).
type fate struct {
	to      string
	later   time.Duration
	dropped bool
}

func (f fate) String() string {
	switch {
	case f.dropped:
		return "dropped"
	case f.to == "":
		return "later"
	}
	return "to " + f.to
}

func (q *Queue) deliver(ctx context.Context, d delivery) {
	reply, err := q.w.Do(&sim.Call{
		Service: "callback", Verb: d.verb, Effects: Effects,
		Subject:  d.result.StageID().String() + "/" + ports.Quote(d.result.UnitID),
		Deadline: q.w.Now().Add(timeout),
		Do:       func(fx *sim.Fired) (any, error) { return q.hand(d, fx) },
		Outcome: func(reply any, err error) string {
			if err != nil {
				return err.Error()
			}
			return reply.(fate).String()
		},
	})
	switch {
	case errors.Is(err, sim.ErrRefused) && d.attempt <= retriesMax:
		q.later(ctx, retryPause, delivery{d.result, d.verb, d.attempt + 1})
	case errors.Is(err, sim.ErrRefused):
		q.counts.Dropped++
	case err != nil: // it may have arrived; the hub does not ask
	case reply.(fate).dropped:
		q.counts.Dropped++
	case reply.(fate).later > 0:
		q.later(ctx, reply.(fate).later, delivery{d.result, "redeliver", 1})
	}
}

// hand gives the result to a replica, if the effect lets it.
func (q *Queue) hand(d delivery, fx *sim.Fired) (any, error) {
	f := fate{}
	switch {
	case fx == nil:
	case fx.Effect == "drop":
		return fate{dropped: true}, nil
	case fx.Effect == "delay":
		return fate{later: max(fx.Delay, 1)}, nil
	case fx.Effect == "reorder":
		return fate{later: q.draw(fx, reorderMax)}, nil
	case fx.Effect == "duplicate":
		f.later = q.draw(fx, duplicateMax)
	}
	var live []replica
	for _, r := range q.replicas {
		if r.alive() {
			live = append(live, r)
		}
	}
	if len(live) == 0 {
		return nil, sim.ErrRefused
	}
	h := q.w.Hash("replica", d.verb, d.result.JobID, strconv.Itoa(d.attempt))
	to := live[h%uint64(len(live))]
	to.handle(d.result)
	q.counts.Delivered++
	f.to = to.name
	return f, nil
}

// later delivers from a task of its own, so that the next ones need not wait.
func (q *Queue) later(ctx context.Context, wait time.Duration, d delivery) {
	q.hub.Go(ctx, "callback", func(ctx context.Context) {
		if q.hub.Sleep(ctx, wait) == nil {
			q.deliver(ctx, d)
		}
	})
}

// draw is a duration up to limit that belongs to one fired effect.
func (q *Queue) draw(fx *sim.Fired, limit time.Duration) time.Duration {
	return 1 + time.Duration(q.w.Hash("callback", fx.Effect, fx.Call.String())%uint64(limit))
}
