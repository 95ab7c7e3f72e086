package hub

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

const (
	// WorkerSilence is how long after its last sign of life a worker is dead.
	WorkerSilence = 30 * time.Second
	// Retention is how long a finished job is remembered.
	Retention = 2 * time.Hour
	// runsMax is how often a job is given to a worker before it fails.
	runsMax = 3
)

// Scope is what a queue clear says of the scope that it cleared.
type Scope int

// The scopes of the answer to a clear. What is cleared is the same.
const (
	ScopeEcho    Scope = iota // the scope that was asked for
	ScopeAbsent               // none
	ScopeForeign              // another id (spec runtime HB1)
)

// Options are the settings of a hub. The zero value is usable.
type Options struct {
	APIKey   string // demanded as x-api-key; empty: none
	NoFences bool   // a hub that knows neither fences nor cleared dispatches
	Scope    Scope
	Capacity int // jobs queued per stage; 0: no limit
}

// Hub is the hub of a world. The jobs of stage x are for the workers of type x.
type Hub struct {
	// OnResult is told of each result that a worker, or the hub in its name,
	// reports; of a repeated report again. It must not wait.
	OnResult func(ports.JobResult)

	w        *sim.World
	p        *sim.Process
	opts     Options
	handler  http.Handler
	mock     *httpmock.MockTransport
	life     string // incarnation of p that the queue belongs to
	watchers []func(Event)

	jobs       map[string]*job
	dispatches map[string][]*job // those of jobs, by dispatch
	queues     map[string][]*job // the queued ones, by stage, oldest first
	ended      []*job            // done and failed ones, oldest first; some replaced since
	seq        uint64
	workers    map[string]*worker

	fences  map[ports.StageID]fence
	cleared map[string]bool // dispatches

	counts map[ports.StageID]Counts
	names  map[string]string // subject of each job id and dispatch ever posted
	bodies map[string]answer // last answer by method and URL, for the effect stale
}

// New makes the hub of process p.
func New(w *sim.World, p *sim.Process, o Options) *Hub {
	h := &Hub{
		OnResult: func(ports.JobResult) {},
		w:        w, p: p, opts: o, life: p.Incarnation(),
		workers: map[string]*worker{},
		fences:  map[ports.StageID]fence{},
		cleared: map[string]bool{},
		counts:  map[ports.StageID]Counts{},
		names:   map[string]string{},
		bodies:  map[string]answer{},
	}
	h.empty()
	h.handler = h.routes()
	h.mock = httpmock.NewMockTransport()
	h.mock.RegisterNoResponder(h.respond)
	return h
}

var _ http.Handler = (*Hub)(nil)

// Set changes the settings of the hub; the API key stays.
func (h *Hub) Set(o Options) {
	o.APIKey = h.opts.APIKey
	h.opts = o
}

// ServeHTTP implements http.Handler.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Counts is what came in for one stage of a scene.
type Counts struct {
	Posts    int // well-formed requests to queue a job
	Accepted int // those that were answered with 202
}

// Counts returns the counts of a stage since the world began.
func (h *Hub) Counts(s ports.StageID) Counts { return h.counts[s] }

// Requests is the number of requests that reached the handler.
func (h *Hub) Requests() int { return h.mock.GetTotalCallCount() }

// View is a job as a property may see it.
type View struct {
	ports.JobStatus
	Worker   string // who runs it, or ran it last
	Accepted int    // posts of this job id that were accepted, ever
	Runs     int    // times that a worker was given the job, since it was last accepted
}

// Jobs lists what the hub knows at this instant, by job id.
func (h *Hub) Jobs() []View {
	views := make([]View, 0, len(h.jobs))
	for _, id := range slices.Sorted(maps.Keys(h.jobs)) {
		j := h.jobs[id]
		views = append(views, View{j.JobStatus, j.worker, j.accepted, j.runs})
	}
	return views
}

// Live says whether the job is queued or running.
func (h *Hub) Live(jobID string) bool {
	j := h.jobs[jobID]
	return j != nil && j.live()
}

// Restart loses every job and result, as a hub that keeps them in memory does.
// A restart of its process does the same, before the next request.
func (h *Hub) Restart() {
	for _, id := range slices.Sorted(maps.Keys(h.jobs)) {
		h.emit(Lost, h.jobs[id], "")
	}
	h.empty()
}

func (h *Hub) empty() {
	h.jobs = map[string]*job{}
	h.dispatches = map[string][]*job{}
	h.queues = map[string][]*job{}
	h.ended = nil
	for _, id := range slices.Sorted(maps.Keys(h.workers)) {
		h.workers[id].job = nil
	}
}
