package dispatch

import (
	"context"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// renew keeps the lease from begin on (DS8), by dispatch id (DS7), and stops by
// itself on a definite no (LS1).
func (d *Dispatcher) renew(ctx context.Context, l *live) {
	p := d.Profile(l.stage.Stage)
	for !l.ended && d.Runtime.Sleep(ctx, p.RenewEvery) == nil {
		if l.ended {
			break
		}
		call, cancel := d.bounded(ctx)
		verdict, err := d.Store.Renew(call, store.RenewArgs{Stage: l.stage, Dispatch: l.dispatch, Holder: d.holder,
			Lease: p.RenewedLease, Jobs: l.jobIDs()})
		cancel()
		if err != nil {
			d.trouble(l.stage.SceneID, "renew", err)
			d.Observer.Observe(ports.Renewal{Stage: l.stage, Dispatch: l.dispatch, Verdict: "error"})
			continue
		}
		l.ended = l.ended || verdict != store.OK
		d.Observer.Observe(ports.Renewal{Stage: l.stage, Dispatch: l.dispatch, Verdict: string(verdict), Stopped: l.ended})
	}
}

// watch looks after a dispatch that lives on after its first round: it sends the
// rest, finds lost jobs and lost results, and ends what makes no progress.
func (d *Dispatcher) watch(ctx context.Context, l *live) {
	polled := d.Runtime.Now()
	tries := 0
	for !l.ended {
		if d.Runtime.Sleep(ctx, d.interval(l)) != nil || l.ended {
			return
		}
		if !d.refresh(ctx, l) {
			continue
		}
		if now := d.Runtime.Now(); now.Sub(polled) >= pollEvery {
			polled = now
			d.poll(ctx, l)
		}
		if !l.ended {
			tries = d.step(ctx, l, tries)
		}
	}
}

// interval is the time to the next look.
func (d *Dispatcher) interval(l *live) time.Duration {
	switch {
	case l.count(unknown, posting) > 0:
		return roundEvery
	case l.count(outstanding) > 0:
		return retryEvery
	}
	return pollEvery
}

// refresh reads the results that came in, through whichever replica.
func (d *Dispatcher) refresh(ctx context.Context, l *live) bool {
	call, cancel := d.bounded(ctx)
	defer cancel()
	jobs, err := d.Store.Jobs(call, l.dispatch)
	if err != nil {
		d.trouble(l.stage.SceneID, "read jobs", err)
		return false
	}
	l.merge(jobs)
	return true
}

// step goes on with the dispatch. tries counts the rounds in which nothing was
// under way and nothing was taken.
func (d *Dispatcher) step(ctx context.Context, l *live, tries int) int {
	if l.count(done, failed) == len(l.jobs) {
		d.settle(ctx, l)
		return 0
	}
	d.round(ctx, l)
	switch {
	case l.ended:
	case l.count(sent) > 0:
		return 0
	case l.count(unknown, posting) > 0:
		if l.count(done, failed) == 0 && d.Runtime.Now().Sub(l.started) > askAtMost {
			d.abandon(ctx, l)
		}
	case l.count(done, failed) == 0:
		d.judge(ctx, l)
	case l.count(outstanding) > 0 && (tries+1 >= giveUpAfter || l.endless()):
		// The rest was not taken, and it must not wait for jobs nobody took.
		v := d.conclude(l)
		d.finish(ctx, l, ending{outcome: "partial", state: asset.Pending, verdict: v, idle: store.Reset})
	}
	return tries + 1
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
	var progress time.Time
	running := false
	for _, j := range l.jobs {
		s, found := at[j.id]
		switch {
		case j.state != sent:
		case !found:
			j.reason = outcome.Lost
			d.mark(ctx, l, j, outstanding)
		case s.Result != nil:
			if err := d.Complete(ctx, *s.Result); err != nil {
				d.trouble(l.stage.SceneID, "complete", err)
			}
		case s.State == ports.JobRunning:
			running = true
			if t := time.UnixMilli(s.ProgressAt); t.After(progress) {
				progress = t
			}
		}
	}
	if running && d.Runtime.Now().Sub(progress) > d.Profile(l.stage.Stage).ProgressDeadline {
		d.lose(ctx, l, true)
	}
}

// lose ends a dispatch that makes no progress, or that nobody looked after. It
// counts against the budget if a worker had claimed one of its jobs (design 5.4.4).
func (d *Dispatcher) lose(ctx context.Context, l *live, claimed bool) {
	keep := !d.purge(ctx, l.dispatch)
	e := ending{outcome: "lost", state: asset.Pending, verdict: verdictOf(outcome.Lost), idle: store.Reset, keepReceipts: keep}
	if claimed {
		e.budget = store.Charge
	}
	d.finish(ctx, l, e)
}

// Adopt takes over a dispatch that nobody has renewed for 90 s (design 5.4.9). It
// returns false if it was fresh, finished, or could not be taken.
func (d *Dispatcher) Adopt(ctx context.Context, v store.StageView) bool {
	a, err := d.Store.Adopt(ctx, v.Stage, v.Dispatch, d.holder)
	if err != nil || a.Verdict != store.OK {
		if err != nil {
			d.trouble(v.Stage.SceneID, "adopt", err)
		}
		return false
	}
	l := &live{stage: v.Stage, dispatch: v.Dispatch, generation: a.Generation, fence: a.Fence, version: a.Version,
		floor: v.Floor, started: d.Runtime.Now()}
	d.Runtime.Go(ctx, "renew", func(ctx context.Context) { d.renew(ctx, l) })
	d.Runtime.Go(ctx, "watch", func(ctx context.Context) {
		if d.resume(ctx, l) {
			d.watch(ctx, l)
		}
	})
	return true
}

// resume learns what an adopted dispatch was about. Without its jobs there is
// nothing to go on with, and it is lost.
func (d *Dispatcher) resume(ctx context.Context, l *live) bool {
	for {
		jobs, err := d.Store.Jobs(ctx, l.dispatch)
		if err != nil {
			d.trouble(l.stage.SceneID, "read jobs", err)
			if d.Runtime.Sleep(ctx, roundEvery) != nil || l.ended {
				return false
			}
			continue
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
		d.poll(ctx, l)
		return !l.ended
	}
}
