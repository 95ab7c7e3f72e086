package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/health"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// renew keeps the lease from begin on (DS8), by dispatch id (DS7), and stops by
// itself on a definite no (LS1).
func (d *Dispatcher) renew(ctx context.Context, l *live) {
	p := d.Profile(l.stage.Stage)
	for !l.ended.Load() && d.Runtime.Sleep(ctx, p.RenewEvery) == nil {
		if l.ended.Load() {
			return
		}
		d.isolate(l.stage.SceneID, "renew", func() { d.renewOnce(ctx, l) })
	}
}

func (d *Dispatcher) renewOnce(ctx context.Context, l *live) {
	verdict, err := d.extend(ctx, l)
	if err != nil {
		d.trouble(l.stage.SceneID, "renew", err)
		d.Observer.Observe(ports.Renewal{Stage: l.stage, Dispatch: l.dispatch, Holder: l.holder, Verdict: "error"})
		return
	}
	d.Observer.Observe(ports.Renewal{Stage: l.stage, Dispatch: l.dispatch, Holder: l.holder, Verdict: string(verdict), Stopped: l.ended.Load()})
}

// extend renews once, and ends the dispatch here on a definite no.
func (d *Dispatcher) extend(ctx context.Context, l *live) (store.Verdict, error) {
	verdict, err := d.Store.Renew(ctx, store.RenewArgs{Stage: l.stage, Dispatch: l.dispatch, Holder: l.holder,
		Lease: d.lease(l), Jobs: l.jobIDs()})
	if err == nil && verdict != store.OK {
		l.ended.Store(true)
	}
	return verdict, err
}

// ours makes sure of the dispatch before its jobs are purged: those that another
// replica has adopted are not this one's to clear. It asks until Redis has answered, or
// says that a key is corrupt.
func (d *Dispatcher) ours(ctx context.Context, l *live) bool {
	for wait := time.Second; ; wait = min(2*wait, finishWaitMax) {
		verdict, err := d.extend(ctx, l)
		if err == nil {
			return verdict == store.OK
		}
		d.trouble(l.stage.SceneID, "renew", err)
		if isCorrupt(err) || d.Runtime.Sleep(ctx, wait) != nil {
			return false
		}
	}
}

// watch looks after a dispatch that lives on after its first round: it sends the
// rest, finds lost jobs and lost results, and ends what makes no progress, or panics
// whenever it is looked at.
func (d *Dispatcher) watch(ctx context.Context, l *live) {
	l.polled = d.Runtime.Now()
	panics := 0 // in a row
	for !l.ended.Load() && d.Runtime.Sleep(ctx, d.interval(l)) == nil {
		switch {
		case l.ended.Load():
		case d.isolate(l.stage.SceneID, "watch", func() { d.look(ctx, l) }):
			panics = 0
		case panics+1 < giveUpAfter:
			panics++
		default:
			d.isolate(l.stage.SceneID, "watch", func() { d.breakOff(ctx, l) })
		}
	}
}

// look is one round of watch.
func (d *Dispatcher) look(ctx context.Context, l *live) {
	d.recall(ctx, l)
	if !d.refresh(ctx, l) {
		return
	}
	if now := d.Runtime.Now(); now.Sub(l.polled) >= pollEvery {
		l.polled = now
		d.poll(ctx, l)
	}
	if !l.ended.Load() {
		d.step(ctx, l)
	}
}

// interval is the time to the next look.
func (d *Dispatcher) interval(l *live) time.Duration {
	switch t := l.tally(); {
	case t.unsure > 0, l.taken: // look often: this task measures how long a merge hangs
		return roundEvery
	case t.outstanding > 0:
		return retryEvery
	}
	return pollEvery
}

// refresh reads the results that came in, through whichever replica.
func (d *Dispatcher) refresh(ctx context.Context, l *live) bool {
	jobs, err := d.Store.Jobs(ctx, l.dispatch)
	if err != nil {
		d.trouble(l.stage.SceneID, "read jobs", err)
		return false
	}
	before := l.tally().done
	l.merge(jobs)
	if l.tally().done > before {
		d.progressed(ctx, l)
	}
	return true
}

// step goes on with the dispatch.
func (d *Dispatcher) step(ctx context.Context, l *live) {
	if l.tally().ended == len(l.jobs) {
		l.tries = 0
		d.settle(ctx, l)
		return
	}
	d.round(ctx, l)
	l.tries++
	switch t := l.tally(); {
	case l.ended.Load():
	case t.atHub > 0:
		l.tries = 0
	case t.unsure > 0:
		if t.ended == 0 && d.Runtime.Now().Sub(l.started) > askAtMost {
			d.abandon(ctx, l)
		}
	case t.ended == 0:
		d.judge(ctx, l)
	case t.outstanding > 0 && (l.tries >= giveUpAfter || l.endless()):
		d.giveUp(ctx, l)
	}
}

// giveUp ends a dispatch part of which was not taken: it must not wait for jobs
// nobody took. A job that failed decides, as if all had been: else it would be tried
// without end, at no cost to the budget.
func (d *Dispatcher) giveUp(ctx context.Context, l *live) {
	jobs, err := d.Store.Jobs(ctx, l.dispatch)
	if err != nil {
		d.trouble(l.stage.SceneID, "read jobs", err)
		return
	}
	e, some := failure(jobs)
	if !some {
		e = ending{outcome: "partial", state: asset.Pending, verdict: d.conclude(l), idle: store.Reset}
	}
	d.finish(ctx, l, e)
}

// endless says that trying again cannot help the outstanding jobs.
func (l *live) endless() bool {
	for _, j := range l.jobs {
		if e, _ := outcome.Lookup(j.reason); j.state == outstanding && e.Retryable {
			return false
		}
	}
	return true
}

// poll asks the hub about the dispatch: results whose callback was dropped, jobs
// that it lost, and the last progress.
func (d *Dispatcher) poll(ctx context.Context, l *live) {
	statuses, err := d.Hub.Dispatch(ctx, l.dispatch)
	if err != nil {
		d.trouble(l.stage.SceneID, "ask for dispatch", err)
		return
	}
	at := map[string]ports.JobStatus{}
	for _, s := range statuses {
		at[s.JobID] = s
	}
	running, queued, progress := false, false, int64(0)
	for _, j := range l.jobs {
		s, found := at[j.id]
		switch {
		case j.state != sent:
		case !found:
			j.reason = outcome.Lost
			d.mark(ctx, l, j, outstanding)
		case s.Result != nil:
			if err := d.Complete(ctx, resultOf(s)); err != nil {
				d.trouble(l.stage.SceneID, "complete", err)
			}
		case s.State == ports.JobRunning:
			running, progress = true, max(progress, s.ProgressAt)
		default:
			queued = true
		}
	}
	waiting := running || queued && d.idle(ctx, l)
	now := d.Runtime.Now()
	if !waiting || progress != l.progress || l.seen.IsZero() {
		l.progress, l.seen = progress, now
	}
	if now.Sub(l.seen) > d.Profile(l.stage.Stage).ProgressDeadline {
		d.lose(ctx, l, running)
	}
}

// idle says whether a worker that may take the dispatch's queued jobs is idle: only then
// does their time run. One that could not be asked for proves nothing.
func (d *Dispatcher) idle(ctx context.Context, l *live) bool {
	workers, err := d.Hub.Workers(ctx)
	if err != nil {
		d.trouble(l.stage.SceneID, "ask for workers", err)
		return false
	}
	return health.Of(workers, l.stage.Stage, l.scene.Workspace).Idle() > 0
}

// lose ends a dispatch that makes no progress, or that nobody looked after. It
// counts against the budget if a worker had claimed one of its jobs (design 5.4.4), as
// one had of which a failure was taken.
func (d *Dispatcher) lose(ctx context.Context, l *live, claimed bool) {
	if !d.ours(ctx, l) {
		return
	}
	left := !d.purge(ctx, l.dispatch)
	e := ending{outcome: "lost", state: asset.Pending, verdict: verdictOf(outcome.Lost), idle: store.Reset, left: left}
	if t := l.tally(); claimed || t.ended > t.done {
		e.budget, e.evidence = store.Charge, guard.Judge(outcome.ClassifyFailure(outcome.Lost, ""), true)
	}
	d.finish(ctx, l, e)
}

// Adopt takes over a dispatch that nobody has renewed for 90 s (design 5.4.9). It
// returns false if it was fresh or finished.
func (d *Dispatcher) Adopt(ctx context.Context, v store.StageView) (adopted bool, err error) {
	l, err := d.take(ctx, v)
	if l == nil {
		return false, err
	}
	d.Runtime.Go(ctx, "watch", func(ctx context.Context) {
		resumed := false
		d.isolate(l.stage.SceneID, "adopt", func() { resumed = d.resume(ctx, l) })
		if !resumed {
			return // it has ended, or nobody renews it, and a pass adopts it again
		}
		d.Runtime.Go(ctx, "renew", func(ctx context.Context) { d.renew(ctx, l) })
		d.isolate(l.stage.SceneID, "adopt", func() {
			d.recall(ctx, l)
			d.poll(ctx, l)
		})
		d.watch(ctx, l)
	})
	return true, nil
}

// Lose takes over a dispatch that nobody renews and the hub knows nothing of, and
// ends it as lost. Unless a failure was taken, nobody can tell whether a worker had
// claimed one of its jobs, so neither budget nor breaker is charged.
func (d *Dispatcher) Lose(ctx context.Context, v store.StageView) (lost bool, err error) {
	l, err := d.take(ctx, v)
	if l == nil {
		return false, err
	}
	jobs, err := d.Store.Jobs(ctx, l.dispatch)
	if err != nil {
		return false, err // nobody renews it, and a pass tries again
	}
	d.lose(ctx, l, slices.ContainsFunc(jobs, func(j store.Job) bool { return j.State == failed }))
	return l.ended.Load(), nil
}

// take makes a dispatch that nobody renews one's own; nil if it was fresh or finished, or if
// that could not be done. The holder that it gets is new, so that a process which slept
// through that time, and finds its own dispatch, does not look after it twice: the old tasks
// learn that they lost it.
func (d *Dispatcher) take(ctx context.Context, v store.StageView) (*live, error) {
	holder := d.Runtime.Token()
	a, err := d.Store.Adopt(ctx, v.Stage, v.Dispatch, holder)
	if err != nil || a.Verdict != store.OK {
		return nil, err
	}
	return &live{stage: v.Stage, dispatch: v.Dispatch, generation: a.Generation, fence: a.Fence, version: a.Version,
		floor: v.Floor, mark: a.Mark, holder: holder, started: d.Runtime.Now()}, nil
}

// resume learns what an adopted dispatch was about. Without its jobs there is nothing to
// go on with, and it is lost.
func (d *Dispatcher) resume(ctx context.Context, l *live) bool {
	jobs, err := d.Store.Jobs(ctx, l.dispatch)
	for err != nil {
		d.trouble(l.stage.SceneID, "read jobs", err)
		if d.Runtime.Sleep(ctx, roundEvery) != nil {
			return false
		}
		jobs, err = d.Store.Jobs(ctx, l.dispatch)
	}
	for _, j := range jobs {
		_, unit, _, err := keys.ParseJob(j.ID)
		if err != nil {
			d.trouble(l.stage.SceneID, "adopt", err)
			continue
		}
		// Whatever was under way when the holder died has to be asked for.
		l.jobs = append(l.jobs, &job{id: j.ID, unit: unit, state: j.State, posts: 1})
	}
	if len(l.jobs) == 0 {
		d.lose(ctx, l, false)
		return false
	}
	return true
}

// recall reads the scene of an adopted dispatch: without it nobody knows whose workers may
// take the jobs, nor how many pictures there are. While the content is away the dispatch goes
// on without it.
func (d *Dispatcher) recall(ctx context.Context, l *live) {
	if l.scene.Version != 0 {
		return
	}
	scene, err := d.Content.Scene(ctx, l.stage.SceneID)
	if err != nil {
		d.trouble(l.stage.SceneID, "read content", err)
		return
	}
	l.scene = scene
	d.progressed(ctx, l)
}
