package deliver_test

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/engine/deliver"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// host prints what it is told, and does not answer the first time.
type host struct{ calls int }

func (h *host) Consume(_ context.Context, e ports.ResultEvent) error {
	h.calls++
	if h.calls == 1 {
		return fmt.Errorf("the host is away")
	}
	fmt.Println(e.Subject(), e.Kind)
	return nil
}

// silent observes nothing.
type silent struct{}

func (silent) Observe(ports.Event) {}

// Two events of a scene stay in order, although the first is not taken at once.
func ExampleDeliverer_Deliver() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	p := w.Process("e1")
	rt, s := fakes.Runtime{Process: p}, store.New(redis.New(w, redis.Options{}).Client(p))
	d := deliver.New(rt, s, &host{}, silent{})
	image := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image")

	p.Go(p.Context(), "main", func(ctx context.Context) {
		end := store.Line{Kind: store.LineFinished, Dispatch: "dispatch-1", Stage: image, State: "pending", FinalReason: "send_failed", At: p.Now()}
		ready := store.Line{Kind: store.LineFinished, Dispatch: "dispatch-2", Stage: image, State: "ready", At: p.Now(), Also: store.AlsoSceneReady}
		for _, line := range []store.Line{end, ready} {
			_ = s.Tell(ctx, line)
			_, _ = s.Drain(ctx, []store.Move{{Line: line.String(), Scene: image.SceneID, Tell: true}})
		}
		for range 10 {
			_, _ = d.Deliver(ctx)
			_ = rt.Sleep(ctx, 5*time.Second)
		}
	})
	w.RunFor(time.Minute)
	// Output:
	// b1/c1/s1:image pending
	// b1/c1/s1:image ready
	// b1/c1/s1 scene_ready
}
