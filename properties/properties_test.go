package properties_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// nothing is an attempt of s1 that was begun and finished without progress.
func (b *bench) nothing(n int, generation, windowSeconds int64) {
	d := fmt.Sprintf("d%d", n)
	b.begin(s1, d, generation)
	b.end(s1, d, "pending")
	b.tell("e1/dispatch", ports.Finish{Stage: s1, Dispatch: d, Generation: generation, Outcome: "nothing", WindowSeconds: windowSeconds})
}

// lost is an attempt of s1 that sent a job and was lost.
func (b *bench) lost(n int, generation int64) {
	d := fmt.Sprintf("d%d", n)
	b.begin(s1, d, generation)
	b.end(s1, d, "pending")
	b.tell("e1/watch", ports.Finish{Stage: s1, Dispatch: d, Generation: generation, Outcome: "lost", Reason: "lost", Sent: 1})
}

func (b *bench) lock(*redis.DB) {}

func TestBoundedChurn(t *testing.T) {
	attempts := func(times int, every time.Duration, window int64) func(*bench) {
		return func(b *bench) {
			b.request(s1, 1)
			for n := range times {
				b.nothing(n, 1, window)
				b.wait(every)
			}
		}
	}
	play(t, "bounded-churn", []scene{
		{"one attempt a window", attempts(10, time.Minute, 60), ""},
		{"one attempt more than windows", attempts(2, 59*time.Second, 60), "zero-progress attempts"},
		{"a long window is long", attempts(2, time.Minute, 900), "2 zero-progress attempts"},
		{"six attempts at once", attempts(6, 5*time.Second, 0), ""},
		{"an attempt every tick", attempts(7, 5*time.Second, 0), "7 zero-progress attempts"},
		{"an intent begins anew", func(b *bench) {
			b.request(s1, 1)
			b.nothing(1, 1, 60)
			b.request(s1, 2)
			b.nothing(2, 2, 60)
			b.tell("e2/dispatch", ports.Finish{Stage: s1, Dispatch: "old", Generation: 1, Outcome: "nothing", WindowSeconds: 60})
		}, ""},
		{"a window taken away by hand", func(b *bench) {
			b.request(s1, 1)
			b.nothing(1, 1, 60)
			b.deferTo(s1, 1, time.Minute)
			b.write("api/clear", "undefer", func(db *redis.DB) { db.Del(keys.Deferred(s1)) }, keys.Deferred(s1))
			b.nothing(2, 1, 60)
		}, ""},
		{"the budget and its refill", func(b *bench) {
			b.request(s1, 1)
			for n := range 11 {
				b.lost(n, 1)
			}
			b.wait(6 * time.Minute)
			b.lost(12, 1)
		}, ""},
		{"more than the budget", func(b *bench) {
			b.request(s1, 1)
			for n := range 12 {
				b.lost(n, 1)
			}
		}, "12 attempts that sent jobs"},
		{"four journal events an attempt, two an edge", func(b *bench) {
			b.request(s1, 1)
			b.nothing(1, 1, 60)
			b.tell("e1/engine", ports.Refusal{Stage: s1, Reason: "backpressure", Edge: true})
			b.tell("e1/outbox", ports.Journaled{Scene: s1.SceneID, Events: make([]string, 6)})
		}, ""},
		{"a journal event a tick", func(b *bench) {
			b.tell("e1/engine", ports.Refusal{Stage: s1, Reason: "backpressure"})
			b.tell("e1/engine", ports.Journaled{Scene: s1.SceneID, Events: make([]string, 1)})
		}, "1 journal events"},
		{"an idle tick takes its lock", func(b *bench) {
			b.write("e1/engine", "pipeline", b.lock, keys.SchedulerLock())
			b.tick()
		}, ""},
		{"an idle tick writes", func(b *bench) {
			b.request(s1, 1)
			b.write("e1/engine", "set", func(db *redis.DB) { db.Set(keys.Deferred(s1), "x") }, keys.Deferred(s1))
			b.tick()
		}, "the tick began nothing"},
		{"a busy tick writes", func(b *bench) {
			b.write("e1/engine", "retire", b.lock, keys.ActiveScenes())
			b.tell("e1/engine", ports.Retired{Scene: s1.SceneID})
			b.tick()
		}, ""},
		{"a call that failed in the tick before comes late", func(b *bench) {
			b.tell("e1/engine", ports.Trouble{Op: "journal"})
			b.tick()
			b.write("e1/engine", "pipeline", b.lock, keys.Journal(s1.SceneID))
			b.tick()
		}, ""},
		{"a refusal writes", func(b *bench) {
			b.write("e1/dispatch", "begin", func(db *redis.DB) { db.Set(keys.Deferred(s1), "x") }, keys.Deferred(s1))
		}, "begin began nothing"},
	})
}

func TestKeyEncoding(t *testing.T) {
	write := func(key string) func(*bench) {
		return func(b *bench) { b.write("e1/engine", "set", b.lock, key) }
	}
	play(t, "key-encoding", []scene{
		{"a key of a scene", write(keys.Intent(s1)), ""},
		{"a receipt", write(keys.Receipt(keys.Job(s1, "u:1", 2))), ""},
		{"a raw join", write("animastor:intent:a:b:c1:s1:image"), "no builder"},
		{"a needless escape", write("animastor:intent:b%31:c1:s1:image"), "no builder"},
		{"another scene", write(keys.Intent(ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s9"}.Of("image"))), "a scene that does not exist"},
		{"another book", write(keys.Cancel("b9")), "a book that does not exist"},
		{"another stage", write(keys.Intent(s1.SceneID.Of("smell"))), "no stage"},
	})
}

func TestClassification(t *testing.T) {
	finish := func(f ports.Finish, outcomes ...string) func(*bench) {
		return func(b *bench) {
			for i, o := range outcomes {
				b.tell("e1/dispatch", ports.JobOutcome{Stage: s1, Dispatch: "d", Job: fmt.Sprint(i), Outcome: "sent"})
				b.tell("e1/dispatch", ports.JobOutcome{Stage: s1, Dispatch: "d", Job: fmt.Sprint(i), Outcome: o, Final: true})
			}
			f.Stage, f.Dispatch = s1, "d"
			b.tell("e1/dispatch", f)
		}
	}
	mixed := ports.Finish{Outcome: "nothing", Reason: "already_completed", Bucket: "idempotent", WindowSeconds: 60, Deferred: true}
	long := mixed
	long.WindowSeconds = 900
	failed := ports.Finish{Outcome: "nothing", Reason: "send_failed", Bucket: "immediate", Retryable: true}
	play(t, "classification", []scene{
		{"a mixture waits for capacity", finish(mixed, "already_completed", "no_worker_available", "already_completed"), ""},
		{"a mixture waits too long", finish(long, "already_completed", "no_worker_available", "already_completed"), "900 s"},
		{"one that does not defer", finish(failed, "no_worker_available", "send_failed", "no_worker_available"), ""},
		{"one that does not defer, deferred", finish(mixed, "already_completed", "send_failed"), "say send_failed"},
		{"the first seen wins ties", finish(ports.Finish{Outcome: "partial", Reason: "ambiguous_post", Bucket: "capacity", WindowSeconds: 60, Deferred: true, Retryable: true},
			"ambiguous_post", "stale_intent"), ""},
		{"a new word", finish(failed, "quota"), "say no reason"},
		{"an ending of the engine's own", finish(ports.Finish{Outcome: "nothing", Reason: "dispatch_error", Bucket: "immediate", Retryable: true}), ""},
		{"a terminal one that is retryable", finish(ports.Finish{Outcome: "failed", Reason: "scene_not_found", Bucket: "immediate", Retryable: true}), "retryable true"},
		{"ready", finish(ports.Finish{Outcome: "ready"}), ""},
		{"ready with a reason", finish(ports.Finish{Outcome: "ready", Reason: "lost"}), "say no reason"},
		{"two judges, one verdict each", func(b *bench) {
			b.tell("e1/dispatch", ports.JobOutcome{Stage: s1, Dispatch: "d", Job: "j", Outcome: "stale_intent", Final: true})
			b.tell("e2/watch", ports.JobOutcome{Stage: s1, Dispatch: "d", Job: "j", Outcome: "send_failed", Final: true})
			failed.Stage, failed.Dispatch = s1, "d"
			b.tell("e2/watch", failed)
		}, ""},
	})
}

func TestSingleOwner(t *testing.T) {
	play(t, "single-owner", []scene{
		{"one after the other", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "pending")
			b.begin(s1, "d2", 1)
			b.tell("e2/dispatch", ports.Attempt{Stage: s1, Dispatch: "d2"}) // told before
			b.tell("e1/dispatch", ports.Finish{Stage: s1, Dispatch: "d1"})  // the end of the other
		}, ""},
		{"one takes the other's place", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.begin(s1, "d2", 1)
		}, "when another dispatch took its place"},
		{"a renewal of the live one", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.write("e1/renew", "renew", func(db *redis.DB) { db.Set(keys.Lease(s1), "d1") }, keys.Lease(s1))
		}, ""},
		{"a renewal of a dead one", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "pending")
			b.begin(s1, "d2", 1)
			b.write("e1/renew", "renew", func(db *redis.DB) { db.Set(keys.Lease(s1), "d1") }, keys.Lease(s1))
		}, "d1 is not live, and renew wrote"},
		{"a result of a dead one", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "pending")
			b.write("e1/callback", "accept", func(db *redis.DB) { db.HSet(keys.DispatchJobs("d1"), "j", "done|x") }, keys.DispatchJobs("d1"))
		}, "d1 is not live, and accept wrote"},
		{"a result of nobody", func(b *bench) {
			b.tell("e1/callback", ports.Result{Stage: s1, Dispatch: "d7", Verdict: "accepted"})
		}, "was never live"},
		{"a stale result of nobody", func(b *bench) {
			b.tell("e1/callback", ports.Result{Stage: s1, Dispatch: "d7", Verdict: "stale"})
		}, ""},
	})
}

func TestSlots(t *testing.T) {
	foreign := func(n int, until time.Duration) func(*bench) {
		return func(b *bench) {
			db := b.redis.DB()
			for i := range n {
				db.ZAdd(keys.Slots("image"), float64(db.Now()+until.Milliseconds()), fmt.Sprintf("foreign-%d", i))
			}
			b.set.Reload()
			b.wait(time.Minute)
			b.begin(s1, "d1", 1)
		}
	}
	release := func(b *bench) {
		b.write("e1/reconcile", "zrem", func(db *redis.DB) { db.ZRem(keys.Slots("image"), "d1") }, keys.Slots("image"))
	}
	// robbed begins a dispatch, lets take go on, and begins as many as there are slots.
	robbed := func(b *bench, take func(*bench)) {
		b.begin(s1, "d1", 1)
		take(b)
		for n := range 4 {
			s := s2
			s.Scene += itoa(int64(n))
			b.begin(s, "other"+itoa(int64(n)), 1)
		}
	}
	play(t, "slots", []scene{
		{"three others and ours", foreign(3, time.Hour), ""},
		{"four others and ours", foreign(4, time.Hour), "5 dispatches hold a slot, the limit is 4"},
		{"four whose time is over", foreign(4, time.Second), ""},
		{"without a slot", func(b *bench) { b.begin(s1, "d1", 1, "slot") }, "begun without a slot"},
		{"beside one whose slot was taken away", func(b *bench) { robbed(b, release) }, "4 dispatches hold a slot beside d1, which live and had theirs taken away; the limit is 4"},
		{"beside one whose slot was taken away long ago", func(b *bench) {
			robbed(b, func(b *bench) {
				release(b)
				b.wait(21 * time.Minute)
			})
		}, ""},
		{"beside one whose slot was taken away when it was over", func(b *bench) {
			robbed(b, func(b *bench) {
				b.end(s1, "d1", "ready")
				release(b)
			})
		}, ""},
		{"beside one whose slot was evicted", func(b *bench) { robbed(b, func(b *bench) { b.redis.Evict(keys.Slots("image")) }) }, ""},
		{"beside one whose slot a failover took", func(b *bench) {
			robbed(b, func(b *bench) {
				b.redis.DB().Del(keys.Slots("image"))
				b.set.Failover([]string{keys.Slots("image")})
			})
		}, ""},
		{"at rest", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "ready")
			b.set.Rest()
		}, ""},
		{"a leak", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.set.Rest()
		}, "holds a slot at rest"},
	})
}

func TestResultEvents(t *testing.T) {
	hear := func(b *bench, dispatch string, again bool) {
		b.world.Emit(sim.Event{Process: "e1/deliver", Kind: "heard", Data: consumer.Heard{Again: again,
			ResultEvent: ports.ResultEvent{ID: dispatch, Stage: s1, Dispatch: dispatch}}})
	}
	two := func(b *bench) {
		for _, d := range []string{"d1", "d2"} {
			b.begin(s1, d, 1)
			b.wait(time.Second)
			b.end(s1, d, "pending")
		}
	}
	play(t, "result-events", []scene{
		{"in order, with repeats", func(b *bench) {
			two(b)
			hear(b, "d1", false)
			hear(b, "d2", false)
			hear(b, "d1", true)
			b.set.Rest()
		}, ""},
		{"the later one first", func(b *bench) {
			two(b)
			hear(b, "d2", false)
			hear(b, "d1", false)
			b.set.Rest()
		}, "after an event of dispatch d2"},
		{"before the end", func(b *bench) {
			b.begin(s1, "d1", 1)
			hear(b, "d1", false)
		}, "before it ended"},
		{"never", func(b *bench) {
			two(b)
			hear(b, "d1", false)
			b.set.Rest()
		}, "the end of dispatch d2"},
		{"what waited was evicted", func(b *bench) {
			two(b)
			b.world.Emit(sim.Event{Kind: "evict", Subject: keys.Outbox()})
			b.set.Rest()
		}, ""},
	})
}

func TestFinishOnce(t *testing.T) {
	play(t, "finish-once", []scene{
		{"once", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "ready") // its event was lost with the process
			b.set.Rest()
		}, ""},
		{"twice", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "ready")
			b.tell("e1/dispatch", ports.Finish{Stage: s1, Dispatch: "d1"})
			b.tell("api/cancel", ports.Intent{Stage: s1, Replaced: "d1"})
		}, "ended twice"},
		{"never", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.set.Rest()
		}, "has not ended"},
		{"by something else", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.write("e1/engine", "hdel", func(db *redis.DB) { db.HDel(keys.AssetState(s1.SceneID), "image.dispatch") }, keys.AssetState(s1.SceneID))
		}, "ended by hdel"},
		{"again after its end", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.end(s1, "d1", "ready")
			b.begin(s1, "d1", 1)
		}, "live again"},
		{"evicted", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.redis.Evict(keys.AssetState(s1.SceneID))
			b.set.Rest()
		}, ""},
		{"taken back by a failover, and begun again", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.redis.DB().HDel(keys.AssetState(s1.SceneID), "image.dispatch")
			b.set.Failover([]string{keys.AssetState(s1.SceneID)})
			b.begin(s1, "d1", 1)
		}, ""},
	})
}

func TestOneJob(t *testing.T) {
	accept := func(b *bench, dispatch, result string) {
		id := keys.Job(s1, "u1", 1)
		b.write("e1/callback", "accept", func(db *redis.DB) {
			db.HSet(keys.DispatchJobs(dispatch), id, "done|"+result)
			db.HSet(keys.TaskDone(id), "dispatch", dispatch)
		}, keys.DispatchJobs(dispatch), keys.TaskDone(id))
	}
	again := job(s1, "d2", "u1", 1)
	again.JobID = "another id"
	play(t, "one-job", []scene{
		{"one after the other", func(b *bench) {
			b.hub(hub.Accepted, job(s1, "d1", "u1", 1), "")
			b.hub(hub.Cleared, job(s1, "d1", "u1", 1), "dispatch")
			b.hub(hub.Accepted, again, "")
			b.hub(hub.Accepted, job(s1, "d2", "u1", 2), "")
		}, ""},
		{"two at once", func(b *bench) {
			b.hub(hub.Accepted, job(s1, "d1", "u1", 1), "")
			b.hub(hub.Claimed, job(s1, "d1", "u1", 1), "")
			b.hub(hub.Accepted, again, "")
		}, "two live jobs"},
		{"a second result", func(b *bench) {
			accept(b, "d1", "x.png")
			accept(b, "d2", "x.png")
		}, "accepted twice"},
		{"a result taken from the artifact", func(b *bench) {
			accept(b, "d1", "x.png")
			accept(b, "d2", "cached")
		}, ""},
		{"a second result after the first was evicted", func(b *bench) {
			accept(b, "d1", "x.png")
			b.redis.Evict(keys.DispatchJobs("d1"))
			b.write("e1/renew", "renew", func(db *redis.DB) { db.HSet(keys.DispatchJobs("d1"), keys.Job(s1, "u1", 1), "unknown") }, keys.DispatchJobs("d1"))
			accept(b, "d1", "x.png")
		}, ""},
		{"a second result after a release", func(b *bench) {
			accept(b, "d1", "x.png")
			marker := keys.TaskDone(keys.Job(s1, "u1", 1))
			b.write("e1/dispatch", "release", func(db *redis.DB) { db.Del(marker) }, marker)
			accept(b, "d2", "x.png")
		}, ""},
	})
}

func TestFreshDeferral(t *testing.T) {
	refusal := ports.Refusal{Stage: s1, Reason: "deferred_capacity", Stored: "no_worker_available"}
	play(t, "fresh-deferral", []scene{
		{"of this generation", func(b *bench) {
			b.request(s1, 1)
			b.deferTo(s1, 1, time.Minute)
			b.tell("e1/engine", refusal)
		}, ""},
		{"of an older generation", func(b *bench) {
			b.request(s1, 2)
			b.deferTo(s1, 1, time.Minute)
			b.tell("e1/engine", refusal)
		}, "for a deferral of generation 1"},
		{"deleted by an intent since the refusal was decided", func(b *bench) {
			b.request(s1, 1)
			b.deferTo(s1, 1, time.Minute)
			b.request(s1, 2)
			b.tell("e1/engine", refusal)
		}, ""},
		{"begun when the window is over", func(b *bench) {
			b.request(s1, 1)
			b.deferTo(s1, 1, time.Minute)
			b.wait(time.Minute + time.Millisecond)
			b.begin(s1, "d1", 1)
		}, ""},
		{"begun by force", func(b *bench) {
			b.request(s1, 1)
			b.deferTo(s1, 1, time.Minute)
			b.wait(59 * time.Second)
			b.begin(s1, "d1", 1)
		}, "begun while no_worker_available"},
	})
}
