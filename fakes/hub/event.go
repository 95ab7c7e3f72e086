package hub

import (
	"strconv"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Kind is what happened to a job.
type Kind string

// What can happen to a job. A refused one is not in the queue.
const (
	Accepted   Kind = "accepted"
	Refused    Kind = "refused" // Reason: the word in the answer
	Claimed    Kind = "claimed"
	Progressed Kind = "progressed"
	Requeued   Kind = "requeued" // Reason: silent, or forgotten by its worker
	Done       Kind = "done"
	Failed     Kind = "failed"  // Reason: the failure code
	Cleared    Kind = "cleared" // Reason: dispatch or book
	Expired    Kind = "expired" // a finished job that was forgotten
	Lost       Kind = "lost"    // in a restart
)

// Event is one thing that happened to a job. It stands in the trace of the world
// with kind "hub", this struct as Data.
type Event struct {
	Kind   Kind
	Job    ports.Job
	Worker string // who runs the job, or ran it
	Run    int    // of the job, from 1; 0 before a worker has it
	Reason string
}

// String is what happened, without the job and the reason: claimed image-1 run 2.
func (e Event) String() string {
	if e.Worker == "" {
		return string(e.Kind)
	}
	return string(e.Kind) + " " + e.Worker + " run " + strconv.Itoa(e.Run)
}

// On calls fn for each event. fn must not wait.
func (h *Hub) On(fn func(Event)) { h.watchers = append(h.watchers, fn) }

func (h *Hub) emit(kind Kind, j *job, reason string) {
	e := Event{Kind: kind, Job: j.Job, Worker: j.worker, Run: j.runs, Reason: reason}
	h.w.Emit(sim.Event{Process: h.p.Incarnation(), Kind: "hub", Subject: subject(j.Job), Detail: e.String(), Outcome: reason, Data: e})
	for _, fn := range h.watchers {
		fn(e)
	}
}

// subject is a job in names and traces: book/chapter/scene:stage/unit.
func subject(j ports.Job) string { return j.StageID().String() + "/" + ports.Quote(j.UnitID) }
