package properties_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
)

// takeSlots takes the slots of two dispatches, as a pass does, after some were ended.
func takeSlots(b *bench, ended ...ports.StageID) {
	b.begin(s1, "d1", 1)
	b.begin(s2, "d2", 1)
	for _, s := range ended {
		b.request(s, 2)
	}
	b.write("e1/reconcile", "zrem", func(db *redis.DB) { db.ZRem(keys.Slots("image"), "d1", "d2") }, keys.Slots("image"))
}

func TestIsolation(t *testing.T) {
	other := ports.SceneID{Book: "a:b", Chapter: "c1", Scene: "s1"}.Of("image")
	clears := func(stages ...ports.StageID) func(*bench) {
		return func(b *bench) {
			written := []string{keys.DeferredOf("b1")}
			for _, s := range stages {
				written = append(written, keys.Deferred(s))
			}
			b.write("api/clear", "undefer", b.lock, written...)
		}
	}
	play(t, "isolation", []scene{
		{"a dispatch", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "pending")
		}, ""},
		{"a finish that drops two receipts", func(b *bench) {
			b.write("e1/dispatch", "finish", b.lock, keys.AssetState(s1.SceneID), keys.Receipt(keys.Job(s1, "u1", 1)), keys.Receipt(keys.Job(s1, "u2", 1)))
		}, ""},
		{"the lease of another scene", func(b *bench) {
			b.write("e1/dispatch", "finish", b.lock, keys.AssetState(s1.SceneID), keys.Lease(s2))
		}, "is about b1/c1/s2:image"},
		{"another stage of the scene", func(b *bench) {
			b.write("e1/dispatch", "begin", b.lock, keys.AssetState(s1.SceneID), keys.Intent(s1), keys.Lease(s1.SceneID.Of("video")))
		}, "is about b1/c1/s1:video"},
		{"a clear of a book", clears(s1, s2), ""},
		{"a clear that reaches into another book", clears(s1, other), `is about "a:b"/c1/s1:image`},
		{"the slot of another", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.begin(s2, "d2", 1)
			b.write("e1/dispatch", "finish", func(db *redis.DB) { db.ZRem(keys.Slots("image"), "d2") }, keys.AssetState(s1.SceneID), keys.Slots("image"))
		}, "is about b1/c1/s2:image"},
		{"a pass that takes the slots of two that are over", func(b *bench) {
			takeSlots(b, s1, s2)
		}, ""},
		{"a pass that takes the slots of two that live", func(b *bench) {
			takeSlots(b)
		}, "is about b1/c1/s2:image"},
		{"the slot of another whose time is over", func(b *bench) {
			b.begin(s2, "d2", 1)
			b.wait(time.Hour)
			b.write("e1/dispatch", "begin", func(db *redis.DB) { db.ZRem(keys.Slots("image"), "d2") }, keys.AssetState(s1.SceneID), keys.Slots("image"))
		}, ""},
		{"the index entry of another", func(b *bench) {
			b.request(s1, 1)
			b.request(s2, 1)
			b.write("e1/engine", "retire", func(db *redis.DB) { db.Del(keys.ActiveScenes()) }, keys.ActiveScenes(), keys.AssetState(s1.SceneID))
		}, "touched animastor:active-scenes"},
		{"a drain", func(b *bench) {
			b.write("e1/outbox", "drain", b.lock, keys.Journal(s1.SceneID), keys.Journal(s2.SceneID), keys.Outbox())
		}, ""},
	})
}

func TestNoLostWork(t *testing.T) {
	leave := func(b *bench) {
		b.write("e1/engine", "retire", func(db *redis.DB) { db.SRem(keys.ActiveScenes(), keys.SceneMember(s1.SceneID)) }, keys.ActiveScenes())
	}
	play(t, "no-lost-work", []scene{
		{"in the index", func(b *bench) {
			b.request(s1, 1)
			b.tick()
			b.set.End()
		}, ""},
		{"left it for a moment", func(b *bench) {
			b.request(s1, 1)
			leave(b)
			b.tick()
			b.wait(4 * time.Second)
			b.request(s1, 2)
			b.tick()
			b.set.End()
		}, ""},
		{"left it", func(b *bench) {
			b.request(s1, 1)
			leave(b)
			b.tick()
			b.wait(5 * time.Second)
			b.tick()
		}, "pending and not in the active index"},
		{"left it at the end", func(b *bench) {
			b.request(s1, 1)
			leave(b)
			b.set.End()
		}, "not in the active index"},
		{"left it done", func(b *bench) {
			b.request(s1, 1)
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "ready")
			leave(b)
			b.set.End()
			b.set.Late(time.Minute)
		}, ""},
		{"late", func(b *bench) {
			b.request(s1, 1)
			b.set.Late(time.Minute)
		}, "not done after settle within=1m0s: pending"},
	})
}

func TestTimers(t *testing.T) {
	renew := func(b *bench, verdict string, stopped bool) {
		b.wait(30 * time.Second)
		b.tell("e1/renew", ports.Renewal{Stage: s1, Dispatch: "d1", Verdict: verdict, Stopped: stopped})
	}
	play(t, "timers", []scene{
		{"until it is told", func(b *bench) {
			b.begin(s1, "d1", 1)
			renew(b, "ok", false)
			b.end(s1, "d1", "ready")
			renew(b, "ok", false) // was under way
			renew(b, "error", false)
			renew(b, "finished", true)
		}, ""},
		{"goes on", func(b *bench) {
			b.begin(s1, "d1", 1)
			renew(b, "not_owner", false)
		}, "although told not_owner"},
		{"begins again", func(b *bench) {
			b.begin(s1, "d1", 1)
			renew(b, "not_owner", true)
			renew(b, "ok", false)
		}, "after it had stopped"},
		{"adopts it again", func(b *bench) {
			b.begin(s1, "d1", 1)
			renew(b, "not_owner", true)
			b.tell("e1/renew", ports.Renewal{Stage: s1, Dispatch: "d1", Holder: "another", Verdict: "ok"})
		}, ""},
		{"after the end", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "ready")
			renew(b, "ok", false)
			renew(b, "ok", false)
		}, "after the end"},
		{"two at once", func(b *bench) {
			b.begin(s1, "d1", 1)
			renew(b, "ok", false)
			b.tell("e2/renew", ports.Renewal{Stage: s1, Dispatch: "d1", Verdict: "not_owner", Stopped: true}) // another process
			b.wait(14 * time.Second)
			b.tell("e1/renew", ports.Renewal{Stage: s1, Dispatch: "d1", Verdict: "ok"})
		}, "twice within 15s"},
	})
}

func TestBoundedStore(t *testing.T) {
	play(t, "bounded-store", []scene{
		{"what a dispatch leaves", func(b *bench) {
			b.request(s1, 1)
			b.begin(s1, "d1", 1)
			b.set.End()
			b.end(s1, "d1", "ready")
			b.set.Rest()
		}, ""},
		{"a lease", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "ready")
			b.redis.DB().SetPX(keys.Lease(s1), "d1", 100_000)
			b.set.Rest()
			b.wait(time.Minute)
			b.set.End() // and then as well: it is said once
		}, "is left of dispatch d1"},
		{"a slot", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "ready")
			b.redis.DB().ZAdd(keys.Slots("image"), 1, "d1")
			b.set.End()
		}, "is left of dispatch d1"},
		{"the jobs of one whose state was evicted", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.redis.DB().HSet(keys.DispatchJobs("d1"), "j", "sent")
			b.redis.DB().PExpire(keys.DispatchJobs("d1"), 1000)
			b.redis.Evict(keys.AssetState(s1.SceneID))
			b.set.Rest()
		}, ""},
		{"they are kept alive", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.redis.Evict(keys.AssetState(s1.SceneID))
			b.redis.Evict(keys.Slots("image"))
			b.wait(time.Hour)
			b.redis.DB().HSet(keys.DispatchJobs("d1"), "j", "sent")
			b.redis.DB().PExpire(keys.DispatchJobs("d1"), 1000)
			b.set.Rest()
		}, "is left of dispatch d1"},
		{"a receipt for good", func(b *bench) {
			b.redis.DB().HSet(keys.Receipt(keys.Job(s1, "u1", 1)), "dispatch", "d1")
			b.set.End()
		}, "no time to live"},
		{"a preloaded key for good", func(b *bench) {
			b.redis.DB().HSet(keys.Receipt(keys.Job(s1, "u1", 1)), "dispatch", "d1")
			b.set.Reload()
			b.set.End()
		}, ""},
		{"more than there is reason for", func(b *bench) {
			for i := range 80 {
				b.redis.DB().SetPX(keys.DispatchCompleted(s1, fmt.Sprint(i)), "x", 1000)
			}
			b.set.End()
		}, "are 80"},
	})
}

func TestExactSweep(t *testing.T) {
	j1, j2, j3 := job(s1, "d1", "u1", 1), job(s1, "d1", "u2", 1), job(s2, "d2", "u1", 1)
	three := func(b *bench) {
		for _, j := range []ports.Job{j1, j2, j3} {
			b.hub(hub.Accepted, j, "")
		}
		b.wait(time.Minute)
	}
	swept := ports.Swept{Dispatch: "d1", Requested: 1, Cleared: 1}
	ghost := func(between func(*bench), p ports.Pass) func(*bench) {
		return func(b *bench) {
			b.begin(s1, "d1", 1)
			b.hub(hub.Accepted, j1, "")
			b.wait(time.Second)
			b.end(s1, "d1", "pending")
			b.wait(time.Second)
			b.tell("e1/reconcile", ports.Pass{Cause: "hub"}) // under way as it ended, perhaps
			b.wait(time.Second)
			between(b)
			b.tell("e1/reconcile", p)
		}
	}
	nothing := func(*bench) {}
	play(t, "exact-sweep", []scene{
		{"left by a complete pass", ghost(nothing, ports.Pass{}), "is still at the hub after a complete pass"},
		{"left by an incomplete pass", ghost(nothing, ports.Pass{Cause: "hub"}), ""},
		{"left by a pass in trouble", ghost(func(b *bench) { b.tell("e1/reconcile", ports.Trouble{}) }, ports.Pass{}), ""},
		{"left by a pass that has purged its fill", ghost(nothing, ports.Pass{Report: ports.Reconciled{Purged: 20}}), ""},
		{"left by a pass that the hub did not confirm", ghost(nothing, ports.Pass{Report: ports.Reconciled{Withheld: 1}}), ""},
		{"purged by a pass", ghost(func(b *bench) { b.hub(hub.Cleared, j1, "dispatch") }, ports.Pass{}), ""},
		{"a dispatch", func(b *bench) {
			three(b)
			b.hub(hub.Cleared, j1, "dispatch")
			b.hub(hub.Cleared, j2, "dispatch")
			b.tell("e1/watch", swept)
		}, ""},
		{"a book", func(b *bench) {
			three(b)
			for _, j := range []ports.Job{j1, j2, j3} {
				b.hub(hub.Cleared, j, "book")
			}
			b.tell("api/cancel", ports.Swept{Book: "b1", Requested: 1, Cleared: 1})
		}, ""},
		{"too little", func(b *bench) {
			three(b)
			b.hub(hub.Cleared, j1, "dispatch")
			b.set.End()
		}, "left the job"},
		{"too much", func(b *bench) {
			three(b)
			b.hub(hub.Cleared, j1, "dispatch")
			b.hub(hub.Cleared, j2, "dispatch")
			b.hub(hub.Cleared, j3, "dispatch")
		}, "two scopes"},
		{"nothing, and counted", func(b *bench) {
			three(b)
			b.tell("e1/watch", swept)
		}, "counts as cleared and left the job"},
		{"nothing, and not counted", func(b *bench) {
			three(b)
			b.tell("e1/watch", ports.Swept{Dispatch: "d1", Requested: 1, Failed: 1})
		}, ""},
		{"another scope", func(b *bench) {
			b.echoes = false
			b.tell("e1/watch", swept)
		}, "echoes another scope"},
		{"a wrong sum", func(b *bench) {
			b.tell("e1/watch", ports.Swept{Dispatch: "d1", Requested: 2, Failed: 1})
		}, "a sweep of 2 requests"},
	})
}

func TestFairness(t *testing.T) {
	ticks := func(b *bench, n int, before func()) {
		for range n {
			b.wait(5 * time.Second)
			before()
			b.tick()
		}
	}
	none := func() {}
	play(t, "fairness", []scene{
		{"begun in time", func(b *bench) {
			b.request(s1, 1)
			ticks(b, 3, none)
			b.begin(s1, "d1", 1)
			ticks(b, 3, none)
		}, ""},
		{"forgotten", func(b *bench) {
			b.request(s1, 1)
			ticks(b, 4, none)
		}, "at the end of 4 ticks"},
		{"trouble of its own", func(b *bench) {
			b.request(s1, 1)
			ticks(b, 9, func() { b.tell("e1/dispatch", ports.Trouble{Scene: s1.SceneID}) })
		}, ""},
		{"trouble of another", func(b *bench) {
			b.request(s1, 1)
			ticks(b, 4, func() { b.tell("e1/dispatch", ports.Trouble{Scene: s2.SceneID}) })
		}, "at the end of 4 ticks"},
		{"ticks without Redis", func(b *bench) {
			b.request(s1, 1)
			ticks(b, 9, func() { b.tell("e1/engine", ports.Trouble{Op: "tick"}) })
		}, ""},
		{"refused for slots that are free", func(b *bench) {
			b.request(s1, 1)
			ticks(b, 4, func() { b.tell("e1/engine", ports.Refusal{Stage: s1, Reason: "backpressure"}) })
		}, "at the end of 4 ticks"},
		{"deferred", func(b *bench) {
			b.request(s1, 1)
			b.deferTo(s1, 1, time.Minute)
			ticks(b, 9, none)
		}, ""},
		{"overtaken for good by probes", func(b *bench) {
			b.preload(opened(2 * time.Minute))
			overtake(b, 2)
		}, ""},
		{"overtaken once", func(b *bench) { overtake(b, 1) }, ""},
		{"overtaken for good", func(b *bench) { overtake(b, 2) }, "was overtaken 2 times, at most 1 are fair"},
	})
}

// overtake lets another stage be begun n times while s1 waits for a slot.
func overtake(b *bench, n int) {
	b.request(s1, 1)
	b.request(s2, 1)
	for i := range n + 1 {
		b.tell("e1/engine", ports.Refusal{Stage: s1, Reason: "backpressure"})
		b.begin(s2, fmt.Sprint(i), 1)
		b.end(s2, fmt.Sprint(i), "pending")
		b.tick()
	}
}
