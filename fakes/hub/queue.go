package hub

import (
	"maps"
	"slices"
	"time"

	"github.com/animastor/orchestra/ports"
)

// job is one accepted post. Posting a finished job again makes a new one.
type job struct {
	ports.JobStatus
	seq      uint64 // its place in the queue, also when it is queued again
	worker   string // who runs it, or ran it last
	runs     int    // times claimed
	accepted int    // posts of this id accepted, this one included
	endedAt  time.Duration
}

func (j *job) live() bool { return j.State == ports.JobQueued || j.State == ports.JobRunning }

type worker struct {
	Hello
	seenAt time.Duration
	job    *job // the one it runs; nil: idle
}

// fence is what the hub knows of the fences of one stage of a scene.
type fence struct {
	seen   int64 // the highest
	barred bool  // by a clear of the book: every fence up to bar
	bar    int64
}

func (h *Hub) silent(w *worker) bool { return h.w.Elapsed()-w.seenAt > WorkerSilence }

// sweep does what has become due since the last request.
func (h *Hub) sweep() {
	if life := h.p.Incarnation(); life != h.life {
		h.life = life
		h.Restart()
	}
	for _, id := range slices.Sorted(maps.Keys(h.workers)) {
		if w := h.workers[id]; w.job != nil && h.silent(w) {
			h.requeue(w, "silent")
		}
	}
	for len(h.ended) > 0 && h.w.Elapsed()-h.ended[0].endedAt >= Retention {
		j := h.ended[0]
		h.ended = h.ended[1:]
		if h.jobs[j.JobID] == j {
			h.remove(j)
			h.emit(Expired, j, "")
		}
	}
}

// refusal is why a job was not accepted.
type refusal struct {
	status int
	reason string
	holder string // the dispatch that holds the job
}

// post queues a job, or says why not (nil: queued).
func (h *Hub) post(p ports.Job) *refusal {
	j := &job{JobStatus: ports.JobStatus{Job: p, State: ports.JobQueued}, accepted: 1}
	counts := h.counts[p.StageID()]
	counts.Posts++
	no := h.judge(p)
	if no == nil {
		counts.Accepted++
	}
	h.counts[p.StageID()] = counts
	if no != nil {
		h.emit(Refused, j, no.reason)
		return no
	}
	if old := h.jobs[p.JobID]; old != nil {
		j.accepted = old.accepted + 1
		h.remove(old)
	}
	h.seq++
	j.seq = h.seq
	h.jobs[p.JobID] = j
	h.dispatches[p.DispatchID] = append(h.dispatches[p.DispatchID], j)
	h.queues[p.Stage] = append(h.queues[p.Stage], j)
	h.emit(Accepted, j, "")
	return nil
}

// judge says why a job must not be queued, or nil. A fence counts as seen even if
// the job is refused for another reason: its dispatch exists.
func (h *Hub) judge(p ports.Job) *refusal {
	if !h.opts.NoFences {
		f := h.fences[p.StageID()]
		if h.cleared[p.DispatchID] || p.Fence < f.seen || f.barred && p.Fence <= f.bar {
			return &refusal{status: 409, reason: "stale_intent"}
		}
		f.seen = p.Fence
		h.fences[p.StageID()] = f
	}
	// A job that is done for its dispatch is not done again: that post was under way for long.
	if old := h.jobs[p.JobID]; old != nil && (old.live() || old.DispatchID == p.DispatchID) {
		return &refusal{409, "duplicate_pending", old.DispatchID}
	}
	full := h.opts.Capacity > 0 && len(h.queues[p.Stage]) >= h.opts.Capacity
	if full || !h.staffed(p) {
		return &refusal{status: 503, reason: "no_worker_available"}
	}
	return nil
}

// staffed says whether a worker lives that may take the job.
func (h *Hub) staffed(p ports.Job) bool {
	for id, w := range h.workers { //sim:unordered it only asks whether there is one
		if seen := h.listed(id, w); seen.Alive && seen.Type == p.Stage && seen.Serves(p.Workspace) {
			return true
		}
	}
	return false
}

// listed is a worker as the hub lists it.
func (h *Hub) listed(id string, w *worker) ports.Worker {
	return ports.Worker{ID: id, Type: w.Type, Alive: !h.silent(w), Busy: w.job != nil, Scope: w.Scope, Workspace: w.Workspace,
		Shared: w.SharedUntil > h.p.Now().UnixMilli()}
}

// seen takes a sign of life.
func (h *Hub) seen(id string, hello Hello) *worker {
	w := h.workers[id]
	if w == nil {
		w = &worker{}
		h.workers[id] = w
	}
	if hello.Scope == "" {
		hello.Scope = ports.ScopeSystem
	}
	w.Hello, w.seenAt = hello, h.w.Elapsed()
	return w
}

// claim gives a worker the oldest job that it may take, or nil. A worker that runs a
// job and asks for one has forgotten it: it was restarted, or never had the answer.
func (h *Hub) claim(id string, hello Hello) *job {
	w := h.seen(id, hello)
	if w.job != nil {
		h.requeue(w, "forgotten")
	}
	listed, queue := h.listed(id, w), h.queues[hello.Type]
	at := slices.IndexFunc(queue, func(j *job) bool { return listed.Serves(j.Workspace) })
	if at < 0 {
		return nil
	}
	j := queue[at]
	h.queues[hello.Type] = slices.Delete(queue, at, at+1)
	j.State, j.worker, w.job = ports.JobRunning, id, j
	j.runs++
	h.progressed(j)
	h.emit(Claimed, j, "")
	return j
}

// requeue takes the job from its worker: to the place in the queue that it had, or
// to its end after runsMax runs.
func (h *Hub) requeue(w *worker, why string) {
	j := w.job
	if j.runs >= runsMax {
		h.finish(j, ports.JobResult{
			JobID: j.JobID, DispatchID: j.DispatchID, BookID: j.BookID, ChapterID: j.ChapterID, SceneID: j.SceneID,
			Stage: j.Stage, UnitID: j.UnitID, Generation: j.Generation, Fence: j.Fence, Version: j.Version,
			Worker: j.worker, Code: "worker_crashed", Message: "no worker finished the job",
		})
		j.worker = "" // its report would come too late
		return
	}
	h.emit(Requeued, j, why)
	w.job = nil
	j.State, j.worker = ports.JobQueued, ""
	queue := h.queues[j.Stage]
	at, _ := slices.BinarySearchFunc(queue, j.seq, func(q *job, seq uint64) int { return int(q.seq) - int(seq) })
	h.queues[j.Stage] = slices.Insert(queue, at, j)
}

// held returns the job if that worker was given it by that dispatch last; else
// the worker's work is not wanted any more.
func (h *Hub) held(jobID, dispatch, worker string) *job {
	j := h.jobs[jobID]
	if j == nil || j.DispatchID != dispatch || j.worker == "" || j.worker != worker {
		return nil
	}
	return j
}

func (h *Hub) progressed(j *job) { j.ProgressAt = h.p.Now().UnixMilli() }

// finish ends a running job. The result is kept as it was reported, also if it
// speaks of another unit: that is for the engine to see.
func (h *Hub) finish(j *job, r ports.JobResult) {
	h.release(j)
	j.State, j.Result, j.endedAt = ports.JobFailed, &r, h.w.Elapsed()
	kind, reason := Failed, r.Code
	if r.OK {
		j.State, kind, reason = ports.JobDone, Done, ""
	}
	h.progressed(j)
	h.ended = append(h.ended, j)
	h.emit(kind, j, reason)
	h.OnResult(r)
}

// release takes a job from its worker, if it has one.
func (h *Hub) release(j *job) {
	if w := h.workers[j.worker]; w != nil && w.job == j {
		w.job = nil
	}
}

// clear removes every live job that is in the scope, by job id, and counts them.
// A worker that runs one is told with its next report.
func (h *Hub) clear(scope string, in func(ports.Job) bool) int {
	n := 0
	for _, id := range slices.Sorted(maps.Keys(h.jobs)) {
		if j := h.jobs[id]; j.live() && in(j.Job) {
			h.remove(j)
			h.emit(Cleared, j, scope)
			n++
		}
	}
	return n
}

func (h *Hub) clearDispatch(id string) int {
	h.cleared[id] = true
	return h.clear("dispatch", func(j ports.Job) bool { return j.DispatchID == id })
}

// clearBook also bars every fence seen so far for the book.
func (h *Hub) clearBook(id string) int {
	for stage, f := range h.fences { //sim:unordered each one is raised by itself
		if stage.Book == id {
			h.fences[stage] = fence{seen: f.seen, bar: f.seen, barred: true}
		}
	}
	return h.clear("book", func(j ports.Job) bool { return j.BookID == id })
}

// remove forgets a job.
func (h *Hub) remove(j *job) {
	h.release(j)
	delete(h.jobs, j.JobID)
	h.queues[j.Stage] = without(h.queues[j.Stage], j)
	if h.dispatches[j.DispatchID] = without(h.dispatches[j.DispatchID], j); len(h.dispatches[j.DispatchID]) == 0 {
		delete(h.dispatches, j.DispatchID)
	}
}

func without(jobs []*job, j *job) []*job {
	if i := slices.Index(jobs, j); i >= 0 {
		return slices.Delete(jobs, i, i+1)
	}
	return jobs
}
