package properties_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
)

// circuit is what a test makes of the breaker in the step of a begin or a finish.
type circuit func(*redis.DB)

func opened(ago time.Duration) circuit {
	return func(db *redis.DB) {
		db.HSet(keys.Breaker("image"), "opened_at", itoa(db.Now()-ago.Milliseconds()))
		db.Del(keys.BreakerFailures("image"), keys.BreakerPermits("image"))
	}
}

func closed(db *redis.DB) {
	db.Del(keys.Breaker("image"), keys.BreakerFailures("image"), keys.BreakerPermits("image"))
}

func counted(dispatch string) circuit {
	return func(db *redis.DB) { db.ZAdd(keys.BreakerFailures("image"), float64(db.Now()), dispatch) }
}

func forgiven(db *redis.DB) { db.Del(keys.BreakerFailures("image")) }

func permit(dispatch string, d time.Duration) circuit {
	return func(db *redis.DB) {
		db.ZAdd(keys.BreakerPermits("image"), float64(db.Now()+d.Milliseconds()), dispatch)
	}
}

// preload writes into Redis past the calls.
func (b *bench) preload(do circuit) {
	do(b.redis.DB())
	b.set.Reload()
}

// probe begins a dispatch of s1 through a half-open circuit.
func (b *bench) probe(dispatch string, d time.Duration) {
	b.preload(permit(dispatch, d))
	b.begin(s1, dispatch, 1)
}

// result is accepted for the only job of a dispatch that begin has begun; a worker did it,
// unless the result is that of an artifact.
func (b *bench) result(dispatch, state string) {
	j := job(s1, dispatch, "u1", 1)
	if state != "done|cached" {
		b.hub(hub.Accepted, j, "")
		b.hub(hub.Claimed, j, "")
	}
	b.write("e1/callback", "accept", func(db *redis.DB) { db.HSet(keys.DispatchJobs(dispatch), j.JobID, state) }, keys.DispatchJobs(dispatch))
}

// ends is finish as the engine does it: with the outcome, the budget (-1: full) and
// what becomes of the circuit in one step.
func (b *bench) ends(dispatch, outcome, reason string, budget int, circuits ...circuit) {
	state := map[string]string{"ready": "ready"}[outcome]
	if state == "" {
		state = "pending"
	}
	b.write("e1/dispatch", "finish", func(db *redis.DB) {
		for _, change := range circuits {
			change(db)
		}
		db.Del(keys.Lease(s1), keys.Dispatch(s1), keys.DispatchJobs(dispatch), keys.Budget(s1))
		db.ZRem(keys.Slots("image"), dispatch)
		db.ZRem(keys.BreakerPermits("image"), dispatch)
		db.HSet(keys.AssetState(s1.SceneID), "image.state", state, "image.reason", reason)
		db.HDel(keys.AssetState(s1.SceneID), "image.dispatch")
		db.SetPX(keys.DispatchCompleted(s1, dispatch), outcome+"|0", 86_400_000)
		if budget >= 0 {
			db.HSet(keys.Budget(s1), "tokens", strconv.Itoa(budget), "at", itoa(db.Now()))
		}
	}, keys.AssetState(s1.SceneID), keys.Budget(s1), keys.DispatchJobs(dispatch), keys.DispatchCompleted(s1, dispatch),
		keys.Breaker("image"), keys.BreakerFailures("image"), keys.BreakerPermits("image"))
}

func TestFairAccountingOfTheBudget(t *testing.T) {
	// life is one dispatch from its begin to its end; result is of its job, if any.
	life := func(result, outcome, reason string, budget int) func(*bench) {
		return func(b *bench) {
			b.begin(s1, "d1", 1)
			if result != "" {
				b.result("d1", result)
				b.wait(time.Minute)
			}
			b.ends("d1", outcome, reason, budget)
		}
	}
	hung := func(budget int) func(*bench) {
		return func(b *bench) {
			b.begin(s1, "d1", 1)
			b.hub(hub.Accepted, job(s1, "d1", "u1", 1), "")
			b.hub(hub.Claimed, job(s1, "d1", "u1", 1), "")
			b.wait(26 * time.Minute)
			b.hub(hub.Cleared, job(s1, "d1", "u1", 1), "dispatch")
			var failure []circuit
			if budget >= 0 {
				failure = append(failure, counted("d1"))
			}
			b.ends("d1", "lost", "lost", budget, failure...)
		}
	}
	// sibling asks for the audio of a scene whose image has spent tokens, and takes keys away.
	sibling := func(gone ...string) func(*bench) {
		return func(b *bench) {
			b.request(s1, 1)
			b.preload(func(db *redis.DB) { db.HSet(keys.Budget(s1), "tokens", "3", "at", itoa(db.Now())) })
			audio := s1.SceneID.Of("audio")
			b.write("api/request", "intent", func(db *redis.DB) {
				db.HSet(keys.Intent(audio), "generation", "1", "status", "active")
				db.HSet(keys.AssetState(audio.SceneID), "audio.state", "pending")
				db.Del(gone...)
			}, append(gone, keys.Intent(audio), keys.AssetState(audio.SceneID))...)
		}
	}
	play(t, "fair-accounting", []scene{
		{"a failure costs one", life("failed|job_timeout", "failed", "job_failed", 9), ""},
		{"a failure costs two", life("failed|job_timeout", "failed", "job_failed", 8), "left the budget at 8 after full"},
		{"a failure costs nothing", life("failed|job_timeout", "failed", "job_failed", -1), "due is to charge it, for a failure"},
		{"a failure that nobody reported", life("", "failed", "job_failed", 9), "due is to keep it"},
		{"a missing artifact costs one", life("done|x.png", "failed", "artifact_missing", 9), ""},
		{"a missing scene costs nothing", life("", "failed", "scene_not_found", -1), ""},
		{"no progress costs nothing", life("", "nothing", "send_failed", -1), ""},
		{"no progress is charged", life("", "nothing", "send_failed", 9), "due is to keep it"},
		{"half of the jobs costs nothing", life("done|x.png", "partial", "send_failed", -1), ""},
		{"half of the jobs, and the other failed", life("failed|job_timeout", "partial", "send_failed", -1), "due is to charge it"},
		{"a loss that no worker claimed", life("", "lost", "lost", -1), ""},
		{"a loss that no worker claimed is charged", life("", "lost", "lost", 9), "due is to keep it"},
		{"a loss of what a worker claimed", hung(9), ""},
		{"a failure while the finish is under way", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.result("d1", "failed|job_timeout")
			b.ends("d1", "partial", "send_failed", -1)
		}, ""},
		{"a token comes back", func(b *bench) {
			life("failed|job_timeout", "failed", "job_failed", 9)(b)
			b.wait(6*time.Minute + time.Second)
			b.begin(s1, "d2", 1)
			b.result("d2", "failed|job_timeout")
			b.ends("d2", "failed", "job_failed", 9)
		}, ""},
		{"success resets it", func(b *bench) {
			b.preload(func(db *redis.DB) { db.HSet(keys.Budget(s1), "tokens", "3", "at", itoa(db.Now())) })
			life("done|x.png", "ready", "", -1)(b)
		}, ""},
		{"success leaves it", func(b *bench) {
			b.preload(func(db *redis.DB) { db.HSet(keys.Budget(s1), "tokens", "3", "at", itoa(db.Now())) })
			life("done|x.png", "ready", "", 3)(b)
		}, "due is to reset it, for success"},
		{"an intent leaves it", func(b *bench) {
			b.preload(func(db *redis.DB) { db.HSet(keys.Budget(s1), "tokens", "3", "at", itoa(db.Now())) })
			b.request(s1, 1)
		}, "for an explicit intent"},
		{"an intent of another stage leaves it", sibling(), ""},
		{"an intent of another stage resets it", sibling(keys.Budget(s1)), "due is to keep it"},
		{"a tick writes it", func(b *bench) {
			b.write("e1/engine", "hset", func(db *redis.DB) { db.HSet(keys.Budget(s1), "tokens", "3", "at", "0") }, keys.Budget(s1))
		}, "no dispatch ended"},
	})
}

func TestFairAccountingOfTheBreaker(t *testing.T) {
	// fails lets n dispatches fail one after the other; the last one does this to the circuit.
	fails := func(n int, code string, last ...circuit) func(*bench) {
		return func(b *bench) {
			for i := range n {
				d := fmt.Sprint("d", i)
				b.begin(s1, d, 1)
				b.result(d, "failed|"+code)
				if i < n-1 {
					b.ends(d, "failed", "job_failed", 9-i, counted(d))
				} else {
					b.ends(d, "failed", "job_failed", 9-i, last...)
				}
				b.wait(time.Second)
			}
		}
	}
	halfOpen := func(result, outcome, reason string, budget int, probe bool, last ...circuit) func(*bench) {
		return func(b *bench) {
			b.preload(opened(time.Minute))
			if probe {
				b.preload(permit("d1", time.Minute))
			}
			b.begin(s1, "d1", 1)
			b.result("d1", result)
			b.ends("d1", outcome, reason, budget, last...)
		}
	}
	says := func(evidence, circuit string) func(*bench) {
		return func(b *bench) {
			fails(1, "worker_crashed", counted("d0"))(b)
			b.tell("e1/dispatch", ports.Finish{Stage: s1, Dispatch: "d0", Outcome: "failed", Evidence: evidence, Circuit: circuit})
		}
	}
	play(t, "fair-accounting", []scene{
		{"a crash counts", says("failure", "closed"), ""},
		{"a crash counts, and the finish denies it", says("", "closed"), `tells the breaker ""`},
		{"the finish is wrong about the circuit", says("failure", "half_open"), "says that the circuit is half_open"},
		{"a crash does not count", fails(1, "worker_crashed"), "left the circuit closed ()"},
		{"bad input counts", fails(1, "invalid_asset", counted("d0")), "(counted)"},
		{"a crash that nobody claimed", func(b *bench) {
			b.begin(s1, "d1", 1)
			b.write("e1/callback", "accept", func(db *redis.DB) { db.HSet(keys.DispatchJobs("d1"), keys.Job(s1, "u1", 1), "failed|worker_crashed") }, keys.DispatchJobs("d1"))
			b.ends("d1", "failed", "job_failed", 9, counted("d1"))
		}, "claimed false"},
		{"counted under another's name", fails(1, "worker_crashed", counted("d9")), "(counted)"},
		{"the fourth counts", fails(4, "disk_full", counted("d3")), ""},
		{"the fourth opens", fails(4, "disk_full", opened(0)), "left the circuit open (opened), which was closed with 3 failures"},
		{"the fifth opens", fails(5, "disk_full", opened(0)), ""},
		{"the fifth counts", fails(5, "disk_full", counted("d4")), "(counted)"},
		{"the fifth, of the last hour", func(b *bench) {
			fails(4, "disk_full", counted("d3"))(b)
			b.wait(2 * time.Minute)
			b.begin(s1, "d5", 1)
			b.result("d5", "failed|disk_full")
			b.ends("d5", "failed", "job_failed", 5, opened(0))
		}, "(opened)"},
		{"success forgives", func(b *bench) {
			b.preload(counted("x"))
			b.begin(s1, "d1", 1)
			b.result("d1", "done|x.png")
			b.ends("d1", "ready", "", -1, forgiven)
		}, ""},
		{"an artifact that stood forgives", func(b *bench) {
			b.preload(counted("x"))
			b.begin(s1, "d1", 1)
			b.result("d1", "done|cached")
			b.ends("d1", "ready", "", -1, forgiven)
		}, "(forgiven)"},
		{"a probe's success closes", halfOpen("done|x.png", "ready", "", -1, true, closed), ""},
		{"a probe's success does not close", halfOpen("done|x.png", "ready", "", -1, true), "left the circuit half_open ()"},
		{"a probe that finds an artifact", halfOpen("done|cached", "ready", "", -1, true), ""},
		{"a probe that finds an artifact closes", halfOpen("done|cached", "ready", "", -1, true, closed), "(closed)"},
		{"a late success closes", halfOpen("done|x.png", "ready", "", -1, false, closed), "(closed)"},
		{"a probe's failure opens", halfOpen("failed|disk_full", "failed", "job_failed", 9, true, opened(0)), ""},
		{"a late failure opens", halfOpen("failed|disk_full", "failed", "job_failed", 9, false, opened(0)), "(opened)"},
		{"a late failure tells nothing", halfOpen("failed|disk_full", "failed", "job_failed", 9, false), ""},
		{"a renewal closes", func(b *bench) {
			b.preload(opened(time.Minute))
			b.write("e1/renew", "renew", closed, keys.Breaker("image"))
		}, "no dispatch of the stage ended"},
		{"Redis evicts it", func(b *bench) {
			b.preload(opened(time.Minute))
			b.redis.Evict(keys.Breaker("image"))
			fails(1, "disk_full", counted("d0"))(b)
		}, ""},
	})
}

func TestPermits(t *testing.T) {
	half := func(others int, then func(*bench)) func(*bench) {
		return func(b *bench) {
			b.preload(opened(2 * time.Minute))
			for i := range others {
				b.preload(permit(fmt.Sprint("other-", i), 20*time.Minute))
			}
			then(b)
		}
	}
	ticks := func(n int) func(*bench) {
		return func(b *bench) {
			b.request(s1, 1)
			for range n {
				b.wait(5 * time.Second)
				b.tick()
			}
		}
	}
	play(t, "permits", []scene{
		{"beside another", half(1, func(b *bench) { b.probe("d1", 25*time.Minute) }), ""},
		{"beside two others", half(2, func(b *bench) { b.probe("d1", 25*time.Minute) }), "beside as many others"},
		{"beside two whose time is over", half(2, func(b *bench) {
			b.wait(20 * time.Minute)
			b.probe("d1", 25*time.Minute)
		}), ""},
		{"without one", half(0, func(b *bench) { b.begin(s1, "d1", 1) }), "without a permit"},
		{"for too long", half(0, func(b *bench) { b.probe("d1", 26*time.Minute) }), "holds a permit for 26m0s"},
		{"through an open circuit", func(b *bench) {
			b.preload(opened(59 * time.Second))
			b.begin(s1, "d1", 1)
		}, "through an open circuit"},
		{"through a circuit that is held open", func(b *bench) {
			b.preload(func(db *redis.DB) { db.HSet(keys.Breaker("image"), "hold", "open") })
			b.begin(s1, "d1", 1)
		}, "through an open circuit"},
		{"through a closed one", func(b *bench) { b.begin(s1, "d1", 1) }, ""},
		{"through a closed one, with a permit", func(b *bench) { b.probe("d1", time.Minute) }, "and the circuit is closed"},
		{"a probe that knows", half(0, func(b *bench) {
			b.probe("d1", time.Minute)
			b.tell("e1/dispatch", ports.Attempt{Stage: s1, Dispatch: "d1", Probe: true})
		}), ""},
		{"a probe that does not know", half(0, func(b *bench) {
			b.probe("d1", time.Minute)
			b.tell("e1/dispatch", ports.Attempt{Stage: s1, Dispatch: "d1"})
		}), "does not know"},
		{"returned at the end", half(0, func(b *bench) {
			b.probe("d1", time.Minute)
			b.ends("d1", "nothing", "send_failed", -1)
		}), ""},
		{"kept at the end", half(0, func(b *bench) {
			b.probe("d1", time.Minute)
			b.end(s1, "d1", "pending")
		}), "has ended and still holds a permit"},
		{"renewed", half(0, func(b *bench) {
			b.probe("d1", time.Minute)
			b.write("e1/renew", "renew", permit("d1", 2*time.Minute), keys.BreakerPermits("image"))
		}), "the permit of d1 was made longer"},
		{"let through in time", half(1, func(b *bench) {
			ticks(3)(b)
			b.probe("d1", time.Minute)
			b.ends("d1", "nothing", "send_failed", -1)
			ticks(3)(b)
		}), ""},
		{"never let through", half(1, ticks(4)), "let none of the wanted stages through"},
		{"nothing to give", half(2, ticks(9)), ""},
		{"nothing wanted", half(0, func(b *bench) {
			b.wanted = nil
			ticks(9)(b)
		}), ""},
	})
}
