package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// Complete takes the result of one job, from a callback or from the hub's own
// account, on any replica and as often as it comes. accept answers duplicates, and
// claim lets one caller end the dispatch (design 5.4.13). A result that no job can have led
// to is ports.ErrInvalid.
func (d *Dispatcher) Complete(ctx context.Context, r ports.JobResult) error {
	l, err := d.accept(ctx, r)
	if l != nil {
		d.settle(ctx, l)
	}
	return err
}

// CompleteStatus takes the result of a job from the hub's own account of it. What that
// leads to is the business of another task: a merge may hang, and the caller has more
// dispatches to see to.
func (d *Dispatcher) CompleteStatus(ctx context.Context, s ports.JobStatus) error {
	l, err := d.accept(ctx, resultOf(s))
	if l == nil {
		return err
	}
	d.Runtime.Go(ctx, "settle", func(ctx context.Context) {
		d.isolate(l.stage.SceneID, "settle", func() { d.settle(ctx, l) })
	})
	return nil
}

// accept takes a result, and returns its dispatch if no other result of it is to come.
func (d *Dispatcher) accept(ctx context.Context, r ports.JobResult) (*live, error) {
	id := r.StageID()
	if err := validResult(r); err != nil {
		return nil, err
	}
	a := store.AcceptArgs{Stage: id, Dispatch: r.DispatchID, Fence: r.Fence, Generation: r.Generation, Job: r.JobID,
		State: done, Result: r.Artifact}
	if !r.OK {
		a.State, a.Result = failed, r.Code
	}
	accepted, err := d.Store.Accept(ctx, a)
	if err != nil {
		return nil, err
	}
	d.Observer.Observe(ports.Result{Stage: id, Dispatch: r.DispatchID, Job: r.JobID, Verdict: string(accepted.Verdict)})
	last := accepted.Verdict == store.Last || accepted.Verdict == store.Duplicate && accepted.Left == 0
	if !last {
		return nil, nil
	}
	view, err := d.Store.ReadStage(ctx, id)
	if err != nil || view.Dispatch != r.DispatchID {
		return nil, err
	}
	return &live{stage: id, dispatch: r.DispatchID, generation: r.Generation, fence: r.Fence, version: view.Version, floor: view.Floor, mark: view.Mark, holder: d.holder}, nil
}

// validResult refuses at the door what no job of this engine can have led to, and says which
// field is wrong. The error is ports.ErrInvalid.
func validResult(r ports.JobResult) error {
	if err := r.StageID().SceneID.Validate(); err != nil {
		return err
	}
	for _, id := range [...]struct{ kind, id string }{{"unit", r.UnitID}, {"dispatch", r.DispatchID}} {
		if err := ports.ValidateID(id.kind, id.id); err != nil {
			return err
		}
	}
	for _, number := range [...]struct {
		name      string
		is, least int64
	}{{"fence", r.Fence, 1}, {"version", r.Version, 0}} {
		if number.is < number.least {
			return fmt.Errorf("dispatch: %w result of job %q: its %s is %d, below %d", ports.ErrInvalid, r.JobID, number.name, number.is, number.least)
		}
	}
	s, unit, generation, err := keys.ParseJob(r.JobID)
	if err != nil {
		return fmt.Errorf("dispatch: %w result, its job_id: %w", ports.ErrInvalid, err)
	}
	for _, field := range [...]struct {
		name string
		same bool
	}{
		{"book_id", s.Book == r.BookID}, {"chapter_id", s.Chapter == r.ChapterID}, {"scene_id", s.Scene == r.SceneID},
		{"stage", s.Stage == r.Stage}, {"unit_id", unit == r.UnitID}, {"generation", generation == r.Generation},
	} {
		if !field.same {
			return fmt.Errorf("dispatch: %w result of job %q: its %s is another", ports.ErrInvalid, r.JobID, field.name)
		}
	}
	return nil
}

// resultOf is what the hub's account of an ended job says. A result that speaks of
// another job is none of this one, which has then ended without.
func resultOf(s ports.JobStatus) ports.JobResult {
	r, j := *s.Result, s.Job
	if r.JobID == j.JobID && r.DispatchID == j.DispatchID && r.Fence == j.Fence && validResult(r) == nil {
		return r
	}
	return ports.JobResult{JobID: j.JobID, DispatchID: j.DispatchID, BookID: j.BookID, ChapterID: j.ChapterID, SceneID: j.SceneID,
		Stage: j.Stage, UnitID: j.UnitID, Generation: j.Generation, Fence: j.Fence, Version: j.Version,
		Worker: r.Worker, Code: outcome.ArtifactMissing, Message: "the worker reported another job's result"}
}

// settle ends a dispatch whose jobs are all done or failed. One task at a time runs it,
// of this process and of all (H-09); a proof that is unknown leaves the dispatch live, and
// it is tried again.
func (d *Dispatcher) settle(ctx context.Context, l *live) {
	if _, l.taken = d.settling.LoadOrStore(l.dispatch, true); l.taken {
		return
	}
	defer d.settling.Delete(l.dispatch)
	verdict, err := d.Store.Claim(ctx, l.stage, l.dispatch, l.holder)
	if err != nil {
		d.trouble(l.stage.SceneID, "claim", err)
		return
	}
	switch verdict {
	case store.OK:
	case store.Finished:
		l.ended.Store(true)
		return
	default:
		l.taken = true
		return
	}
	jobs, err := d.Store.Jobs(ctx, l.dispatch)
	if err != nil {
		d.trouble(l.stage.SceneID, "read jobs", err)
		return
	}
	if len(l.jobs) == 0 {
		for _, j := range jobs {
			l.jobs = append(l.jobs, &job{id: j.ID})
		}
	}
	l.merge(jobs)
	if e, ok := d.conclusion(ctx, l, jobs); ok {
		d.finish(ctx, l, e)
	}
}

// conclusion is how a dispatch with all its results ends; ok is false while it
// cannot be told.
func (d *Dispatcher) conclusion(ctx context.Context, l *live, jobs []store.Job) (e ending, ok bool) {
	if e, ok := failure(jobs); ok {
		return e, true
	}
	evidence := guard.None
	if executed(jobs) {
		evidence = guard.Success
	}
	scene, err := d.Content.Scene(ctx, l.stage.SceneID)
	if errors.Is(err, ports.ErrNoScene) {
		return ending{outcome: "failed", state: asset.Failed, verdict: verdictOf(outcome.SceneNotFound)}, true
	}
	if err != nil {
		d.trouble(l.stage.SceneID, "read content", err)
		return ending{}, false
	}
	st, found := d.StageOf(l.stage.Stage)
	if !found {
		return ending{}, false
	}
	presence, err := st.Assemble(ctx, scene, stage.Build{Generation: l.generation, Floor: l.floor, Mark: l.mark, Units: made(jobs)})
	switch {
	case errors.Is(err, stage.ErrEdited):
		return ending{outcome: "partial", state: asset.Dirty, verdict: verdictOf(outcome.Edited), idle: store.Reset, evidence: evidence}, true
	case presence == ports.Present:
		d.proved(ctx, l, scene)
		return ending{outcome: "ready", state: asset.Ready, idle: store.Reset, budget: store.Reset, evidence: evidence, version: scene.Version}, true
	case presence == ports.Absent && scene.Version > l.version: // bounded by the budget (H-01)
		return ending{outcome: "failed", state: asset.Dirty, verdict: verdictOf(outcome.StaleVersion), idle: store.Reset, budget: store.Charge}, true
	case presence == ports.Absent:
		return ending{outcome: "failed", state: asset.Pending, verdict: verdictOf(outcome.ArtifactMissing), idle: store.Reset, budget: store.Charge}, true
	}
	d.trouble(l.stage.SceneID, "prove artifacts", err)
	return d.unmerged(l, jobs, err)
}

// unmerged is how a dispatch ends whose parts stand and cannot be merged for as long as
// a job may go without progress: as lost (design 5.4.9). What cannot be read ends nothing.
func (d *Dispatcher) unmerged(l *live, jobs []store.Job, err error) (e ending, ok bool) {
	var merge *stage.MergeError
	now := d.Runtime.Now()
	switch {
	case !errors.As(err, &merge):
		return ending{}, false
	case l.unmerged.IsZero():
		l.unmerged = now
	}
	if now.Sub(l.unmerged) <= d.Profile(l.stage.Stage).ProgressDeadline {
		return ending{}, false
	}
	e = ending{outcome: "lost", state: asset.Pending, verdict: verdictOf(outcome.Lost), idle: store.Reset}
	if executed(jobs) {
		e.budget = store.Charge
	}
	return e, true
}

// made lists the units whose artifacts a dispatch has made.
func made(jobs []store.Job) (units []string) {
	for _, j := range jobs {
		if _, unit, _, err := keys.ParseJob(j.ID); err == nil && j.State == done && j.Result != cached {
			units = append(units, unit)
		}
	}
	return units
}

// executed says whether a worker did one of the jobs: an artifact that stood already
// tells nothing about the machinery (CB5).
func executed(jobs []store.Job) bool { return len(made(jobs)) > 0 }

// failure is how a dispatch ends one of whose jobs failed; ok is false if none did.
func failure(jobs []store.Job) (e ending, ok bool) {
	code, some := worstFailure(jobs)
	if !some {
		return ending{}, false
	}
	f := outcome.ClassifyFailure(code, "")
	e = ending{outcome: "failed", state: asset.Pending, verdict: verdictOf(outcome.JobFailed), idle: store.Reset, budget: store.Charge}
	e.verdict.Retryable, e.evidence = f.Retryable, guard.Judge(f, true) // a worker reported it
	if !f.Retryable {
		e.state = asset.Failed
	}
	return e, true
}

// worstFailure is the failure that decides: one that cannot be retried before one
// that can, then the first by job id.
func worstFailure(jobs []store.Job) (code string, some bool) {
	for _, j := range jobs {
		if j.State != failed {
			continue
		}
		if !some || outcome.ClassifyFailure(code, "").Retryable && !outcome.ClassifyFailure(j.Result, "").Retryable {
			code, some = j.Result, true
		}
	}
	return code, some
}
