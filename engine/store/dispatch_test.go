package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
)

const (
	// pending: generation 3 of the stage waits for a dispatch; the last had fence 4.
	pending = `
		HSET K:intent:b:c:s:image generation 3 status active
		HSET K:asset-state:b:c:s image.state pending image.fence 4
	`
	// live: h1 began d1 with two jobs.
	live = `
		HSET K:intent:b:c:s:image generation 3 status active
		HSET K:asset-state:b:c:s image.state generating image.dispatch d1 image.fence 5 image.generation 3 image.version 7 image.mark 9
		HSET K:asset-state:b:c:s image.holder h1 image.renewed 1000000 image.started 1000000
		SET K:dispatch-lease:b:c:s:image d1 PX 1200000
		HSET K:dispatch:b:c:s:image dispatch_id d1 generation 3 fence 5 version 7 mark 9 holder h1 started_at 1000000
		PEXPIRE K:dispatch:b:c:s:image 1200000
		HSET K:dispatch-jobs:d1 image:b:c:s:u1:3 outstanding image:b:c:s:u2:3 outstanding
		PEXPIRE K:dispatch-jobs:d1 1200000
		ZADD K:runtime:slots:image 2200000 d1
	`
	// finished: d1 is over.
	finished = `
		HSET K:intent:b:c:s:image generation 3 status active
		HSET K:asset-state:b:c:s image.state ready image.fence 5 image.generation 3
		SET K:dispatch-completed:b:c:s:image:d1 ready|1000000
	`
)

func begin(w *world) (store.BeginReply, error) {
	return w.Begin(ctx, store.BeginArgs{
		Stage: stage, Dispatch: "d1", Holder: "h1", Generation: 3, Version: 7, Mark: 9,
		Lease: 1200 * time.Second, Slots: 2, Jobs: []string{job1, job2}, Breaker: guard.Published(), Permit: 1500 * time.Second,
	})
}

func TestBegin(t *testing.T) {
	refused := func(reason string, r store.BeginReply) store.BeginReply {
		r.Verdict, r.Fence = store.Verdict(reason), 4
		return r
	}
	began := `
		+ K:asset-state:b:c:s image.dispatch = d1
		+ K:asset-state:b:c:s image.fence = 5
		+ K:asset-state:b:c:s image.generation = 3
		+ K:asset-state:b:c:s image.holder = h1
		+ K:asset-state:b:c:s image.mark = 9
		+ K:asset-state:b:c:s image.renewed = 1000000
		+ K:asset-state:b:c:s image.started = 1000000
		+ K:asset-state:b:c:s image.state = generating
		+ K:asset-state:b:c:s image.version = 7
		+ K:dispatch-jobs:d1 image:b:c:s:u1:3 = outstanding
		+ K:dispatch-jobs:d1 image:b:c:s:u2:3 = outstanding
		+ K:dispatch-jobs:d1 lives 1200000
		+ K:dispatch-lease:b:c:s:image = d1
		+ K:dispatch-lease:b:c:s:image lives 1200000
		+ K:dispatch:b:c:s:image dispatch_id = d1
		+ K:dispatch:b:c:s:image fence = 5
		+ K:dispatch:b:c:s:image generation = 3
		+ K:dispatch:b:c:s:image holder = h1
		+ K:dispatch:b:c:s:image lives 1200000
		+ K:dispatch:b:c:s:image mark = 9
		+ K:dispatch:b:c:s:image started_at = 1000000
		+ K:dispatch:b:c:s:image version = 7
		+ K:runtime:outbox 0 = started|d1|||b|c|s|image
		+ K:runtime:slots:image d1 = 2200000`
	ok := store.BeginReply{Verdict: store.OK, Generation: 3, Fence: 5}
	// Each refusal is followed by what would refuse after it, so the table shows the order.
	slots := "\nZADD K:runtime:slots:image 1000001 x 1000001 y"
	permits := "\nHSET K:breaker:image opened_at 940000\nZADD K:breaker:image:permits 1000001 x 1000001 y" + slots
	open := permits + "\nHSET K:breaker:image opened_at 940001"
	taken := open + "\nHSET K:asset-state:b:c:s image.state generating image.dispatch d0"
	backoff := "\nHSET K:asset-state:b:c:s image.next 1000001" + taken
	deferral := "\nSET K:runtime:deferred:b:c:s:image no_worker_available|capacity|3|d0|940000|1000001" + backoff
	table(t, pending, begin, []test{
		{"ok", "", ok, "- K:asset-state:b:c:s image.fence = 4\n- K:asset-state:b:c:s image.state = pending" + began},
		{"cancelled", "SET K:generation:cancel:b 1\nHSET K:intent:b:c:s:image generation 4" + deferral, refused(outcome.Cancelled, store.BeginReply{Generation: 4}), ""},
		{"cancelled before missing", "SET K:generation:cancel:b 1\nDEL K:intent:b:c:s:image", refused(outcome.Cancelled, store.BeginReply{}), ""},
		{"missing", "DEL K:intent:b:c:s:image" + deferral, refused(outcome.IntentMissing, store.BeginReply{}), ""},
		{"corrupt generation", "HSET K:intent:b:c:s:image generation 3x status cancelled" + deferral, refused(outcome.IntentCorrupt, store.BeginReply{}), ""},
		{"generation zero", "HSET K:intent:b:c:s:image generation 0" + deferral, refused(outcome.IntentCorrupt, store.BeginReply{}), ""},
		{"generation too long", "HSET K:intent:b:c:s:image generation 1000000000000000" + deferral, refused(outcome.IntentCorrupt, store.BeginReply{}), ""},
		{"corrupt status", "HSET K:intent:b:c:s:image status ACTIVE generation 4" + deferral, refused(outcome.IntentCorrupt, store.BeginReply{}), ""},
		{"no status", "HDEL K:intent:b:c:s:image status" + deferral, refused(outcome.IntentCorrupt, store.BeginReply{}), ""},
		{"not active", "HSET K:intent:b:c:s:image status cancelled generation 4" + deferral, refused(outcome.IntentNotActive, store.BeginReply{Generation: 4}), ""},
		{"stale intent", "HSET K:intent:b:c:s:image generation 4" + deferral, refused(outcome.StaleIntent, store.BeginReply{Generation: 4}), ""},
		{"ready", deferral + "\nHSET K:asset-state:b:c:s image.state ready", refused(outcome.NotDispatchable, store.BeginReply{Generation: 3}), ""},
		{"failed", deferral + "\nHSET K:asset-state:b:c:s image.state failed", refused(outcome.NotDispatchable, store.BeginReply{Generation: 3}), ""},
		{"no state", "HDEL K:asset-state:b:c:s image.state", refused(outcome.NotDispatchable, store.BeginReply{Generation: 3}), ""},
		{"generating without a dispatch", deferral + "\nHDEL K:asset-state:b:c:s image.dispatch", refused(outcome.NotDispatchable, store.BeginReply{Generation: 3}), ""},
		{"deferred", deferral, refused(outcome.DeferredCapacity, store.BeginReply{Generation: 3, Reason: "no_worker_available", Until: at(1)}), ""},
		{"backoff", backoff, refused(outcome.InBackoff, store.BeginReply{Generation: 3, Until: at(1)}), ""},
		{"deferral of another generation", "SET K:runtime:deferred:b:c:s:image r|capacity|2|d0|940000|1000001" + backoff, refused(outcome.InBackoff, store.BeginReply{Generation: 3, Until: at(1)}), ""},
		{"deferral at its end", "SET K:runtime:deferred:b:c:s:image r|capacity|3|d0|940000|1000000" + backoff, refused(outcome.InBackoff, store.BeginReply{Generation: 3, Until: at(1)}), ""},
		{"garbled deferral", "SET K:runtime:deferred:b:c:s:image r|capacity|3|d0|940000|1e9" + backoff, refused(outcome.InBackoff, store.BeginReply{Generation: 3, Until: at(1)}), ""},
		{"deferral too long", "SET K:runtime:deferred:b:c:s:image r|capacity|3|d0|940000|1000001|" + backoff, refused(outcome.InBackoff, store.BeginReply{Generation: 3, Until: at(1)}), ""},
		{"duplicate", taken, refused(outcome.Duplicate, store.BeginReply{Generation: 3}), ""},
		{"circuit open", open, refused(outcome.CircuitOpen, store.BeginReply{Generation: 3, Until: at(1)}), ""},
		{"circuit held open", open + "\nHSET K:breaker:image hold open opened_at 1", refused(outcome.CircuitOpen, store.BeginReply{Generation: 3}), ""},
		{"half-open limit", permits, refused(outcome.HalfOpenLimit, store.BeginReply{Generation: 3}), ""},
		{
			"a probe, with a permit that has lapsed", "HSET K:breaker:image opened_at 940000\nZADD K:breaker:image:permits 1000000 x 1000001 y",
			store.BeginReply{Verdict: store.OK, Generation: 3, Fence: 5, Probe: true},
			"- K:asset-state:b:c:s image.fence = 4\n- K:asset-state:b:c:s image.state = pending\n- K:breaker:image:permits x = 1000000" +
				strings.Replace(began, "image.version = 7\n", "image.version = 7\n+ K:breaker:image:permits d1 = 2500000\n+ K:breaker:image:permits lives 1500000\n", 1),
		},
		{"backpressure", slots, refused(outcome.Backpressure, store.BeginReply{Generation: 3}), ""},
		{
			"from dirty, with expired slots, a lapsed deferral and a claim left behind",
			"ZADD K:runtime:slots:image 1000000 x 1000001 y\nSET K:runtime:deferred:b:c:s:image r|c|2|d|1|2\nHSET K:asset-state:b:c:s image.state dirty image.claim c image.claim_until 1", ok,
			`- K:asset-state:b:c:s image.claim = c
			- K:asset-state:b:c:s image.claim_until = 1
			- K:asset-state:b:c:s image.fence = 4
			- K:asset-state:b:c:s image.state = dirty
			- K:runtime:deferred:b:c:s:image = r|c|2|d|1|2
			- K:runtime:slots:image x = 1000000` + began,
		},
		{"again, after a lost answer", live + "SET K:generation:cancel:b 1", ok, ""},
	})
}

// TestBeginWithoutJobs: no jobs, no key of jobs.
func TestBeginWithoutJobs(t *testing.T) {
	w := newWorld(t)
	w.do(pending)
	_, err := w.Begin(ctx, store.BeginArgs{Stage: stage, Dispatch: "d1", Holder: "h1", Generation: 3, Breaker: guard.Published(), Lease: time.Second, Slots: 1,
		Permit: time.Second})
	require.NoError(t, err)
	require.False(t, w.redis.Exists("animastor:dispatch-jobs:d1"))
	require.PanicsWithValue(t, "store: lease is 0s; it must be at least 1ms", func() { _, _ = w.Begin(ctx, store.BeginArgs{}) })
}

func renew(w *world) (store.Verdict, error) {
	return w.Renew(ctx, store.RenewArgs{Stage: stage, Dispatch: "d1", Holder: "h1", Lease: 1380 * time.Second, Jobs: []string{job1, job2}})
}

func TestRenew(t *testing.T) {
	table(t, live, renew, []test{
		{"ok", "HSET K:asset-state:b:c:s image.renewed 1\nHSET K:dispatch-jobs:d1 image:b:c:s:u1:3 sent", store.OK, `
			- K:asset-state:b:c:s image.renewed = 1
			- K:dispatch-jobs:d1 lives 1200000
			- K:dispatch-lease:b:c:s:image lives 1200000
			- K:dispatch:b:c:s:image lives 1200000
			- K:runtime:slots:image d1 = 2200000
			+ K:asset-state:b:c:s image.renewed = 1000000
			+ K:dispatch-jobs:d1 lives 1380000
			+ K:dispatch-lease:b:c:s:image lives 1380000
			+ K:dispatch:b:c:s:image lives 1380000
			+ K:runtime:slots:image d1 = 2380000`},
		{"everything evicted", "DEL K:dispatch-jobs:d1 K:dispatch-lease:b:c:s:image K:dispatch:b:c:s:image K:runtime:slots:image", store.OK, `
			+ K:dispatch-jobs:d1 image:b:c:s:u1:3 = unknown
			+ K:dispatch-jobs:d1 image:b:c:s:u2:3 = unknown
			+ K:dispatch-jobs:d1 lives 1380000
			+ K:dispatch-lease:b:c:s:image = d1
			+ K:dispatch-lease:b:c:s:image lives 1380000
			+ K:dispatch:b:c:s:image dispatch_id = d1
			+ K:dispatch:b:c:s:image fence = 5
			+ K:dispatch:b:c:s:image generation = 3
			+ K:dispatch:b:c:s:image holder = h1
			+ K:dispatch:b:c:s:image lives 1380000
			+ K:dispatch:b:c:s:image mark = 9
			+ K:dispatch:b:c:s:image started_at = 1000000
			+ K:dispatch:b:c:s:image version = 7
			+ K:runtime:slots:image d1 = 2380000`},
		{"another's", "HSET K:asset-state:b:c:s image.holder h2", store.NotOwner, ""},
		{"another dispatch", "HSET K:asset-state:b:c:s image.dispatch d2", store.Finished, ""},
		{"over", "HDEL K:asset-state:b:c:s image.dispatch image.holder", store.Finished, ""},
	})
}

func adopt(w *world) (store.AdoptReply, error) { return w.Adopt(ctx, stage, "d1", "h2") }

func TestAdopt(t *testing.T) {
	ok := store.AdoptReply{Verdict: store.OK, Generation: 3, Fence: 5, Version: 7, Mark: 9, Started: at(0)}
	table(t, live, adopt, []test{
		{"ok", "HSET K:asset-state:b:c:s image.renewed 910000", ok, `
			- K:asset-state:b:c:s image.holder = h1
			- K:asset-state:b:c:s image.renewed = 910000
			- K:dispatch:b:c:s:image holder = h1
			+ K:asset-state:b:c:s image.holder = h2
			+ K:asset-state:b:c:s image.renewed = 1000000
			+ K:dispatch:b:c:s:image holder = h2`},
		{"without a record", "HDEL K:asset-state:b:c:s image.renewed\nDEL K:dispatch:b:c:s:image", ok, `
			- K:asset-state:b:c:s image.holder = h1
			+ K:asset-state:b:c:s image.holder = h2
			+ K:asset-state:b:c:s image.renewed = 1000000`},
		{"again, after a lost answer", "HSET K:asset-state:b:c:s image.holder h2\nHSET K:dispatch:b:c:s:image holder h2", ok, ""},
		{"fresh", "HSET K:asset-state:b:c:s image.renewed 910001", store.AdoptReply{Verdict: store.Fresh}, ""},
		{"over", finished + "HDEL K:asset-state:b:c:s image.dispatch", store.AdoptReply{Verdict: store.Finished}, ""},
	})
}
