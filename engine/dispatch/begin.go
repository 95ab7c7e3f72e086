package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// Answer says what became of an attempt to start a stage, as far as the tick
// counts it.
type Answer string

// The answers of Start.
const (
	Sent      Answer = "sent"      // jobs are out, the dispatch lives
	Pending   Answer = "pending"   // nothing is certain yet, the dispatch lives
	Refused   Answer = "refused"   // begin said no; Reason says why
	Nothing   Answer = "nothing"   // no progress; finished, Deferred says how
	Completed Answer = "completed" // nothing was left to do
	Failed    Answer = "failed"    // the stage failed for good
	Unread    Answer = "unread"    // content, artifacts or Redis could not be read; nothing was begun
)

// Started is what Start returns.
type Started struct {
	Answer   Answer
	Reason   string
	Stored   string // the deferral's reason, when Reason is deferred_capacity
	Deferred bool
}

// work is what a dispatch is begun for: the units to generate, or the verdict that
// ends it at once.
type work struct {
	scene  ports.Scene
	plan   stage.Plan
	ending string // scene_not_found, dispatch_error, no_jobs_generated; "" to send
}

// Start tries to begin a dispatch of a stage and to post its jobs once. The reads
// come first, so that begin can write all it knows in one step. What lives on
// after it is looked after by tasks of its own.
func (d *Dispatcher) Start(ctx context.Context, v store.StageView) Started {
	w, err := d.plan(ctx, v)
	if err != nil {
		d.trouble(v.Stage.SceneID, "plan", err)
		return Started{Answer: Unread}
	}
	l := &live{stage: v.Stage, scene: w.scene, dispatch: "dispatch-" + d.Runtime.Token(), generation: v.Intent.Generation,
		version: w.scene.Version, floor: v.Floor, mark: w.plan.Mark, holder: d.holder, started: d.Runtime.Now()}
	for _, unit := range w.plan.Units {
		l.jobs = append(l.jobs, &job{id: keys.Job(l.stage, unit, l.generation), unit: unit, state: outstanding})
	}
	begun, err := d.begin(ctx, l)
	if err != nil {
		d.trouble(v.Stage.SceneID, "begin", err)
		return Started{Answer: Unread}
	}
	if begun.Verdict != store.OK {
		return Started{Answer: Refused, Reason: string(begun.Verdict), Stored: begun.Reason}
	}
	l.fence = begun.Fence
	d.Observer.Observe(ports.Attempt{Stage: l.stage, Dispatch: l.dispatch, Generation: l.generation,
		Fence: l.fence, Jobs: l.jobIDs(), Forced: v.Intent.Force, Probe: begun.Probe})
	if w.ending == "" && !w.plan.Whole {
		d.Runtime.Go(ctx, "renew", func(ctx context.Context) { d.renew(ctx, l) })
		d.begun(ctx, l, w)
	}
	var s Started
	if !d.isolate(v.Stage.SceneID, "dispatch", func() { s = d.execute(ctx, l, w) }) {
		d.breakOff(ctx, l)
		l.ended.Store(true) // here; if it could not be ended, a pass will
		return Started{Answer: Nothing, Reason: outcome.DispatchError}
	}
	return s
}

// breakOff ends a dispatch whose executor panics: left alone it would be renewed for good,
// and nobody would look after it (DS3).
func (d *Dispatcher) breakOff(ctx context.Context, l *live) {
	if !d.ours(ctx, l) {
		return
	}
	left := !d.purge(ctx, l.dispatch)
	d.finish(ctx, l, ending{outcome: "nothing", state: asset.Pending, verdict: verdictOf(outcome.DispatchError), idle: store.Increase, left: left})
}

// plan reads what the stage needs. An error means that it could not be told, and
// that nothing must be begun.
func (d *Dispatcher) plan(ctx context.Context, v store.StageView) (w work, err error) {
	st, ok := d.StageOf(v.Stage.Stage)
	if !ok {
		return w, fmt.Errorf("dispatch: no executor of stage %s", v.Stage)
	}
	w.scene, err = d.Content.Scene(ctx, v.Stage.SceneID)
	if errors.Is(err, ports.ErrNoScene) {
		w.ending = outcome.SceneNotFound
		return w, nil
	}
	if err != nil {
		return w, err
	}
	var unread error
	planned := d.isolate(v.Stage.SceneID, "plan", func() { w.plan, unread = st.Plan(ctx, w.scene, v.Floor) })
	switch {
	case !planned:
		w.ending = outcome.DispatchError
	case unread != nil:
		return w, unread
	case len(w.plan.Units) == 0 && !w.plan.Complete():
		w.ending = outcome.NoJobsGenerated
	}
	return w, nil
}

// begin retries while it cannot tell whether the script ran: begin of the same
// dispatch is idempotent.
func (d *Dispatcher) begin(ctx context.Context, l *live) (store.BeginReply, error) {
	p := d.Profile(l.stage.Stage)
	args := store.BeginArgs{Stage: l.stage, Dispatch: l.dispatch, Holder: d.holder, Generation: l.generation,
		Version: l.version, Mark: l.mark, Lease: p.Lease, Slots: p.Slots, Jobs: l.jobIDs(),
		Breaker: p.Breaker, Permit: p.ProgressDeadline}
	for try := 1; ; try++ {
		begun, err := d.Store.Begin(ctx, args)
		if err == nil || try == 3 || !errors.Is(err, store.ErrAmbiguous) {
			return begun, err
		}
	}
}

// execute does what a begun dispatch is for, up to the end of its first round.
func (d *Dispatcher) execute(ctx context.Context, l *live, w work) Started {
	switch {
	case w.ending == outcome.SceneNotFound:
		d.finish(ctx, l, ending{outcome: "failed", state: asset.Failed, verdict: verdictOf(w.ending)})
		return Started{Answer: Failed, Reason: w.ending}
	case w.ending != "":
		d.finish(ctx, l, ending{outcome: "nothing", state: asset.Pending, verdict: verdictOf(w.ending), idle: store.Increase})
		return Started{Answer: Nothing, Reason: w.ending}
	case w.plan.Whole:
		d.proved(ctx, l, w.scene)
		e := ending{outcome: "ready", state: asset.Ready, idle: store.Reset, budget: store.Reset, version: w.scene.Version}
		if w.plan.Reason != "" {
			e.verdict = verdictOf(w.plan.Reason)
		}
		d.finish(ctx, l, e)
		return Started{Answer: Completed}
	}
	d.round(ctx, l)
	s := d.judge(ctx, l)
	if s.Answer == Sent || s.Answer == Pending {
		d.Runtime.Go(ctx, "watch", func(ctx context.Context) { d.watch(ctx, l) })
	}
	return s
}

// verdictOf is the verdict for one reason of the engine's own.
func verdictOf(reason string) outcome.Verdict {
	v, err := outcome.Classify([]outcome.Count{{Reason: reason, N: 1}})
	if err != nil {
		panic("dispatch: " + err.Error()) // the engine's own words are in its table
	}
	return v
}
