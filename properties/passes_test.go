package properties_test

import (
	"testing"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

func TestEvidence(t *testing.T) {
	// look lets an engine tick for so long.
	look := func(b *bench, d time.Duration) {
		for end := b.world.Elapsed() + d; b.world.Elapsed() < end; {
			b.wait(5 * time.Second)
			b.tick()
		}
	}
	without := func(key string) func(*bench) {
		return func(b *bench) {
			b.request(s1, 1)
			b.begin(s1, "d1", 1)
			b.tell("e1/engine", ports.Started{})
			look(b, time.Minute)
			b.redis.Evict(key)
		}
	}
	after := func(before, then func(*bench)) func(*bench) {
		return func(b *bench) {
			before(b)
			then(b)
		}
	}
	forLong := func(b *bench) { look(b, 120*time.Second) }
	disturbed := func(e sim.Event) func(*bench) {
		return after(without(keys.Lease(s1)), func(b *bench) {
			look(b, time.Minute)
			b.world.Emit(e)
			look(b, time.Minute)
		})
	}
	play(t, "evidence", []scene{
		{"with all of it", after(without("nothing"), func(b *bench) { look(b, 10*time.Minute) }), ""},
		{"without its lease", after(without(keys.Lease(s1)), forLong), "without a lease for longer than 1m20s"},
		{"without its record", after(without(keys.Dispatch(s1)), forLong), "without a record"},
		{"with the lease of another", after(without("nothing"), func(b *bench) {
			b.preload(func(db *redis.DB) { db.Set(keys.Lease(s1), "d9") })
			look(b, 120*time.Second)
		}), "without a lease"},
		{"without its lease for a minute", after(without(keys.Lease(s1)), func(b *bench) {
			look(b, 75*time.Second)
			b.write("e1/renew", "renew", func(db *redis.DB) { db.SetPX(keys.Lease(s1), "d1", 1_200_000) }, keys.Lease(s1))
			look(b, 120*time.Second)
		}), ""},
		{"without a dispatch", func(b *bench) {
			b.request(s1, 1)
			b.preload(func(db *redis.DB) { db.HSet(keys.AssetState(s1.SceneID), "image.state", "generating") })
			look(b, 2*time.Minute)
		}, "without a dispatch"},
		{"without a dispatch, and not asked for", func(b *bench) {
			b.preload(func(db *redis.DB) { db.HSet(keys.AssetState(s1.SceneID), "image.state", "generating") })
			look(b, 9*time.Minute)
		}, ""},
		{"while the hub is away", after(without(keys.Lease(s1)), func(b *bench) {
			for range 9 {
				look(b, time.Minute)
				b.tell("e1/reconcile", ports.Pass{Cause: "hub"})
			}
		}), ""},
		{"while nobody lives", after(without(keys.Lease(s1)), func(b *bench) { b.wait(time.Hour) }), ""},
		{"after a fault", disturbed(sim.Event{Kind: "fault", Subject: "e1/renew redis.renew b1/c1/s1:image #1"}), ""},
		{"after a fault of a worker", disturbed(sim.Event{Kind: "fault", Subject: "image-1/run hub.progress b1/c1/s1:image/u1 #1"}), "without a lease"},
		{"after a crash", disturbed(sim.Event{Kind: "crash", Subject: "e1"}), ""},
		{"during a pass that waits for the hub", after(without(keys.Lease(s1)), func(b *bench) {
			b.write("e1/reconcile", "pipeline", b.lock, keys.CleanupLock())
			look(b, 9*time.Minute)
		}), ""},
	})
}

func TestCancel(t *testing.T) {
	live := func(b *bench) {
		b.request(s1, 1)
		b.begin(s1, "d1", 1)
		b.hub(hub.Accepted, job(s1, "d1", "u1", 1), "")
	}
	cancels := func(b *bench, op, replaced string) {
		b.write("api/cancel", "intent", func(db *redis.DB) {
			db.HSet(keys.Intent(s1), "generation", "2", "status", map[string]string{"cancel": "cancelled", "delete": "deleted"}[op])
			db.HSet(keys.AssetState(s1.SceneID), "image.state", "pending")
			db.HDel(keys.AssetState(s1.SceneID), "image.dispatch")
		}, keys.Intent(s1), keys.AssetState(s1.SceneID))
		b.tell("api/cancel", ports.Intent{Stage: s1, Op: op, Generation: 2, Replaced: replaced})
	}
	clear := func(b *bench) {
		b.hub(hub.Cleared, job(s1, "d1", "u1", 1), "dispatch")
		b.tell("api/cancel", ports.Swept{Dispatch: "d1", Requested: 1, Cleared: 1})
	}
	fails := func(b *bench, n int) {
		for range n {
			b.tell("api/cancel", ports.Swept{Dispatch: "d1", Requested: 1, Failed: 1})
		}
	}
	late := func(b *bench) {
		b.wait(3*time.Minute + time.Second)
		b.tick()
	}
	post := func(b *bench, generation int64) { b.hub(hub.Accepted, job(s1, "d1", "u2", generation), "") }
	play(t, "cancel", []scene{
		{"cleared", func(b *bench) {
			live(b)
			cancels(b, "cancel", "d1")
			post(b, 1) // before the clear
			b.hub(hub.Cleared, job(s1, "d1", "u2", 1), "dispatch")
			clear(b)
			late(b)
		}, ""},
		{"posted after the clear", func(b *bench) {
			live(b)
			cancels(b, "delete", "d1")
			clear(b)
			post(b, 1)
		}, "accepted a job of it after the cancel"},
		{"posted with nothing live", func(b *bench) {
			cancels(b, "cancel", "")
			post(b, 1)
		}, "accepted a job of it after the cancel"},
		{"posted after its own clear failed", func(b *bench) {
			fails(b, 1)
			cancels(b, "cancel", "")
			post(b, 1)
		}, ""},
		{"posted to a hub without fences", func(b *bench) {
			b.fences = false
			cancels(b, "cancel", "")
			post(b, 1)
		}, ""},
		{"asked for again", func(b *bench) {
			cancels(b, "cancel", "")
			b.request(s1, 3)
			b.tell("api/request", ports.Intent{Stage: s1, Op: "request", Generation: 3})
			post(b, 3)
			b.begin(s1, "d3", 3)
		}, ""},
		{"never cleared", func(b *bench) {
			live(b)
			cancels(b, "cancel", "d1")
			fails(b, 1)
			late(b)
		}, "the hub still has job"},
		{"never cleared by a hub that does not answer", func(b *bench) {
			live(b)
			cancels(b, "cancel", "d1")
			b.wait(12 * time.Minute)
			fails(b, 1)
			b.tick()
		}, ""},
		{"done before the clear", func(b *bench) {
			live(b)
			cancels(b, "cancel", "d1")
			b.hub(hub.Done, job(s1, "d1", "u1", 1), "")
			late(b)
		}, ""},
		{"begun", func(b *bench) {
			cancels(b, "cancel", "")
			b.begin(s1, "d2", 2)
		}, "it is cancelled, and became generating"},
		{"made ready", func(b *bench) {
			cancels(b, "delete", "")
			b.write("e1/dispatch", "finish", func(db *redis.DB) { db.HSet(keys.AssetState(s1.SceneID), "image.state", "ready") }, keys.AssetState(s1.SceneID))
		}, "it is deleted, and became ready"},
		{"begun in a cancelled book", func(b *bench) {
			b.request(s1, 1)
			b.write("api/cancel", "set", func(db *redis.DB) { db.Set(keys.Cancel("b1"), "1") }, keys.Cancel("b1"))
			b.begin(s1, "d1", 1)
		}, "its book is cancelled"},
	})
}

func TestPassAbort(t *testing.T) {
	const task = "e1/reconcile"
	// pass is a reconcile pass with its lock around what it does.
	pass := func(b *bench, cause string, does func()) {
		b.write(task, "pipeline", b.lock, keys.CleanupLock())
		does()
		b.write(task, "unlock", b.lock, keys.CleanupLock())
		if cause != "" {
			b.tell(task, ports.Trouble{Op: "reconcile"})
		}
		b.tell(task, ports.Pass{Cause: cause})
		b.wait(time.Minute)
	}
	nothing := func() {}
	stale := func(b *bench) {
		b.request(s1, 1)
		b.begin(s1, "d1", 1)
		b.preload(func(db *redis.DB) {
			db.HSet(keys.AssetState(s1.SceneID), "image.holder", "dead", "image.renewed", itoa(db.Now()))
		})
		b.wait(91 * time.Second)
	}
	adopt := func(b *bench) {
		b.write(task, "adopt", func(db *redis.DB) {
			db.HSet(keys.AssetState(s1.SceneID), "image.holder", "e1", "image.renewed", itoa(db.Now()))
		}, keys.AssetState(s1.SceneID))
	}
	lost := ports.Finish{Stage: s1, Dispatch: "d1", Outcome: "lost"}
	play(t, "pass-abort", []scene{
		{"does nothing", func(b *bench) { pass(b, "hub", nothing) }, ""},
		{"restores", func(b *bench) {
			pass(b, "hub", func() { b.tell(task, ports.Restored{Stage: s1, Verdict: "restored"}) })
		}, "could not read the hub and acted as if it had"},
		{"restores, and has read all", func(b *bench) {
			pass(b, "", func() { b.tell(task, ports.Restored{Stage: s1, Verdict: "restored"}) })
			pass(b, "hub", nothing)
		}, ""},
		{"declares lost", func(b *bench) { pass(b, "hub", func() { b.tell(task, lost) }) }, "acted as if"},
		{"counts a loss that nobody saw", func(b *bench) {
			b.write(task, "pipeline", b.lock, keys.CleanupLock())
			b.tell(task, ports.Pass{Cause: "hub", Report: ports.Reconciled{Lost: 1}})
		}, "acted as if"},
		{"another task declares lost", func(b *bench) { pass(b, "hub", func() { b.tell("e1/watch", lost) }) }, ""},
		{"feeds a bad result", func(b *bench) {
			pass(b, "hub", func() { b.tell(task, ports.Finish{Stage: s1, Outcome: "failed"}) })
		}, ""},
		{"adopts what the hub never had", func(b *bench) {
			stale(b)
			pass(b, "hub", func() { adopt(b) })
		}, "acted as if"},
		{"adopts what the hub has", func(b *bench) {
			stale(b)
			b.hub(hub.Accepted, job(s1, "d1", "u1", 1), "")
			pass(b, "hub", func() { adopt(b) })
		}, ""},
		{"begins", func(b *bench) {
			b.request(s1, 1)
			pass(b, "hub", func() {
				b.write(task, "begin", func(db *redis.DB) { db.HSet(keys.AssetState(s1.SceneID), "image.dispatch", "d1") }, keys.AssetState(s1.SceneID))
			})
		}, "acted as if"},
		{"the next one adopts", func(b *bench) {
			stale(b)
			pass(b, "hub", nothing)
			pass(b, "", func() { adopt(b) })
		}, ""},
		{"the next one does not adopt", func(b *bench) {
			stale(b)
			pass(b, "hub", nothing)
			pass(b, "", nothing)
		}, "is still held by dead, who does not renew it after the next complete pass"},
		{"the next one does not restore", func(b *bench) {
			b.request(s1, 1)
			b.preload(func(db *redis.DB) { db.HSet(keys.AssetState(s1.SceneID), "image.state", "generating") })
			pass(b, "hub", nothing)
			pass(b, "", nothing)
		}, "is still without a dispatch"},
		{"the next one lost its lock", func(b *bench) {
			stale(b)
			pass(b, "hub", nothing)
			b.write(task, "pipeline", b.lock, keys.CleanupLock())
			b.write("e2/reconcile", "pipeline", b.lock, keys.CleanupLock())
			b.tell(task, ports.Pass{})
		}, ""},
		{"the next one had trouble", func(b *bench) {
			stale(b)
			pass(b, "hub", nothing)
			pass(b, "", func() { b.tell(task, ports.Trouble{Op: "adopt"}) })
		}, ""},
	})
}
