package universe

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// Call is a call of the store.
type Call func(ctx context.Context, s *store.Store) error

// Call draws a call of the store, as the engine makes them.
func (u Universe) Call(t *rapid.T) Call {
	calls := u.dispatchCalls // every other one: most states have a word to say to those
	switch Evenly(t, 6) {
	case 3, 4:
		calls = u.sceneCalls
	case 5:
		calls = u.scopeCalls
	}
	return OneOf(t, calls(t)...)
}

// fails and fails2 are whether a call did, whatever it said.
func fails[A any](_ A, err error) error           { return err }
func fails2[A, B any](_ A, _ B, err error) error  { return err }
func (u Universe) asked(t *rapid.T) ports.StageID { return OneOf(t, u.Stage, u.Stage, u.video()) }
func generation(t *rapid.T) int64                 { return OneOf[int64](t, 3, 3, 3, 3, 3, 3, 3, 3, 2, 4) }
func lease(t *rapid.T) time.Duration {
	return OneOf(t, time.Minute, time.Millisecond, 3*time.Millisecond, 1380*time.Second)
}

// dispatchCalls are the calls that concern a dispatch.
func (u Universe) dispatchCalls(t *rapid.T) []Call {
	d, h := OneOf(t, often(u.Dispatches[0], u.Dispatches[1])...), OneOf(t, often(u.Holders[0], u.Holders[1])...)
	job, jobs, lease, generation := OneOf(t, u.Jobs...), OneOf(t, u.Jobs, u.Jobs[:1], nil), lease(t), generation(t)
	breaker := guard.Breaker{Trip: 1 + Evenly(t, 3), Window: time.Minute, CoolDown: OneOf(t, 3*time.Millisecond, time.Minute), Permits: 1 + Evenly(t, 2)}
	begin := store.BeginArgs{Stage: u.asked(t), Dispatch: OneOf(t, NewDispatch, NewDispatch, u.Dispatches[0]), Holder: h, Generation: generation,
		Version: 7, Mark: 9, Lease: lease, Slots: OneOf(t, 4, 1, 0), Breaker: breaker, Permit: lease, Jobs: jobs}
	admit := store.AdmitArgs{Stage: u.Stage, Dispatch: d, Holder: h, Generation: generation, Fence: 5, Job: job, Payload: "p", Lease: lease}
	renew := store.RenewArgs{Stage: u.Stage, Dispatch: d, Holder: h, Lease: lease, Jobs: jobs}
	state := OneOf(t, store.JobSent, store.JobUnknown, store.JobOutstanding)
	accept := store.AcceptArgs{Stage: u.Stage, Dispatch: d, Fence: 5, Generation: generation, Job: job,
		State: OneOf(t, store.JobDone, store.JobFailed), Result: OneOf(t, Hostile...)}
	finish := store.FinishArgs{Stage: u.Stage, Dispatch: d, Caller: h, Outcome: "nothing",
		State: OneOf(t, asset.Pending, asset.Ready, asset.Dirty, asset.Failed), Reason: OneOf(t, "no_worker_available", ""),
		Bucket: "capacity", Window: OneOf(t, 0, time.Minute), Idle: OneOf(t, store.Increase, store.Increase, store.Reset, store.Keep),
		Budget: OneOf(t, store.Charge, store.Reset, store.Keep), BudgetLimit: 1 + Evenly(t, 10), Refill: OneOf(t, time.Millisecond, 6*time.Minute),
		Breaker: breaker, Evidence: OneOf(t, guard.Failure, guard.Success, guard.None), Jobs: jobs}

	begins := func(ctx context.Context, s *store.Store) error { return fails(s.Begin(ctx, begin)) }
	admits := func(ctx context.Context, s *store.Store) error { return fails2(s.Admit(ctx, admit)) }
	accepts := func(ctx context.Context, s *store.Store) error { return fails(s.Accept(ctx, accept)) }
	finishes := func(ctx context.Context, s *store.Store) error { return fails(s.Finish(ctx, finish)) }
	return []Call{
		begins, begins, begins, admits, admits, admits, accepts, accepts, finishes, finishes, // they have the most to say
		func(ctx context.Context, s *store.Store) error { return fails(s.Renew(ctx, renew)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Adopt(ctx, u.Stage, d, h)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Claim(ctx, u.Stage, d, h)) },
		func(ctx context.Context, s *store.Store) error {
			return fails2(s.Mark(ctx, u.Stage, d, job, state, lease))
		},
		func(ctx context.Context, s *store.Store) error { return fails(s.Forget(ctx, d, job)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Release(ctx, u.Stage, d, job)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Jobs(ctx, u.Dispatches[0])) },
	}
}

// sceneCalls are those that concern a scene, or what processes share.
func (u Universe) sceneCalls(t *rapid.T) []Call {
	scene, book, h := u.Stage.SceneID, u.Stage.Book, OneOf(t, u.Holders...)
	intent, asked, force := OneOf(t, operations...), u.asked(t), Evenly(t, 2) == 0
	moves := []store.Move{{Line: "l1", Scene: scene, Event: OneOf(t, "started", ""), Tell: Evenly(t, 2) == 0},
		{Line: OneOf(t, "l1", "l2"), Scene: scene, Event: "finished", Tell: true}}
	heard, loan, lease, few := OneOf(t, "l1", "l2", ""), OneOf(t, 0, time.Minute), lease(t), Evenly(t, 3)
	stages := OneOf(t, []string{"image", "audio"}, []string{"image"}, nil)
	gone := store.StageView{Stage: u.Stage, Fence: OneOf(t, int64(5), 5, 4)}
	lock := store.Lock{Key: keys.CleanupLock(), Token: h, Fence: OneOf[int64](t, 3, 3, 4)}
	refused := store.Line{Kind: store.LineRefused, Outcome: "event", Stage: u.Stage}
	return []Call{
		func(ctx context.Context, s *store.Store) error { return fails(s.Intent(ctx, intent, asked, force)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Retire(ctx, scene, stages)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Restore(ctx, u.Stage)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Dirty(ctx, gone)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.SlotHolders(ctx, asset.Stages())) },
		func(ctx context.Context, s *store.Store) error {
			return fails(s.ReleaseSlots(ctx, asset.Image, u.Dispatches))
		},
		func(ctx context.Context, s *store.Store) error { return fails(s.Hold(ctx, lock, lease)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Unlock(ctx, lock)) },
		func(ctx context.Context, s *store.Store) error {
			turn, err := s.TakeTurn(ctx, lock.Key, h, lease)
			_, _ = s.SlotsUsed(ctx, asset.Stages(), turn.Now)
			return err
		},
		func(ctx context.Context, s *store.Store) error { return fails(s.ClearDeferralsForScene(ctx, scene)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.ClearDeferralsForBook(ctx, book)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Outbox(ctx, 2)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Drain(ctx, moves)) },
		func(ctx context.Context, s *store.Store) error { return s.Tell(ctx, refused) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Due(ctx, 1+few, lease)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Delivered(ctx, scene, heard, loan)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Events(ctx, scene, 2)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Purges(ctx, 2)) },
		func(ctx context.Context, s *store.Store) error { return s.Purged(ctx, u.Dispatches[0]) },
		func(ctx context.Context, s *store.Store) error { return s.SetProgress(ctx, scene, few) },
		func(ctx context.Context, s *store.Store) error { return fails(s.Suspicion(ctx)) },
		func(ctx context.Context, s *store.Store) error {
			return s.SetSuspicion(ctx, store.Suspicion{Agreed: few, What: "w"})
		},
		func(ctx context.Context, s *store.Store) error { return fails(s.Gauges(ctx, asset.Stages())) },
		func(ctx context.Context, s *store.Store) error {
			return fails(s.ReadScenes(ctx, []ports.SceneID{scene}, asset.Stages()))
		},
		func(ctx context.Context, s *store.Store) error { return fails(s.ScenesOf(ctx, book)) },
	}
}

// operations are those that intents and orders may be about.
var operations = []store.IntentOp{store.OpRequest, store.OpRegenerate, store.OpReset, store.OpEdit, store.OpCancel, store.OpDelete}

// scopeCalls are those that concern what is open of a book.
func (u Universe) scopeCalls(t *rapid.T) []Call {
	scene, book := u.Stage.SceneID, u.Stage.Book
	open := store.ScopeOf(book, map[string]string{"id": OneOf(t, often("x", "y")...), "rev": OneOf(t, often("4", "5")...), "last": OneOf(t, often("3", "4")...),
		"scene:" + keys.BookSceneMember(scene): OneOf(t, often("3|claimed|", "1|past|image")...)})
	order := store.Order{Chapter: OneOf(t, "", scene.Chapter), Stage: OneOf(t, "", asset.Image), Op: OneOf(t, operations...), Force: Evenly(t, 2) == 0}
	place := store.Place{Number: generation(t), Phase: OneOf(t, store.Claimed, store.Entered, store.Past)}
	start := store.StartArgs{Scope: open, Stage: u.asked(t), Op: OneOf(t, operations[:4]...), Number: int64(2 + Evenly(t, 2)), Stands: Evenly(t, 2) == 0}
	end := store.Finale{Book: book, Scope: "x", Ready: Evenly(t, 2)}
	return []Call{
		func(ctx context.Context, s *store.Store) error { return s.Order(ctx, book, order, "z", 2) },
		func(ctx context.Context, s *store.Store) error {
			return fails2(s.Slide(ctx, open, []ports.SceneID{scene}, func(ports.SceneID) store.Place { return place }))
		},
		func(ctx context.Context, s *store.Store) error { return fails(s.Conclude(ctx, open, end)) },
		func(ctx context.Context, s *store.Store) error { return fails2(s.Start(ctx, start)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.ForgetScope(ctx, book)) },
		func(ctx context.Context, s *store.Store) error { return fails2(s.OpenScopes(ctx)) },
		func(ctx context.Context, s *store.Store) error { return fails(s.ReadScope(ctx, book)) },
	}
}
