package store_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
)

// A stage is asked for, begun once, and deferred by its finish, for want of a worker.
func Example() {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		panic(err)
	}
	defer server.Close()
	server.SetTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DisableIdentity: true})
	defer func() { _ = client.Close() }()

	ctx, s := context.Background(), store.New(client)
	stage := asset.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of(asset.Image)
	intent, _ := s.Intent(ctx, store.OpRequest, stage, false)
	begin := func(dispatch string) {
		got, err := s.Begin(ctx, store.BeginArgs{Stage: stage, Dispatch: dispatch, Holder: "h1", Generation: intent.Generation,
			Lease: 20 * time.Minute, Slots: 4, Jobs: []string{keys.Job(stage, "u1", intent.Generation)}})
		fmt.Println(dispatch, got.Verdict, "fence", got.Fence, got.Reason, err)
	}
	begin("d1")
	begin("d2")
	finished, _ := s.Finish(ctx, store.FinishArgs{Stage: stage, Dispatch: "d1", Caller: "h1", Outcome: "nothing", State: asset.Pending,
		Reason: outcome.NoWorkerAvailable, Bucket: outcome.Capacity, Window: time.Minute,
		Idle: store.Increase, Budget: store.Keep, BudgetLimit: 10, Refill: 6 * time.Minute})
	fmt.Println("d1", finished.Verdict, finished.State)
	begin("d2")
	cleared, _ := s.ClearDeferralsForBook(ctx, "b1")
	fmt.Println("cleared", cleared)
	begin("d2")
	// Output:
	// d1 ok fence 1  <nil>
	// d2 duplicate fence 1  <nil>
	// d1 ok pending
	// d2 deferred_capacity fence 1 no_worker_available <nil>
	// cleared 1
	// d2 ok fence 2  <nil>
}
