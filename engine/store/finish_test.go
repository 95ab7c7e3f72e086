package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
)

func claim(w *world) (store.Verdict, error) { return w.Claim(ctx, stage, "d1", "c1") }

func TestClaim(t *testing.T) {
	claimed := "+ K:asset-state:b:c:s image.claim = c1\n+ K:asset-state:b:c:s image.claim_until = 1060000"
	table(t, live, claim, []test{
		{"free", "", store.OK, claimed},
		{"taken", "HSET K:asset-state:b:c:s image.claim c2 image.claim_until 1000001", store.InProgress, ""},
		{"lapsed", "HSET K:asset-state:b:c:s image.claim c2 image.claim_until 1000000", store.OK,
			"- K:asset-state:b:c:s image.claim = c2\n- K:asset-state:b:c:s image.claim_until = 1000000\n" + claimed},
		{"again, after a lost answer", "HSET K:asset-state:b:c:s image.claim c1 image.claim_until 1060000", store.OK, ""},
		{"over", "HDEL K:asset-state:b:c:s image.dispatch", store.Finished, ""},
	})
}

// finishWith finishes d1 for want of a worker, but for what change says.
func finishWith(change func(*store.FinishArgs)) func(*world) (store.FinishReply, error) {
	a := store.FinishArgs{
		Stage: stage, Dispatch: "d1", Caller: "h1", Outcome: "nothing", State: asset.Pending,
		Reason: outcome.NoWorkerAvailable, Bucket: outcome.Capacity, Window: 60 * time.Second,
		Idle: store.Increase, Budget: store.Keep, BudgetLimit: 10, Refill: 6 * time.Minute, Jobs: []string{job1, job2},
		Breaker: guard.Published(),
	}
	change(&a)
	return func(w *world) (store.FinishReply, error) { return w.Finish(ctx, a) }
}

func finish(w *world) (store.FinishReply, error) {
	return finishWith(func(*store.FinishArgs) {})(w)
}

// freed is what every finish of d1 takes away and leaves behind.
const freed = `
	- K:asset-state:b:c:s image.dispatch = d1
	- K:asset-state:b:c:s image.holder = h1
	- K:asset-state:b:c:s image.renewed = 1000000
	- K:asset-state:b:c:s image.state = generating
	- K:dispatch-jobs:d1 image:b:c:s:u1:3 = outstanding
	- K:dispatch-jobs:d1 image:b:c:s:u2:3 = outstanding
	- K:dispatch-jobs:d1 lives 1200000
	- K:dispatch-lease:b:c:s:image = d1
	- K:dispatch-lease:b:c:s:image lives 1200000
	- K:dispatch:b:c:s:image dispatch_id = d1
	- K:dispatch:b:c:s:image fence = 5
	- K:dispatch:b:c:s:image generation = 3
	- K:dispatch:b:c:s:image holder = h1
	- K:dispatch:b:c:s:image lives 1200000
	- K:dispatch:b:c:s:image mark = 9
	- K:dispatch:b:c:s:image started_at = 1000000
	- K:dispatch:b:c:s:image version = 7`

func TestFinish(t *testing.T) {
	gone := "\n- K:runtime:slots:image d1 = 2200000\n"
	idle := store.FinishReply{Verdict: store.OK, State: asset.Pending, Reason: outcome.NoWorkerAvailable, Idle: 1, Budget: -1, Circuit: "closed"}
	written := `
		+ K:asset-state:b:c:s image.idle = 1
		+ K:asset-state:b:c:s image.next = 0
		+ K:asset-state:b:c:s image.reason = no_worker_available
		+ K:asset-state:b:c:s image.state = pending
		+ K:dispatch-completed:b:c:s:image:d1 = nothing|1000000
		+ K:dispatch-completed:b:c:s:image:d1 lives 86400000
		+ K:runtime:deferred-of:b c:s:image = 1060000
		+ K:runtime:deferred:b:c:s:image = no_worker_available|capacity|3|d1|1000000|1060000
		+ K:runtime:deferred:b:c:s:image lives 60000
		+ K:runtime:outbox 0 = finished|d1|nothing|no_worker_available|b|c|s|image|pending|no_worker_available|1000000|1060000|3|`
	table(t, live, finish, []test{
		{"deferred", "", idle, freed + gone + written},
		{"a receipt of its own goes, another's stays", receipt + "HSET K:receipt:image:b:c:s:u2:3 dispatch d2\nZADD K:runtime:deferred-of:b 1000000 old 1000001 new", idle, freed + `
			- K:receipt:image:b:c:s:u1:3 at = 1000000
			- K:receipt:image:b:c:s:u1:3 dispatch = d1
			- K:receipt:image:b:c:s:u1:3 fence = 5
			- K:receipt:image:b:c:s:u1:3 generation = 3
			- K:receipt:image:b:c:s:u1:3 lives 1380000
			- K:receipt:image:b:c:s:u1:3 payload = p
			- K:runtime:deferred-of:b old = 1000000` + gone + written},
		{"again, after a lost answer", finished + "HDEL K:asset-state:b:c:s image.dispatch\nHSET K:asset-state:b:c:s image.reason r image.idle 2 image.next 5",
			store.FinishReply{Verdict: store.Finished, State: asset.Ready, Reason: "r", Idle: 2, Budget: -1, Next: time.UnixMilli(5).UTC(), Circuit: "closed"}, ""},
		{"another dispatch", "HSET K:asset-state:b:c:s image.dispatch d2", store.FinishReply{Verdict: store.Finished, State: asset.Generating, Budget: -1, Circuit: "closed"}, ""},
		{"neither holder nor claimant", "HSET K:asset-state:b:c:s image.holder h2 image.claim c1 image.claim_until 2000000",
			store.FinishReply{Verdict: store.NotOwner, State: asset.Generating, Budget: -1, Circuit: "closed"}, ""},
		{"a lapsed claim", "HSET K:asset-state:b:c:s image.holder h2 image.claim h1 image.claim_until 1000000",
			store.FinishReply{Verdict: store.NotOwner, State: asset.Generating, Budget: -1, Circuit: "closed"}, ""},
	})

	table(t, live, finishWith(func(a *store.FinishArgs) { a.Purge = true }), []test{
		{"jobs may be left; a note of more than a day ago lapses", "ZADD K:runtime:purges -85400000 d0", idle,
			freed + "\n- K:runtime:purges d0 = -85400000" + gone + written + "\n+ K:runtime:purges d1 = 1000000"},
	})

	ready := finishWith(func(a *store.FinishArgs) {
		a.Caller, a.Outcome, a.State, a.Reason, a.Bucket, a.Window = "c1", "ready", asset.Ready, "", "", 0
		a.Idle, a.Budget = store.Reset, store.Reset
	})
	w := newWorld(t)
	w.do(live + `
		HSET K:asset-state:b:c:s image.claim c1 image.claim_until 1000001 image.idle 4 image.next 9
		HSET K:budget:b:c:s:image tokens 3 at 999999
		SET K:runtime:deferred:b:c:s:image x
		ZADD K:runtime:deferred-of:b 2000000 c:s:image`)
	got, err := ready(w)
	require.NoError(t, err)
	require.Equal(t, store.FinishReply{Verdict: store.OK, State: asset.Ready, Budget: -1, Circuit: "closed"}, got)
	require.Equal(t, unindent(`
		K:asset-state:b:c:s image.fence = 5
		K:asset-state:b:c:s image.generation = 3
		K:asset-state:b:c:s image.idle = 0
		K:asset-state:b:c:s image.mark = 9
		K:asset-state:b:c:s image.next = 0
		K:asset-state:b:c:s image.reason =
		K:asset-state:b:c:s image.started = 1000000
		K:asset-state:b:c:s image.state = ready
		K:asset-state:b:c:s image.version = 7
		K:dispatch-completed:b:c:s:image:d1 = ready|1000000
		K:dispatch-completed:b:c:s:image:d1 lives 86400000
		K:intent:b:c:s:image generation = 3
		K:intent:b:c:s:image status = active
		K:runtime:outbox 0 = finished|d1|ready||b|c|s|image|ready||1000000|0|3|scene_ready`), strings.Join(w.dump(), "\n"))
}

// TestBackoff: 0, 0, 10, 20, 40, 60, 60, ... s, and none while a deferral is open.
func TestBackoff(t *testing.T) {
	for idle, wait := range []int64{0, 0, 10_000, 20_000, 40_000, 60_000, 60_000} {
		require.Equal(t, outcome.Backoff(int64(idle+1)).Milliseconds(), wait, "package outcome says otherwise")
		for _, window := range []time.Duration{0, time.Minute} {
			w := newWorld(t)
			w.do(live + fmt.Sprintf("HSET K:asset-state:b:c:s image.next 7 image.idle %d", idle))
			got, err := finishWith(func(a *store.FinishArgs) { a.Window = window })(w)
			require.NoError(t, err)
			next := time.Time{}
			if wait > 0 && window == 0 {
				next = at(wait)
			}
			require.Equal(t, next, got.Next, "%d, %v", idle+1, window)
			require.EqualValues(t, idle+1, got.Idle)
			view, err := w.ReadStage(ctx, stage)
			require.NoError(t, err)
			require.Equal(t, next, view.Next)
		}
	}
}

// TestBudget: one token per 6 minutes comes back, and the last one that goes fails the stage.
func TestBudget(t *testing.T) {
	const hash = "HSET K:budget:b:c:s:image tokens %v at %v"
	for _, tt := range []struct {
		name, given  string
		op           store.Op
		tokens       int64 // of the reply
		stored, when string
	}{
		{"a full one is charged now", "", store.Charge, 9, "9", "1000000"},
		{"no refill yet", fmt.Sprintf(hash, 9, 640_001), store.Charge, 8, "8", "640001"},
		{"one refill, and its rest is kept", fmt.Sprintf(hash, 8, 600_000), store.Charge, 8, "8", "960000"},
		{"refilled to the brim", fmt.Sprintf(hash, 8, 1), store.Charge, 9, "9", "1000000"},
		{"the last token", fmt.Sprintf(hash, 1, 999_999), store.Charge, 0, "0", "999999"},
		{"none left", fmt.Sprintf(hash, 0, 999_999), store.Charge, 0, "0", "999999"},
		{"garbage is full", fmt.Sprintf(hash, "x", 999_999), store.Charge, 9, "9", "1000000"},
		{"a clock that went back", fmt.Sprintf(hash, 5, 2_000_000), store.Charge, 4, "4", "2000000"},
		{"kept", fmt.Sprintf(hash, 5, 600_000), store.Keep, 6, "5", "600000"},
		{"reset", fmt.Sprintf(hash, 5, 600_000), store.Reset, -1, "", ""},
	} {
		w := newWorld(t)
		w.do(live + tt.given)
		got, err := finishWith(func(a *store.FinishArgs) { a.Budget = tt.op })(w)
		require.NoError(t, err)
		require.Equal(t, tt.tokens, got.Budget, tt.name)
		require.Equal(t, tt.stored, w.redis.HGet("animastor:budget:b:c:s:image", "tokens"), tt.name)
		require.Equal(t, tt.when, w.redis.HGet("animastor:budget:b:c:s:image", "at"), tt.name)
		want := store.FinishReply{Verdict: store.OK, State: asset.Pending, Reason: outcome.NoWorkerAvailable, Idle: 1, Budget: tt.tokens, Circuit: "closed"}
		if tt.op == store.Charge {
			require.Equal(t, 24*time.Hour, w.redis.TTL("animastor:budget:b:c:s:image"), tt.name)
			if tt.tokens == 0 {
				want.State, want.Reason = asset.Failed, outcome.RetryBudgetExhausted
			}
		}
		require.Equal(t, want, got, tt.name)
		view, err := w.ReadStage(ctx, stage)
		require.NoError(t, err)
		require.Equal(t, want.State, view.State)
		require.Equal(t, want.Reason, view.Reason)
		lines, err := w.Outbox(ctx, 10)
		require.NoError(t, err)
		line, err := store.ParseLine(lines[0])
		require.NoError(t, err)
		require.Equal(t, store.Line{
			Kind: store.LineFinished, Dispatch: "d1", Outcome: "nothing", Reason: outcome.NoWorkerAvailable, Stage: stage,
			State: want.State, FinalReason: want.Reason, At: at(0), Until: at(60_000), Generation: 3,
		}, line)
	}
}

// TestChargePaysForARelease: a finish that charges the budget lets the marker of each of
// its jobs be released once more; any other leaves the note.
func TestChargePaysForARelease(t *testing.T) {
	for _, op := range []store.Op{store.Charge, store.Keep, store.Reset} {
		w := newWorld(t)
		w.do(live + receipt + "HSET K:receipt:image:b:c:s:u1:3 released 1\nHSET K:receipt:image:b:c:s:u2:3 released 1")
		_, err := finishWith(func(a *store.FinishArgs) { a.Budget, a.Jobs = op, []string{job1} })(w)
		require.NoError(t, err)
		note := w.redis.HGet("animastor:receipt:image:b:c:s:u1:3", "released")
		require.Equal(t, op != store.Charge, note == "1", op)
		require.Equal(t, "1", w.redis.HGet("animastor:receipt:image:b:c:s:u2:3", "released"), "a job of no concern")
	}
}

// TestBreaker: what a finish tells the breaker of its stage, and what comes of it.
func TestBreaker(t *testing.T) {
	fail := func(a *store.FinishArgs) { a.Evidence = guard.Failure }
	succeed := func(a *store.FinishArgs) { a.Evidence = guard.Success }
	four := "ZADD K:breaker:image:failures 880001 a 900000 b 950000 c 999999 d\n"
	probe := "HSET K:breaker:image opened_at 900000\nZADD K:breaker:image:permits 1000001 d1 2000000 other\n"
	for _, c := range []struct {
		name, redis string
		change      func(*store.FinishArgs)
		circuit     string
		left        string // of the breaker's keys
	}{
		{"the first failure", "", fail, "closed", "K:breaker:image:failures d1 = 1000000\nK:breaker:image:failures lives 120000"},
		{"the fifth within the window trips", four, fail, "open", "K:breaker:image opened_at = 1000000"},
		{"one has left the window", strings.Replace(four, "880001", "880000", 1), fail, "closed",
			"K:breaker:image:failures b = 900000\nK:breaker:image:failures c = 950000\nK:breaker:image:failures d = 999999\nK:breaker:image:failures d1 = 1000000\nK:breaker:image:failures lives 120000"},
		{"a success forgets them", four, succeed, "closed", ""},
		{"no evidence changes nothing", four, func(*store.FinishArgs) {}, "closed",
			"K:breaker:image:failures a = 880001\nK:breaker:image:failures b = 900000\nK:breaker:image:failures c = 950000\nK:breaker:image:failures d = 999999"},
		{"a probe that succeeds closes", probe, succeed, "closed", ""},
		{"a probe that fails opens again", probe, fail, "open", "K:breaker:image opened_at = 1000000"},
		{"a probe without evidence gives its permit back", probe, func(*store.FinishArgs) {}, "half_open",
			"K:breaker:image opened_at = 900000\nK:breaker:image:permits other = 2000000"},
		{"a result from before the trip decides nothing (CB4)", "HSET K:breaker:image opened_at 900000\n", succeed, "half_open", "K:breaker:image opened_at = 900000"},
		{"a failure from before the trip does not keep it open (CB7)", "HSET K:breaker:image opened_at 950000\n", fail, "open", "K:breaker:image opened_at = 950000"},
		{"a lapsed permit decides nothing", strings.Replace(probe, "1000001", "1000000", 1), succeed, "half_open",
			"K:breaker:image opened_at = 900000\nK:breaker:image:permits other = 2000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.do(live + c.redis)
			got, err := finishWith(c.change)(w)
			require.NoError(t, err)
			require.Equal(t, c.circuit, got.Circuit)
			var left []string
			for _, line := range w.dump() {
				if strings.HasPrefix(line, "K:breaker:") {
					left = append(left, line)
				}
			}
			require.Equal(t, c.left, strings.Join(left, "\n"))
		})
	}
}
