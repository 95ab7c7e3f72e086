package workers

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Spec describes the workers of one type. Zero durations are replaced by the
// values in brackets.
type Spec struct {
	Type        string                               // the stage that they work for
	N           int                                  // how many there are at first
	Workspace   string                               // whose private workers they are; "": the system's
	SharedUntil int64                                // ms since the epoch, by the hub's clock; 0: private ones are not shared
	Hub         func(*sim.Process) http.RoundTripper // the way to the hub: hub.Hub.Transport

	APIKey         string
	JobTimeMin     time.Duration // [20 s]
	JobTimeMax     time.Duration // [60 s if neither is given, else JobTimeMin]
	HeartbeatEvery time.Duration // [10 s]
	ProgressEvery  time.Duration // [10 s]
	PollEvery      time.Duration // [2 s] between two claims; idle workers ask ever less often, down to a fifth
}

func (s *Spec) fill() {
	if s.JobTimeMin == 0 && s.JobTimeMax == 0 {
		s.JobTimeMin, s.JobTimeMax = 20*time.Second, time.Minute
	}
	s.JobTimeMax = max(s.JobTimeMin, s.JobTimeMax)
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&s.HeartbeatEvery, 10 * time.Second}, {&s.ProgressEvery, 10 * time.Second}, {&s.PollEvery, 2 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
}

// Pool is the workers of one type.
type Pool struct {
	w    *sim.World
	tree Tree
	spec Spec
	n    int
	last ports.Job // the job that any of them claimed last, for the effect wrong
}

// Tree is where workers upload to: artifacts.Store in a simulation.
type Tree interface {
	// Put writes a file, whatever stands at its path.
	Put(ctx context.Context, file ports.Artifact) error
}

// Start starts the workers of one type; they upload to tree.
func Start(w *sim.World, tree Tree, spec Spec) *Pool {
	spec.fill()
	p := &Pool{w: w, tree: tree, spec: spec}
	p.Resize(spec.N)
	return p
}

// Resize starts or crashes workers, the last ones first, until there are n.
func (p *Pool) Resize(n int) {
	for ; p.n > n; p.n-- {
		p.process(p.n).Crash()
	}
	for ; p.n < n; p.n++ {
		if process := p.process(p.n + 1); process.Alive() {
			p.run(process)
		} else {
			p.Restart(process)
		}
	}
}

// SetJobTime says how long the jobs take that are started from now on.
func (p *Pool) SetJobTime(least, most time.Duration) {
	p.spec.JobTimeMin, p.spec.JobTimeMax = least, max(least, most)
}

// Share lends private workers to everybody until an instant of the hub's clock, in ms
// since the epoch; 0 ends it. They tell the hub with their next heartbeat.
func (p *Pool) Share(untilMs int64) { p.spec.SharedUntil = untilMs }

// Processes lists the workers' processes, dead ones included.
func (p *Pool) Processes() []*sim.Process {
	list := make([]*sim.Process, p.n)
	for i := range list {
		list[i] = p.process(i + 1)
	}
	return list
}

// Restart begins a new life of a worker, which has forgotten its job.
func (p *Pool) Restart(worker *sim.Process) {
	worker.Restart()
	p.run(worker)
}

func (p *Pool) process(number int) *sim.Process {
	name := p.spec.Type + "-"
	if p.spec.Workspace != "" {
		name += p.spec.Workspace + "-"
	}
	return p.w.Process(name + strconv.Itoa(number))
}

func (p *Pool) run(process *sim.Process) {
	k := &worker{Process: process, pool: p, spec: &p.spec, client: http.Client{Transport: p.spec.Hub(process)}}
	process.Go(process.Context(), "heartbeat", k.heartbeat)
	process.Go(process.Context(), "work", k.work)
}
