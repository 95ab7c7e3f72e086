package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// offer posts one outstanding job, if admit allows it. It leaves the job sent,
// done, unknown, or outstanding with a reason.
func (d *Dispatcher) offer(ctx context.Context, l *live, j *job) {
	post, err := d.compose(ctx, l, j)
	if err != nil {
		d.trouble(l.stage.SceneID, "compose job", err)
		j.state, j.reason = outstanding, outcome.SendFailed
		return
	}
	if !d.admit(ctx, l, j, post, true) {
		return
	}
	d.post(ctx, l, j, post, true)
}

// compose makes the job's request of what the content says now: a scene that was
// edited since the first try must not pass for the same job (receipt_conflict).
func (d *Dispatcher) compose(ctx context.Context, l *live, j *job) (ports.Job, error) {
	s, version := l.stage, l.version
	if j.posts > 0 {
		scene, err := d.Content.Scene(ctx, s.SceneID)
		if err != nil {
			return ports.Job{}, err
		}
		l.scene, version = scene, scene.Version
	}
	st, _ := d.StageOf(s.Stage)
	composition, err := st.Composition(ctx, l.scene, j.unit)
	if err != nil {
		return ports.Job{}, err
	}
	payload := "version=" + strconv.FormatInt(version, 10)
	if composition != "" {
		payload += " composition=" + composition
	}
	return ports.Job{JobID: j.id, DispatchID: l.dispatch, BookID: s.Book, ChapterID: s.Chapter, SceneID: s.Scene,
		Stage: s.Stage, UnitID: j.unit, Generation: l.generation, Fence: l.fence, Version: version, Workspace: l.scene.Workspace,
		Payload: payload, Path: st.Path(s.SceneID, j.unit, l.generation)}, nil
}

func payloadHash(payload string) string {
	sum := sha256.Sum256([]byte(payload))
	return hex.EncodeToString(sum[:8])
}

// admit asks Redis for the last word before a post. It handles a job that is done
// already, and one that another dispatch has left behind, once each.
func (d *Dispatcher) admit(ctx context.Context, l *live, j *job, post ports.Job, again bool) bool {
	verdict, other, err := d.Store.Admit(ctx, store.AdmitArgs{Stage: l.stage, Dispatch: l.dispatch, Holder: l.holder,
		Generation: l.generation, Fence: l.fence, Job: j.id, Payload: payloadHash(post.Payload), Lease: d.lease(l)})
	if err != nil {
		d.trouble(l.stage.SceneID, "admit", err)
		j.state, j.reason = outstanding, outcome.IntentReceiptUnavailable
		return false
	}
	switch {
	case verdict == store.OK:
		j.state = posting
		return true
	case verdict == outcome.AlreadyCompleted:
		if d.reuse(ctx, l, j) {
			return false
		}
		if again && d.release(ctx, l, j) {
			return d.admit(ctx, l, j, post, false)
		}
	case verdict == outcome.DuplicatePending && again:
		// Nobody but this dispatch was live at the script, so the other one is left over.
		if d.purge(ctx, other) && d.forget(ctx, l, j, other) {
			return d.admit(ctx, l, j, post, false)
		}
	}
	j.state, j.reason = outstanding, string(verdict)
	return false
}

// reuse takes the artifact that a completed job has left as its result.
func (d *Dispatcher) reuse(ctx context.Context, l *live, j *job) bool {
	st, _ := d.StageOf(l.stage.Stage)
	presence, err := st.Stat(ctx, l.scene, j.unit, l.floor)
	if err != nil {
		d.trouble(l.stage.SceneID, "probe artifact", err)
	}
	if presence != ports.Present {
		return false
	}
	a, err := d.Store.Accept(ctx, store.AcceptArgs{Stage: l.stage, Dispatch: l.dispatch, Fence: l.fence, Generation: l.generation,
		Job: j.id, State: done, Result: cached})
	if err != nil || a.Verdict == store.Stale {
		return false
	}
	j.state, j.artifact = done, true
	return true
}

// release frees a completion marker without an artifact, if the artifact was
// proved absent and no marker of this job was freed since the budget was last charged for
// it (design 5.4.11).
func (d *Dispatcher) release(ctx context.Context, l *live, j *job) bool {
	st, _ := d.StageOf(l.stage.Stage)
	if presence, _ := st.Stat(ctx, l.scene, j.unit, l.floor); presence != ports.Absent {
		return false
	}
	verdict, err := d.Store.Release(ctx, l.stage, l.dispatch, j.id)
	if err != nil {
		d.trouble(l.stage.SceneID, "release completion marker", err)
	}
	return verdict == store.Released
}

func (d *Dispatcher) forget(ctx context.Context, l *live, j *job, other string) bool {
	gone, err := d.Store.Forget(ctx, other, j.id)
	if err != nil {
		d.trouble(l.stage.SceneID, "forget receipt", err)
	}
	return gone
}

// post sends an admitted job. again allows one more try after the job of another
// dispatch was cleared out of the way.
func (d *Dispatcher) post(ctx context.Context, l *live, j *job, post ports.Job, again bool) {
	j.posts++
	err := d.Hub.Post(ctx, post)
	j.err = nil
	var no *ports.Rejected
	switch {
	case err == nil:
		d.mark(ctx, l, j, sent)
	case !errors.As(err, &no):
		j.err = err
		d.mark(ctx, l, j, unknown)
	case no.Status == 409 && no.DispatchID == l.dispatch:
		d.mark(ctx, l, j, sent) // our own earlier post, whose answer was lost
	case no.Status == 409 && no.Reason == outcome.DuplicatePending && again && no.DispatchID != "" && d.evict(ctx, l, no.DispatchID):
		d.post(ctx, l, j, post, false)
	default:
		if j.reason = rejection(no); j.reason == outcome.SendFailed {
			j.err = err
		}
		d.mark(ctx, l, j, outstanding)
	}
}

// evict clears the jobs of another dispatch of the stage out of the way, which the hub has
// named. A stage has one live dispatch: if this one is live still, the other has ended, and
// no pause can make that untrue again. If not, the other may be the live one.
func (d *Dispatcher) evict(ctx context.Context, l *live, other string) bool {
	return d.ours(ctx, l) && d.purge(ctx, other)
}

// rejection is the reason for a definite no of the hub. A word that the taxonomy
// does not know is a plain failure to send (DF16).
func rejection(no *ports.Rejected) string {
	switch {
	case no.Status == 503 && no.Reason == outcome.NoWorkerAvailable,
		no.Status == 409 && (no.Reason == outcome.DuplicatePending || no.Reason == outcome.StaleIntent):
		return no.Reason
	}
	return outcome.SendFailed
}

// mark writes down where a job is. If it cannot, the copy in memory still says so,
// and Redis keeps the more careful `posting`.
func (d *Dispatcher) mark(ctx context.Context, l *live, j *job, state string) {
	j.state = state
	verdict, stored, err := d.Store.Mark(ctx, l.stage, l.dispatch, j.id, state, d.lease(l))
	switch {
	case err != nil:
		d.trouble(l.stage.SceneID, "mark job", err)
	case verdict == store.Finished:
		l.ended.Store(true)
	case stored == done || stored == failed:
		j.state = stored // its result was faster than the answer to the post
	}
}

// ask finds out about a post whose answer was lost (schema 4, ambiguous_post).
func (d *Dispatcher) ask(ctx context.Context, l *live, j *job) {
	status, found, err := d.Hub.Job(ctx, j.id)
	switch {
	case err != nil:
		d.trouble(l.stage.SceneID, "ask for job", err)
		j.state = unknown
	case found && status.DispatchID == l.dispatch:
		d.mark(ctx, l, j, sent)
	case found && d.evict(ctx, l, status.DispatchID), !found && j.posts < 2:
		j.state = outstanding
		d.offer(ctx, l, j)
	default:
		j.reason = outcome.AmbiguousPost
		d.mark(ctx, l, j, outstanding)
	}
}
