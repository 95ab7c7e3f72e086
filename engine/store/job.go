package store

import (
	"context"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// The states of a job in its dispatch (schema 2).
const (
	JobOutstanding = "outstanding" // not tried, or refused
	JobPosting     = "posting"     // admitted, no answer of the hub yet
	JobSent        = "sent"        // the hub has it
	JobUnknown     = "unknown"     // the hub may have it
	JobDone        = "done"
	JobFailed      = "failed"
)

// taskDoneTTL is how long a completion marker lives, and the note that one was
// released (schema 2).
const taskDoneTTL = 7 * 24 * time.Hour

// AdmitArgs is the post that Admit lets through or not.
type AdmitArgs struct {
	Stage      ports.StageID
	Dispatch   string
	Holder     string
	Generation int64
	Fence      int64
	Job        string        // keys.Job
	Payload    string        // hash of the payload
	Lease      time.Duration // how long the receipt lives
}

// Admit runs before each post: OK leaves a receipt and makes the job posting. Refusals,
// in this order: intent_not_active (cancelled), intent_missing, intent_corrupt,
// intent_not_active, stale_intent, already_completed, receipt_conflict, duplicate_pending,
// with the other dispatch. A refusal writes nothing.
func (s *Store) Admit(ctx context.Context, a AdmitArgs) (verdict Verdict, other string, err error) {
	r, err := s.run(ctx, &scripts.admit, a.Job,
		[]string{
			keys.Cancel(a.Stage.Book), keys.Intent(a.Stage), keys.AssetState(a.Stage.SceneID),
			keys.Receipt(a.Job), keys.TaskDone(a.Job), keys.DispatchJobs(a.Dispatch),
		},
		a.Stage.Stage, a.Dispatch, a.Holder, a.Generation, a.Fence, a.Job, a.Payload, millis("lease", a.Lease))
	if err != nil {
		return "", "", err
	}
	return r.verdict(), r[1], nil
}

// Mark notes what became of a post: outstanding, sent or unknown. It never takes back a
// result. It answers OK or Finished, and the state that now stands; lease is the
// dispatch's.
func (s *Store) Mark(ctx context.Context, stage ports.StageID, dispatch, job, state string, lease time.Duration) (Verdict, string, error) {
	r, err := s.run(ctx, &scripts.mark, job,
		[]string{keys.AssetState(stage.SceneID), keys.DispatchJobs(dispatch)},
		stage.Stage, dispatch, job, state, millis("lease", lease))
	if err != nil {
		return "", "", err
	}
	return r.verdict(), r[1], nil
}

// Forget takes back the receipt of a post that did not happen. It returns false if the
// receipt is not the dispatch's.
func (s *Store) Forget(ctx context.Context, dispatch, job string) (bool, error) {
	return s.yes(ctx, &scripts.forget, job, []string{keys.Receipt(job)}, dispatch)
}

// Release frees the completion marker of a job whose artifact was probed absent
// (design 5.4.11, audit 121 N2): Released or Kept. It does so once for a job, and so for a
// generation, and once more after each Finish of the job that charged the retry budget:
// a worker that says done and leaves nothing is tried as often as one that fails.
func (s *Store) Release(ctx context.Context, stage ports.StageID, dispatch, job string) (Verdict, error) {
	r, err := s.run(ctx, &scripts.release, job,
		[]string{keys.TaskDone(job), keys.AssetState(stage.SceneID), keys.Receipt(job)},
		stage.Stage, dispatch, taskDoneTTL.Milliseconds())
	if err != nil {
		return "", err
	}
	return r.verdict(), nil
}

// AcceptArgs is the result of one job.
type AcceptArgs struct {
	Stage      ports.StageID
	Dispatch   string
	Fence      int64
	Generation int64
	Job        string // keys.Job
	State      string // JobDone or JobFailed
	Result     string // kept with the job until the dispatch ends
}

// AcceptReply says whether a result was taken, and what is left.
type AcceptReply struct {
	Verdict Verdict // Accepted, Last, Duplicate or Stale
	Left    int64   // jobs without a result; 0 with Stale
	Failed  int64   // jobs that failed; 0 with Stale
}

// Accept takes the result of one job, once. After a lost answer the same result is a
// Duplicate, and Left tells whether it was the last.
func (s *Store) Accept(ctx context.Context, a AcceptArgs) (AcceptReply, error) {
	r, err := s.run(ctx, &scripts.accept, a.Job,
		[]string{keys.AssetState(a.Stage.SceneID), keys.DispatchJobs(a.Dispatch), keys.TaskDone(a.Job)},
		a.Stage.Stage, a.Dispatch, a.Fence, a.Generation, a.Job, a.State, a.Result, taskDoneTTL.Milliseconds())
	if err != nil {
		return AcceptReply{}, err
	}
	return AcceptReply{r.verdict(), r.int(1), r.int(2)}, nil
}
