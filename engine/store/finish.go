package store

import (
	"context"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

const claimFor = 60 * time.Second // the time of a completion handler (schema 3)

// Claim gives one caller the completion of a dispatch for 60 s: OK, InProgress or
// Finished. A lapsed claim can be taken; the claimant may ask again.
func (s *Store) Claim(ctx context.Context, stage ports.StageID, dispatch, claimant string) (Verdict, error) {
	r, err := s.run(ctx, &scripts.claim, stage.String(), []string{keys.AssetState(stage.SceneID)},
		stage.Stage, dispatch, claimant, claimFor.Milliseconds())
	if err != nil {
		return "", err
	}
	return r.verdict(), nil
}

// Op is what Finish does with a count.
type Op string

// What Finish does with the zero-progress count (Increase, Reset, Keep) and with the
// retry budget (Charge, Reset, Keep).
const (
	Keep     Op = "keep"
	Reset    Op = "reset"
	Increase Op = "inc"
	Charge   Op = "charge"
)

// FinishArgs is how a dispatch ends.
type FinishArgs struct {
	Stage       ports.StageID
	Dispatch    string
	Caller      string // its holder or claimant
	Outcome     string // ready, failed, nothing, partial, cancelled, lost
	State       asset.State
	Reason      string        // of package outcome, without `|`
	Bucket      string        // of the reason
	Window      time.Duration // of the deferral; 0: none
	Idle        Op            // Increase: begun, and nothing accepted
	Budget      Op
	BudgetLimit int           // tokens of a full budget
	Refill      time.Duration // time for one token
	Breaker     guard.Breaker
	Evidence    guard.Evidence // what it tells the breaker
	Purge       bool           // its jobs may still be at the hub
	Jobs        []string       // whose receipts go, as far as they are its own
}

// FinishReply says what Finish left behind; unless OK, what stands anyway.
type FinishReply struct {
	Verdict Verdict // OK, Finished or NotOwner
	State   asset.State
	Reason  string
	Idle    int64     // zero-progress attempts in a row
	Budget  int64     // tokens left; -1: full
	Next    time.Time // until when the stage backs off
	Circuit string    // of the kind of stage: closed, open, half_open
}

// Finish ends a dispatch once, with all that follows, in one step (schema 3; spec
// runtime FN1, FN3, DF1): it frees what the dispatch holds, leaves a marker for 24 h and a line in the
// outbox, and writes state, zero-progress count, deferral and budget. Backoff sets in
// at the third attempt without progress that opens no window: min(60, 10 * 2^(n-3)) s. A
// charge that leaves no token makes the stage failed, with retry_budget_exhausted.
func (s *Store) Finish(ctx context.Context, a FinishArgs) (FinishReply, error) {
	b, line := a.Breaker, Line{Kind: LineFinished, Dispatch: a.Dispatch, Outcome: a.Outcome, Reason: a.Reason, Stage: a.Stage}
	names := []string{
		keys.AssetState(a.Stage.SceneID), keys.Lease(a.Stage), keys.Dispatch(a.Stage), keys.DispatchJobs(a.Dispatch),
		keys.Slots(a.Stage.Stage), keys.DispatchCompleted(a.Stage, a.Dispatch), keys.Deferred(a.Stage),
		keys.DeferredOf(a.Stage.Book), keys.Budget(a.Stage), keys.Outbox(),
		keys.Breaker(a.Stage.Stage), keys.BreakerFailures(a.Stage.Stage), keys.BreakerPermits(a.Stage.Stage),
		keys.Purges(),
	}
	for _, job := range a.Jobs {
		names = append(names, keys.Receipt(job))
	}
	r, err := s.run(ctx, &scripts.finish, a.Stage.String(), names,
		a.Stage.Stage, a.Dispatch, a.Caller, a.Outcome, string(a.State), a.Reason, a.Bucket, a.Window.Milliseconds(),
		string(a.Idle), string(a.Budget), a.BudgetLimit, millis("refill", a.Refill), keys.BookStageMember(a.Stage), line.String(),
		string(a.Evidence), b.Trip, millis("window", b.Window), millis("cool-down", b.CoolDown), flag(a.Purge))
	if err != nil {
		return FinishReply{}, err
	}
	tokens := r.int(4)
	if r[4] == "-1" {
		tokens = -1
	}
	return FinishReply{r.verdict(), asset.State(r[1]), r[2], r.int(3), tokens, r.instant(5), r[6]}, nil
}
