package store

import (
	"context"
	"time"

	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Verdict is what a script decided. Refusals of Begin and Admit are the reasons of
// package outcome (outcome.Cancelled, outcome.StaleIntent, ...).
type Verdict string

// The verdicts of the scripts that are no reasons.
const (
	OK         Verdict = "ok"
	Finished   Verdict = "finished"    // the dispatch is not live any more
	NotOwner   Verdict = "not_owner"   // it is live, and another's
	Fresh      Verdict = "fresh"       // Adopt: its holder renews
	InProgress Verdict = "in_progress" // Claim: another completes it
	Stale      Verdict = "stale"       // Accept: a result of no live job; Start: the scope has a later order, or is gone
	Duplicate  Verdict = "duplicate"   // Accept: the job has a result
	Accepted   Verdict = "accepted"    // Accept: taken, jobs are left
	Last       Verdict = "last"        // Accept: taken, no job is left; Delivered: no line is
	Released   Verdict = "released"    // Release: the marker is gone
	Kept       Verdict = "kept"        // Release: it was released before, or the dispatch is not live
	Started    Verdict = "started"     // Start: it was before
	Moved      Verdict = "moved"       // Slide, Conclude: the scope was written since, or is gone; Delivered: the line is not the head
)

const adoptAfter = 90 * time.Second // without a renewal (schema 3)

// BeginArgs is the dispatch that Begin should create.
type BeginArgs struct {
	Stage      ports.StageID
	Dispatch   string // a new id, without `|`
	Holder     string // the process incarnation that will renew
	Generation int64  // of the intent that the caller saw
	Version    int64  // content version it is built for
	Mark       int64  // highest dirty mark it is built for
	Lease      time.Duration
	Slots      int           // live dispatches that the kind of stage may have
	Breaker    guard.Breaker // of the kind of stage
	Permit     time.Duration // how long a probe may take before its permit lapses
	Jobs       []string      // job ids (keys.Job)
}

// BeginReply says what Begin did. With a refusal nothing was written.
type BeginReply struct {
	Verdict    Verdict   // OK or a reason
	Generation int64     // of the dispatch; with a refusal, of the intent (0: none)
	Fence      int64     // of the dispatch; with a refusal, the last one
	Reason     string    // with deferred_capacity: the stored reason
	Probe      bool      // it was let through a half-open circuit, and holds a permit
	Until      time.Time // with deferred_capacity, backoff and circuit_open: when it ends
}

// Begin creates a dispatch, or refuses, in the order of schema 3: cancelled, intent_missing,
// intent_corrupt, intent_not_active, stale_intent, not_dispatchable, image_not_ready, deferred_capacity, backoff,
// duplicate, circuit_open, half_open_limit, backpressure. Called again for the live dispatch it says OK again.
func (s *Store) Begin(ctx context.Context, a BeginArgs) (BeginReply, error) {
	line := Line{Kind: LineStarted, Dispatch: a.Dispatch, Stage: a.Stage}
	r, err := s.run(ctx, &scripts.begin, a.Stage.String(),
		[]string{
			keys.AssetState(a.Stage.SceneID), keys.Intent(a.Stage), keys.Lease(a.Stage), keys.Dispatch(a.Stage),
			keys.DispatchJobs(a.Dispatch), keys.Slots(a.Stage.Stage), keys.Deferred(a.Stage), keys.Cancel(a.Stage.Book), keys.Outbox(),
			keys.Breaker(a.Stage.Stage), keys.BreakerPermits(a.Stage.Stage),
		},
		with([]any{a.Stage.Stage, a.Dispatch, a.Holder, a.Generation, a.Version, a.Mark, millis("lease", a.Lease), a.Slots, line.String(),
			millis("cool-down", a.Breaker.CoolDown), a.Breaker.Permits, millis("permit", a.Permit)},
			a.Jobs...)...)
	if err != nil {
		return BeginReply{}, err
	}
	reply := BeginReply{Verdict: r.verdict(), Generation: r.int(1), Fence: r.int(2), Until: r.instant(4)}
	if reply.Verdict == OK {
		reply.Probe = r[3] == "half_open"
	} else {
		reply.Reason = r[3]
	}
	return reply, nil
}

// RenewArgs is the dispatch that Renew extends.
type RenewArgs struct {
	Stage    ports.StageID
	Dispatch string
	Holder   string
	Lease    time.Duration // from now on
	Jobs     []string      // all its job ids
}

// Renew extends a dispatch for its holder, and re-creates what Redis evicted of it: OK,
// NotOwner or Finished. A job whose state was lost becomes unknown.
func (s *Store) Renew(ctx context.Context, a RenewArgs) (Verdict, error) {
	r, err := s.run(ctx, &scripts.renew, a.Stage.String(),
		[]string{
			keys.AssetState(a.Stage.SceneID), keys.Lease(a.Stage), keys.Dispatch(a.Stage),
			keys.DispatchJobs(a.Dispatch), keys.Slots(a.Stage.Stage),
		},
		with([]any{a.Stage.Stage, a.Dispatch, a.Holder, millis("lease", a.Lease)}, a.Jobs...)...)
	if err != nil {
		return "", err
	}
	return r.verdict(), nil
}

// AdoptReply describes the dispatch that was adopted.
type AdoptReply struct {
	Verdict    Verdict // OK, Fresh or Finished; the rest is set with OK only
	Generation int64
	Fence      int64
	Version    int64
	Mark       int64
	Started    time.Time
}

// Adopt makes holder the holder of a dispatch that nobody renewed for 90 s (schema 3).
func (s *Store) Adopt(ctx context.Context, stage ports.StageID, dispatch, holder string) (AdoptReply, error) {
	r, err := s.run(ctx, &scripts.adopt, stage.String(),
		[]string{keys.AssetState(stage.SceneID), keys.Dispatch(stage)},
		stage.Stage, dispatch, holder, adoptAfter.Milliseconds())
	if err != nil {
		return AdoptReply{}, err
	}
	if r.verdict() != OK {
		return AdoptReply{Verdict: r.verdict()}, nil
	}
	return AdoptReply{OK, r.int(1), r.int(2), r.int(3), r.int(4), r.instant(5)}, nil
}
