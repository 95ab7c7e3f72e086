package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
)

// TestScripts: scripts and reads of the engine, as package store calls them, on states of
// all kinds; on a server that forgot its scripts, is short of memory, or is a replica, too.
func TestScripts(t *testing.T) {
	needServer(t)
	seen := map[string]int{}
	for round := 0; round < 3 && (round == 0 || len(idle(seen)) > 0); round++ {
		rapid.Check(t, func(t *rapid.T) { count(seen, scriptsProperty(t).trips) })
	}
	require.Empty(t, idle(seen), "these scripts never did anything: more checks are needed (-rapid.checks); seen: %v", seen)
	for _, class := range []string{"CORRUPT", "NOSCRIPT", "OOM", "READONLY"} {
		require.Positive(t, seen["error "+class], "no error %s: more checks are needed (-rapid.checks); seen: %v", class, seen)
	}
}

// count counts what the scripts answered, as `script verdict` and `error CLASS`.
func count(seen map[string]int, trips []trip) {
	for _, trip := range trips {
		for i, request := range trip.requests {
			name, script, _ := strings.Cut(request, " ")
			if !strings.HasPrefix(name, "eval") {
				continue
			}
			script, _, _ = strings.Cut(script, " ")
			verdict, _, _ := strings.Cut(strings.Trim(trip.replies[i], "[]"), " ")
			if strings.HasPrefix(trip.replies[i], "error ") {
				verdict = strings.Fields(trip.replies[i])[1]
				seen["error "+verdict]++
			}
			seen[script+" "+verdict]++
		}
	}
}

// idle lists the scripts that have refused whatever was asked.
func idle(seen map[string]int) (names []string) {
	for _, script := range store.Scripts() {
		did := 0
		for _, verdict := range []string{"ok", "1", "2", "released", "restored", "accepted", "last"} {
			did += seen[script.Name+" "+verdict]
		}
		if did == 0 {
			names = append(names, script.Name)
		}
	}
	return names
}

// scriptsProperty plays a few rounds: a state, and calls on it.
func scriptsProperty(t *rapid.T) *play {
	u := universes[evenly(t, len(universes))]
	round := rapid.Custom(func(t *rapid.T) []step {
		fault := oneOf(t, "", "", "", "", "", "noscript", "oom", "readonly")
		call := rapid.Custom(func(t *rapid.T) step {
			return step{restMs: int64(evenly(t, 2)), fault: fault, call: u.call(t)}
		})
		return append([]step{{commands: u.state(t)}}, rapid.SliceOfN(call, 1, 6).Draw(t, "calls")...)
	})
	steps := slices.Concat(rapid.SliceOfN(round, 1, 6).Draw(t, "rounds")...)
	return check(t, append(steps, dump(u.keys())))
}

// call draws a call of the store, as the engine makes them.
func (u universe) call(t *rapid.T) func(*play) {
	calls := u.dispatchCalls(t) // every other one: most states have a word to say to those
	if evenly(t, 2) == 0 {
		calls = u.otherCalls(t)
	}
	call := calls[evenly(t, len(calls))]
	return func(p *play) { _ = call(store.New(p.client)) } // the play writes down what it was told
}

// dispatchCalls are the calls that concern a dispatch.
func (u universe) dispatchCalls(t *rapid.T) []func(*store.Store) error {
	d, h, job := oneOf(t, often(u.dispatches[0], u.dispatches[1])...), oneOf(t, often(u.holders[0], u.holders[1])...), oneOf(t, u.jobs...)
	lease := oneOf(t, time.Minute, time.Millisecond, 3*time.Millisecond, 1380*time.Second)
	jobs := oneOf(t, u.jobs, u.jobs[:1], nil)
	generation := oneOf[int64](t, 3, 3, 3, 3, 3, 3, 3, 3, 2, 4)
	breaker := guard.Breaker{Trip: 1 + evenly(t, 3), Window: time.Minute, CoolDown: oneOf(t, 3*time.Millisecond, time.Minute), Permits: 1 + evenly(t, 2)}
	state, op := oneOf(t, "pending", "ready", "dirty", "failed"), oneOf(t, store.Charge, store.Reset, store.Keep)
	begin := store.BeginArgs{Stage: oneOf(t, u.stage, u.stage, u.video()), Dispatch: oneOf(t, newDispatch, newDispatch, u.dispatches[0]), Holder: h, Generation: generation,
		Version: 7, Mark: 9, Lease: lease, Slots: oneOf(t, 4, 1, 0), Breaker: breaker, Permit: lease, Jobs: jobs}
	admit := store.AdmitArgs{Stage: u.stage, Dispatch: d, Holder: h, Generation: generation, Fence: 5, Job: job, Payload: "p", Lease: lease}
	accept := store.AcceptArgs{Stage: u.stage, Dispatch: d, Fence: 5, Generation: generation, Job: job,
		State: oneOf(t, store.JobDone, store.JobFailed), Result: oneOf(t, hostile...)}
	finish := store.FinishArgs{Stage: u.stage, Dispatch: d, Caller: h, Outcome: "nothing", State: asset.State(state), Reason: oneOf(t, "no_worker_available", ""),
		Bucket: "capacity", Window: oneOf(t, 0, time.Minute), Idle: oneOf(t, store.Increase, store.Increase, store.Reset, store.Keep), Budget: op,
		BudgetLimit: 1 + evenly(t, 10), Refill: oneOf(t, time.Millisecond, 6*time.Minute), Breaker: breaker,
		Evidence: oneOf(t, guard.Failure, guard.Success, guard.None), Jobs: jobs}
	return []func(*store.Store) error{
		func(s *store.Store) error { _, err := s.Begin(ctx, begin); return err },
		func(s *store.Store) error { _, err := s.Begin(ctx, begin); return err },
		func(s *store.Store) error { _, err := s.Begin(ctx, begin); return err }, // it and admit have the most to say
		func(s *store.Store) error { _, _, err := s.Admit(ctx, admit); return err },
		func(s *store.Store) error { _, _, err := s.Admit(ctx, admit); return err },
		func(s *store.Store) error { _, _, err := s.Admit(ctx, admit); return err },
		func(s *store.Store) error {
			_, err := s.Renew(ctx, store.RenewArgs{Stage: u.stage, Dispatch: d, Holder: h, Lease: lease, Jobs: jobs})
			return err
		},
		func(s *store.Store) error { _, err := s.Adopt(ctx, u.stage, d, h); return err },
		func(s *store.Store) error { _, err := s.Claim(ctx, u.stage, d, h); return err },
		func(s *store.Store) error {
			_, _, err := s.Mark(ctx, u.stage, d, job, store.JobSent, lease)
			return err
		},
		func(s *store.Store) error { _, err := s.Forget(ctx, d, job); return err },
		func(s *store.Store) error { _, err := s.Release(ctx, u.stage, d, job); return err },
		func(s *store.Store) error { _, err := s.Accept(ctx, accept); return err },
		func(s *store.Store) error { _, err := s.Accept(ctx, accept); return err },
		func(s *store.Store) error { _, err := s.Finish(ctx, finish); return err },
		func(s *store.Store) error { _, err := s.Finish(ctx, finish); return err },
	}
}

// otherCalls are those that concern a scene, a book, or the whole, and the reads.
func (u universe) otherCalls(t *rapid.T) []func(*store.Store) error {
	scene, book, h := u.stage.SceneID, u.stage.Book, oneOf(t, u.holders...)
	asked := oneOf(t, u.stage, u.stage, u.video())
	op := oneOf(t, store.OpRequest, store.OpRegenerate, store.OpReset, store.OpEdit, store.OpCancel, store.OpDelete)
	moves := []store.Move{{Line: "l1", Scene: scene, Event: oneOf(t, "started", ""), Tell: evenly(t, 2) == 0},
		{Line: oneOf(t, "l1", "l2"), Scene: scene, Event: "finished", Tell: true}}
	heard, loan, pictures := oneOf(t, "l1", "l2", ""), oneOf(t, 0, time.Minute), evenly(t, 3)
	stages := oneOf(t, []string{"image", "audio"}, []string{"image"}, nil)
	gone := store.StageView{Stage: u.stage, Fence: oneOf(t, int64(5), 5, 4)}
	lock := store.Lock{Key: keys.CleanupLock(), Token: h, Fence: int64(3 + evenly(t, 2))}
	open, ready := store.ScopeOf(book, map[string]string{"id": "x", "rev": "4", "last": "3"}), evenly(t, 2)
	order := store.Order{Chapter: oneOf(t, "", scene.Chapter), Op: op, Force: h == ""}
	return []func(*store.Store) error{
		func(s *store.Store) error { _, err := s.Intent(ctx, op, asked, h == ""); return err },
		func(s *store.Store) error { _, err := s.Retire(ctx, scene, stages); return err },
		func(s *store.Store) error { _, err := s.Restore(ctx, u.stage); return err },
		func(s *store.Store) error { _, err := s.Dirty(ctx, gone); return err },
		func(s *store.Store) error { _, err := s.SlotHolders(ctx, asset.Stages()); return err },
		func(s *store.Store) error { _, err := s.ReleaseSlots(ctx, asset.Image, u.dispatches); return err },
		func(s *store.Store) error { _, err := s.Hold(ctx, lock, time.Minute); return err },
		func(s *store.Store) error { _, err := s.Unlock(ctx, lock); return err },
		func(s *store.Store) error { _, err := s.ClearDeferralsForScene(ctx, scene); return err },
		func(s *store.Store) error { _, err := s.ClearDeferralsForBook(ctx, book); return err },
		func(s *store.Store) error { _, err := s.Drain(ctx, moves); return err },
		func(s *store.Store) error { _, err := s.Purges(ctx, 2); return err },
		func(s *store.Store) error { return s.Purged(ctx, u.dispatches[0]) },
		func(s *store.Store) error {
			return s.Tell(ctx, store.Line{Kind: store.LineRefused, Outcome: "event", Stage: u.stage})
		},
		func(s *store.Store) error { _, err := s.Due(ctx, 1, time.Minute); return err },
		func(s *store.Store) error { _, err := s.Delivered(ctx, scene, heard, loan); return err },
		func(s *store.Store) error { _, err := s.Events(ctx, scene, 2); return err },
		func(s *store.Store) error { return s.SetProgress(ctx, scene, pictures) },
		func(s *store.Store) error { _, err := s.Gauges(ctx, asset.Stages()); return err },
		func(s *store.Store) error { return s.Order(ctx, book, order, "z", 2) },
		func(s *store.Store) error {
			_, _, err := s.Slide(ctx, open, []asset.SceneID{scene}, func(asset.SceneID) store.Place { return store.Place{Number: 3, Phase: store.Entered} })
			return err
		},
		func(s *store.Store) error {
			_, err := s.Conclude(ctx, open, store.Finale{Book: book, Scope: "x", Ready: ready})
			return err
		},
		func(s *store.Store) error {
			_, _, err := s.Start(ctx, store.StartArgs{Scope: open, Stage: asked, Op: store.OpRegenerate, Number: 3})
			return err
		},
		func(s *store.Store) error { _, err := s.ForgetScope(ctx, book); return err },
		func(s *store.Store) error { _, _, err := s.OpenScopes(ctx); return err },
		func(s *store.Store) error { _, err := s.ReadScope(ctx, book); return err },
		func(s *store.Store) error {
			turn, _ := s.TakeTurn(ctx, lock.Key, h, time.Minute)
			_, err := s.SlotsUsed(ctx, asset.Stages(), turn.Now)
			return err
		},
		func(s *store.Store) error {
			_, err := s.ReadScenes(ctx, []asset.SceneID{scene}, asset.Stages())
			return err
		},
		func(s *store.Store) error { _, err := s.Jobs(ctx, u.dispatches[0]); return err },
		func(s *store.Store) error { _, err := s.ScenesOf(ctx, book); return err },
		func(s *store.Store) error { _, err := s.Outbox(ctx, 2); return err },
	}
}

// do is a step that calls the store.
func do(fault string, call func(*store.Store) error) step {
	return step{fault: fault, call: func(p *play) { _ = call(store.New(p.client)) }}
}

// TestTroubleOfADispatch: on a server short of memory begin is refused whole and finish
// runs whole (schema 3); a replica refuses both whole; forgotten scripts are sent again.
func TestTroubleOfADispatch(t *testing.T) {
	needServer(t)
	u := universes[0]
	begin := func(s *store.Store) error {
		_, err := s.Begin(ctx, store.BeginArgs{Stage: u.stage, Dispatch: newDispatch, Holder: "h1", Generation: 1,
			Lease: time.Minute, Breaker: guard.Published(), Permit: time.Minute, Slots: 1, Jobs: u.jobs})
		return err
	}
	finish := func(s *store.Store) error {
		_, err := s.Finish(ctx, store.FinishArgs{Stage: u.stage, Dispatch: newDispatch, Caller: "h1", Outcome: "nothing", State: asset.Pending,
			Reason: "no_worker_available", Bucket: "capacity", Window: time.Minute, Idle: store.Increase, Budget: store.Charge, BudgetLimit: 10,
			Refill: time.Minute, Breaker: guard.Published(), Jobs: u.jobs})
		return err
	}
	request := do("", func(s *store.Store) error { _, err := s.Intent(ctx, store.OpRequest, u.stage, false); return err })
	for fault, want := range map[string]struct{ begin, finish string }{
		"oom": {"error OOM", "[ok "}, "readonly": {"error READONLY", "error READONLY"}, "noscript": {"error NOSCRIPT", "error NOSCRIPT"},
	} {
		t.Run(fault, func(t *testing.T) {
			p := check(t, []step{request, do(fault, begin), do("", begin), do(fault, finish), dump(u.keys())})
			answers := map[string]string{}
			for _, trip := range p.trips {
				name := strings.Fields(trip.requests[0])
				if _, known := answers[name[1]]; name[0] == "evalsha" && (!known || name[1] == "finish") {
					answers[name[1]] = trip.replies[0]
				}
			}
			require.Equal(t, want.begin, answers["begin"])
			require.Equal(t, want.finish, answers["finish"][:len(want.finish)], answers["finish"])
		})
	}
}
