package dispatch

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// ending is how a dispatch ends.
type ending struct {
	outcome      string // ready, failed, nothing, partial, lost
	state        asset.State
	verdict      outcome.Verdict // zero for ready
	idle, budget store.Op        // empty: keep
	evidence     guard.Evidence  // for the breaker
	version      int64           // of the content, that READY is said of
	left         bool            // jobs may still be at the hub: their receipts stay, and a pass purges them
}

// finish ends the dispatch, once, and tries until Redis has said so: the step is
// idempotent, and what it must lead to stands in the outbox. It returns false if
// the dispatch had ended before, or belongs to somebody else; and if a key of it is
// corrupt, which only an operator can mend: the caller must not wait for that, and
// whoever looks after the dispatch tries again.
func (d *Dispatcher) finish(ctx context.Context, l *live, e ending) bool {
	p := d.Profile(l.stage.Stage)
	args := store.FinishArgs{Stage: l.stage, Dispatch: l.dispatch, Caller: l.holder, Outcome: e.outcome, State: e.state,
		Reason: e.verdict.Reason, Bucket: e.verdict.Bucket, Window: e.verdict.Window,
		Idle: cmp.Or(e.idle, store.Keep), Budget: cmp.Or(e.budget, store.Keep), BudgetLimit: p.RetryBudget, Refill: p.RefillEvery,
		Breaker: p.Breaker, Evidence: e.evidence, Purge: e.left}
	if !e.left {
		args.Jobs = l.jobIDs()
	}
	for wait := time.Second; ; wait = min(2*wait, finishWaitMax) {
		f, err := d.Store.Finish(ctx, args)
		if err == nil {
			l.ended.Store(true)
			if f.Verdict == store.OK {
				d.finished(l, e, f)
				d.stamp(ctx, l, e)
			}
			return f.Verdict == store.OK
		}
		d.trouble(l.stage.SceneID, "finish", err)
		if isCorrupt(err) || d.Runtime.Sleep(ctx, wait) != nil {
			return false
		}
	}
}

// stamp notes, once READY is committed (H-03), which version of the content it is of. Who
// reads that is outside the engine, so a store that is away holds up nothing.
func (d *Dispatcher) stamp(ctx context.Context, l *live, e ending) {
	if d.Pointers == nil || e.state != asset.Ready {
		return
	}
	if err := d.Pointers.Stamp(ctx, l.stage, e.version); err != nil {
		d.trouble(l.stage.SceneID, "stamp", err)
	}
}

func isCorrupt(err error) bool {
	var corrupt *store.CorruptError
	return errors.As(err, &corrupt)
}

func (d *Dispatcher) finished(l *live, e ending, f store.FinishReply) {
	t := l.tally()
	d.Observer.Observe(ports.Finish{Stage: l.stage, Dispatch: l.dispatch, Generation: l.generation,
		Outcome: e.outcome, Reason: f.Reason, Bucket: e.verdict.Bucket, WindowSeconds: int64(e.verdict.Window / time.Second),
		Deferred: e.verdict.Deferred, Retryable: e.verdict.Retryable, Sent: t.atHub + t.ended,
		State: string(f.State), Idle: f.Idle, Budget: f.Budget, Evidence: string(e.evidence), Circuit: f.Circuit})
}
