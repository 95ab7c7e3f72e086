package store_test

import (
	"testing"
	"time"

	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
)

// receipt: d1 may post its first job.
const receipt = `
	HSET K:receipt:image:b:c:s:u1:3 generation 3 fence 5 dispatch d1 payload p at 1000000
	PEXPIRE K:receipt:image:b:c:s:u1:3 1380000
`

type admitReply struct {
	store.Verdict
	other string
}

func admit(w *world) (admitReply, error) {
	verdict, other, err := w.Admit(ctx, store.AdmitArgs{
		Stage: stage, Dispatch: "d1", Holder: "h1", Generation: 3, Fence: 5, Job: job1, Payload: "p", Lease: 1380 * time.Second,
	})
	return admitReply{verdict, other}, err
}

func TestAdmit(t *testing.T) {
	no := func(reason string) admitReply { return admitReply{store.Verdict(reason), ""} }
	admitted := `
		- K:dispatch-jobs:d1 image:b:c:s:u1:3 = outstanding
		- K:dispatch-jobs:d1 lives 1200000
		+ K:dispatch-jobs:d1 image:b:c:s:u1:3 = posting
		+ K:dispatch-jobs:d1 lives 1380000
		+ K:receipt:image:b:c:s:u1:3 at = 1000000
		+ K:receipt:image:b:c:s:u1:3 dispatch = d1
		+ K:receipt:image:b:c:s:u1:3 fence = 5
		+ K:receipt:image:b:c:s:u1:3 generation = 3`
	// Each refusal is followed by what would refuse after it.
	pending := "\nHSET K:receipt:image:b:c:s:u1:3 dispatch d0"
	conflict := "\nHSET K:receipt:image:b:c:s:u1:3 dispatch d1 payload q"
	completed := conflict + "\nHSET K:task-done:image:b:c:s:u1:3 at 1"
	stale := completed + "\nHSET K:asset-state:b:c:s image.holder h2"
	table(t, live, admit, []test{
		{"ok", "", no("ok"), admitted + `
			+ K:receipt:image:b:c:s:u1:3 lives 1380000
			+ K:receipt:image:b:c:s:u1:3 payload = p`},
		{"cancelled book", "SET K:generation:cancel:b 1\nDEL K:intent:b:c:s:image" + stale, no(outcome.IntentNotActive), ""},
		{"cancelled", "HSET K:intent:b:c:s:image status cancelled" + stale, no(outcome.IntentNotActive), ""},
		{"deleted", "HSET K:intent:b:c:s:image status deleted" + stale, no(outcome.IntentNotActive), ""},
		{"missing", "DEL K:intent:b:c:s:image" + stale, no(outcome.IntentMissing), ""},
		{"corrupt", "HSET K:intent:b:c:s:image generation 03" + stale, no(outcome.IntentCorrupt), ""},
		{"newer generation", "HSET K:intent:b:c:s:image generation 4" + completed, no(outcome.StaleIntent), ""},
		{"another's", stale, no(outcome.StaleIntent), ""},
		{"another dispatch", "HSET K:asset-state:b:c:s image.dispatch d2" + completed, no(outcome.StaleIntent), ""},
		{"completed", completed, no(outcome.AlreadyCompleted), ""},
		{"another payload", conflict, no(outcome.ReceiptConflict), ""},
		{"another's receipt", pending, admitReply{outcome.DuplicatePending, "d0"}, ""},
		{"again, after a lost answer", receipt + "HSET K:dispatch-jobs:d1 image:b:c:s:u1:3 posting\nPEXPIRE K:dispatch-jobs:d1 1380000", no("ok"), ""},
		{
			"a released marker is no receipt, and its note stays as long",
			"HSET K:receipt:image:b:c:s:u1:3 released 1\nPEXPIRE K:receipt:image:b:c:s:u1:3 604800000", no("ok"),
			admitted + "\n+ K:receipt:image:b:c:s:u1:3 payload = p",
		},
		{"jobs evicted", "DEL K:dispatch-jobs:d1" + receipt, no("ok"), `
			+ K:dispatch-jobs:d1 image:b:c:s:u1:3 = posting
			+ K:dispatch-jobs:d1 lives 1380000`},
	})
}

type markReply struct {
	store.Verdict
	state string
}

func mark(w *world) (markReply, error) {
	verdict, state, err := w.Mark(ctx, stage, "d1", job1, store.JobSent, 1200*time.Second)
	return markReply{verdict, state}, err
}

func TestMark(t *testing.T) {
	table(t, live, mark, []test{
		{"ok", "", markReply{store.OK, "sent"}, `
			- K:dispatch-jobs:d1 image:b:c:s:u1:3 = outstanding
			+ K:dispatch-jobs:d1 image:b:c:s:u1:3 = sent`},
		{"done stays", "HSET K:dispatch-jobs:d1 image:b:c:s:u1:3 done|r|s", markReply{store.OK, "done"}, ""},
		{"failed stays", "HSET K:dispatch-jobs:d1 image:b:c:s:u1:3 failed|", markReply{store.OK, "failed"}, ""},
		{"evicted", "DEL K:dispatch-jobs:d1", markReply{store.OK, "sent"}, `
			+ K:dispatch-jobs:d1 image:b:c:s:u1:3 = sent
			+ K:dispatch-jobs:d1 lives 1200000`},
		{"over", "HDEL K:asset-state:b:c:s image.dispatch", markReply{store.Finished, "outstanding"}, ""},
	})
}

func TestForget(t *testing.T) {
	table(t, receipt, func(w *world) (bool, error) { return w.Forget(ctx, "d1", job1) }, []test{
		{"its own", "", true, `
			- K:receipt:image:b:c:s:u1:3 at = 1000000
			- K:receipt:image:b:c:s:u1:3 dispatch = d1
			- K:receipt:image:b:c:s:u1:3 fence = 5
			- K:receipt:image:b:c:s:u1:3 generation = 3
			- K:receipt:image:b:c:s:u1:3 lives 1380000
			- K:receipt:image:b:c:s:u1:3 payload = p`},
		{"the note of a release stays", "HSET K:receipt:image:b:c:s:u1:3 released 1\nHDEL K:receipt:image:b:c:s:u1:3 payload", true, `
			- K:receipt:image:b:c:s:u1:3 at = 1000000
			- K:receipt:image:b:c:s:u1:3 dispatch = d1
			- K:receipt:image:b:c:s:u1:3 fence = 5
			- K:receipt:image:b:c:s:u1:3 generation = 3`},
		{"another's", "HSET K:receipt:image:b:c:s:u1:3 dispatch d2", false, ""},
		{"none", "DEL K:receipt:image:b:c:s:u1:3", false, ""},
	})
}

func TestRelease(t *testing.T) {
	done := "HSET K:task-done:image:b:c:s:u1:3 dispatch d0\n"
	table(t, live, func(w *world) (store.Verdict, error) { return w.Release(ctx, stage, "d1", job1) }, []test{
		{"first", done + "HSET K:receipt:image:b:c:s:u1:3 dispatch d0", store.Released, `
			- K:receipt:image:b:c:s:u1:3 dispatch = d0
			- K:task-done:image:b:c:s:u1:3 dispatch = d0
			+ K:receipt:image:b:c:s:u1:3 lives 604800000
			+ K:receipt:image:b:c:s:u1:3 released = 1`},
		{"again, after a lost answer", "HSET K:receipt:image:b:c:s:u1:3 released 1", store.Released, ""},
		{"a second marker", done + "HSET K:receipt:image:b:c:s:u1:3 released 1", store.Kept, ""},
		{"not live", done + "HSET K:asset-state:b:c:s image.dispatch d2", store.Kept, ""},
	})
}

func accept(w *world) (store.AcceptReply, error) {
	return w.Accept(ctx, store.AcceptArgs{
		Stage: stage, Dispatch: "d1", Fence: 5, Generation: 3, Job: job1, State: store.JobDone, Result: "a|b",
	})
}

func TestAccept(t *testing.T) {
	writes := `
		- K:dispatch-jobs:d1 image:b:c:s:u1:3 = outstanding
		+ K:dispatch-jobs:d1 image:b:c:s:u1:3 = done|a|b
		+ K:task-done:image:b:c:s:u1:3 at = 1000000
		+ K:task-done:image:b:c:s:u1:3 dispatch = d1
		+ K:task-done:image:b:c:s:u1:3 fence = 5
		+ K:task-done:image:b:c:s:u1:3 generation = 3
		+ K:task-done:image:b:c:s:u1:3 lives 604800000`
	stale := store.AcceptReply{Verdict: store.Stale}
	table(t, live, accept, []test{
		{"accepted", "", store.AcceptReply{Verdict: store.Accepted, Left: 1}, writes},
		{"last", "HSET K:dispatch-jobs:d1 image:b:c:s:u2:3 failed|x image:b:c:s:u3:3 done|", store.AcceptReply{Verdict: store.Last, Failed: 1}, writes},
		{"again, after a lost answer", "HSET K:dispatch-jobs:d1 image:b:c:s:u1:3 done|a|b", store.AcceptReply{Verdict: store.Duplicate, Left: 1}, ""},
		{"another result", "HSET K:dispatch-jobs:d1 image:b:c:s:u1:3 failed|x", store.AcceptReply{Verdict: store.Duplicate, Left: 1, Failed: 1}, ""},
		{"over", "HDEL K:asset-state:b:c:s image.dispatch", stale, ""},
		{"another dispatch", "HSET K:asset-state:b:c:s image.dispatch d2", stale, ""},
		{"another fence", "HSET K:asset-state:b:c:s image.fence 6", stale, ""},
		{"another generation", "HSET K:asset-state:b:c:s image.generation 4", stale, ""},
		{"no job of it", "HDEL K:dispatch-jobs:d1 image:b:c:s:u1:3", stale, ""},
	})
	table(t, live, func(w *world) (store.AcceptReply, error) {
		return w.Accept(ctx, store.AcceptArgs{Stage: stage, Dispatch: "d1", Fence: 5, Generation: 3, Job: job1, State: store.JobFailed})
	}, []test{{"a failure leaves no marker", "", store.AcceptReply{Verdict: store.Accepted, Left: 1, Failed: 1}, `
		- K:dispatch-jobs:d1 image:b:c:s:u1:3 = outstanding
		+ K:dispatch-jobs:d1 image:b:c:s:u1:3 = failed|`}})
}
