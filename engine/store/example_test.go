package store_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// A stage from request to ready: one dispatch with one job.
func Example() {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		panic(err)
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	defer client.Close()
	s, ctx := store.New(client), context.Background()
	stage := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of(asset.Image)

	intent, err := s.Intent(ctx, store.OpRequest, stage, false)
	fmt.Println("intent:", intent.Generation, intent.State, err)

	job := keys.Job(stage, "u1", intent.Generation)
	begun, err := s.Begin(ctx, store.BeginArgs{
		Stage: stage, Dispatch: "d1", Holder: "e1.1", Generation: intent.Generation, Lease: 20 * time.Minute, Breaker: guard.Published(), Permit: 25 * time.Minute, Slots: 4, Jobs: []string{job},
	})
	fmt.Println("begin:", begun.Verdict, begun.Fence, err)

	again, err := s.Begin(ctx, store.BeginArgs{
		Stage: stage, Dispatch: "d2", Holder: "e2.1", Generation: intent.Generation, Lease: 20 * time.Minute, Breaker: guard.Published(), Permit: 25 * time.Minute, Slots: 4,
	})
	fmt.Println("begin by another:", again.Verdict, err)

	result, err := s.Accept(ctx, store.AcceptArgs{
		Stage: stage, Dispatch: "d1", Fence: begun.Fence, Generation: begun.Generation, Job: job, State: store.JobDone,
	})
	fmt.Println("accept:", result.Verdict, err)

	end, err := s.Finish(ctx, store.FinishArgs{
		Stage: stage, Dispatch: "d1", Caller: "e1.1", Outcome: "ready", State: asset.Ready,
		Idle: store.Reset, Budget: store.Reset, BudgetLimit: 10, Refill: 6 * time.Minute, Breaker: guard.Published(),
	})
	fmt.Println("finish:", end.Verdict, end.State, err)

	retired, err := s.Retire(ctx, stage.SceneID, []string{asset.Image})
	fmt.Println("retire:", retired, err)
	// Output:
	// intent: 1 pending <nil>
	// begin: ok 1 <nil>
	// begin by another: duplicate <nil>
	// accept: last <nil>
	// finish: ok ready <nil>
	// retire: true <nil>
}
