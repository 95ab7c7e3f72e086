package ports

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Job is the work posted for one unit of a stage (schema 5).
type Job struct {
	JobID      string `json:"job_id"` // keys.Job: {stage}:{b}:{c}:{s}:{unit}:{generation}
	DispatchID string `json:"dispatch_id"`
	BookID     string `json:"book_id"`
	ChapterID  string `json:"chapter_id"`
	SceneID    string `json:"scene_id"`
	Stage      string `json:"stage"`
	UnitID     string `json:"unit_id"`
	Generation int64  `json:"generation"`
	Fence      int64  `json:"fence"`
	Version    int64  `json:"version"`
	Workspace  string `json:"workspace_id,omitempty"` // whose private workers may take it, too
	Payload    string `json:"payload"`                // "version=N", for video followed by " composition=TEXT"
	Path       string `json:"path"`                   // where in the artifact tree the worker puts the file
}

// Composition is what the artifact of the job is to be made of, and recorded with it;
// "" if the payload does not say.
func (j Job) Composition() string {
	_, composition, _ := strings.Cut(j.Payload, " composition=")
	return composition
}

// StageID is the stage that the job belongs to.
func (j Job) StageID() StageID {
	return SceneID{j.BookID, j.ChapterID, j.SceneID}.Of(j.Stage)
}

// The states of a job at the hub.
const (
	JobQueued  = "queued"
	JobRunning = "running"
	JobDone    = "done"
	JobFailed  = "failed"
)

// JobStatus is what the hub knows of one job.
type JobStatus struct {
	Job
	State      string     `json:"state"`
	ProgressAt int64      `json:"progress_at"` // ms since the epoch, by the hub's clock; 0: none yet
	Result     *JobResult `json:"result,omitempty"`
}

// JobResult is what a worker reported, as the hub passes it on in a callback and
// in JobStatus.
type JobResult struct {
	JobID      string `json:"job_id"`
	DispatchID string `json:"dispatch_id"`
	BookID     string `json:"book_id"`
	ChapterID  string `json:"chapter_id"`
	SceneID    string `json:"scene_id"`
	Stage      string `json:"stage"`
	UnitID     string `json:"unit_id"`
	Generation int64  `json:"generation"`
	Fence      int64  `json:"fence"`
	Version    int64  `json:"version"`
	Worker     string `json:"worker"`
	OK         bool   `json:"ok"`
	Artifact   string `json:"artifact,omitempty"` // path in the artifact tree, when OK
	Code       string `json:"code,omitempty"`     // failure code (engine/outcome), when not OK
	Message    string `json:"message,omitempty"`
}

// StageID is the stage that the result belongs to.
func (r JobResult) StageID() StageID {
	return SceneID{r.BookID, r.ChapterID, r.SceneID}.Of(r.Stage)
}

// Cleared is the hub's answer to a queue clear: how many jobs went, and the
// scope that the hub says it cleared. A nil scope field was not echoed.
type Cleared struct {
	OK      bool `json:"ok"`
	Cleared int  `json:"cleared"`
	Scope   struct {
		DispatchID *string `json:"dispatch_id,omitempty"`
		BookID     *string `json:"book_id,omitempty"`
	} `json:"scope"`
}

// Worker is one GPU worker as the hub lists it. Whether it lives, and whether it is
// shared now, the hub says by its own clock (WM2).
type Worker struct {
	ID        string `json:"id"`
	Type      string `json:"type"` // the stage it works for
	Alive     bool   `json:"alive"`
	Busy      bool   `json:"busy"`
	Scope     string `json:"scope"`                  // ScopeSystem, ScopePrivate
	Workspace string `json:"workspace_id,omitempty"` // whose it is, if private
	Shared    bool   `json:"shared,omitempty"`       // private, and lent to everybody for now
}

// The scopes of a worker.
const (
	ScopeSystem  = "system"  // for every book
	ScopePrivate = "private" // for the books of its workspace; while it is shared, for all
)

// Global says whether every workspace may use the worker. What is neither of the
// scopes is for nobody (spec runtime 4.14).
func (w Worker) Global() bool {
	return w.Scope == ScopeSystem || w.Scope == ScopePrivate && w.Workspace != "" && w.Shared
}

// Serves says whether the worker may take a job of a workspace.
func (w Worker) Serves(workspace string) bool {
	return w.Global() || w.Scope == ScopePrivate && w.Workspace != "" && w.Workspace == workspace
}

// Hub is the job hub. Every method makes exactly one request, without retries of
// its own. Errors: *Rejected for an answer that definitely did nothing
// (connection refused, 4xx, 409, 503), ErrAmbiguous (wrapped) when the request
// may have been carried out (deadline, reset, 5xx, unreadable 2xx).
type Hub interface {
	// Post queues a job.
	Post(ctx context.Context, job Job) error
	// Job returns what the hub knows of a job; found is false on a definite 404.
	Job(ctx context.Context, jobID string) (status JobStatus, found bool, err error)
	// Dispatch lists the jobs of a dispatch, done ones included.
	Dispatch(ctx context.Context, dispatchID string) ([]JobStatus, error)
	// ClearDispatch removes the jobs of a dispatch and bars new ones of it.
	ClearDispatch(ctx context.Context, dispatchID string) (Cleared, error)
	// ClearBook removes every job of a book and raises its fences.
	ClearBook(ctx context.Context, bookID string) (Cleared, error)
	// Workers lists the workers that the hub knows.
	Workers(ctx context.Context) ([]Worker, error)
}

// ErrAmbiguous says that a request may or may not have been carried out.
var ErrAmbiguous = errors.New("hub: the request may have been carried out")

// Rejected is a definite no of the hub, or a connection that was never made.
type Rejected struct {
	Status     int    // HTTP status; 0: connection refused
	Reason     string // the hub's word, e.g. no_worker_available, duplicate_pending, stale_intent
	DispatchID string // who holds the job, where the hub names it (409)
}

func (r *Rejected) Error() string {
	if r.Status == 0 {
		return "hub: connection refused"
	}
	return fmt.Sprintf("hub: status %d, reason %q", r.Status, r.Reason)
}
