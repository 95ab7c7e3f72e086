package deliver_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/deliver"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// consumer is a host that calls a function.
type consumer func(ports.ResultEvent)

func (c consumer) Consume(_ context.Context, e ports.ResultEvent) error {
	c(e)
	return nil
}

// A host that heeds no deadline keeps one replica longer than its loan lasts, and another one has
// the scene meanwhile. The first tells nothing more of what it had read: it would be older than
// what the other has told.
func TestLoanIsOver(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	server := redis.New(w, redis.Options{})
	var told []string
	replica := func(name string, slow time.Duration) *sim.Process {
		p := w.Process(name)
		host := consumer(func(e ports.ResultEvent) {
			told = append(told, name+" "+e.ID)
			_ = p.Sleep(context.Background(), slow)
		})
		d := deliver.New(fakes.Runtime{Process: p}, store.New(server.Client(p)), host, silent{})
		p.Go(p.Context(), "main", func(ctx context.Context) {
			_ = p.Sleep(ctx, 5*time.Second)
			_, _ = d.Deliver(ctx)
		})
		return p
	}
	e1 := replica("e1", 40*time.Second)
	s, image := store.New(server.Client(e1)), ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image")
	e1.Go(e1.Context(), "fill", func(ctx context.Context) {
		for n := range 3 {
			line := store.Line{Kind: store.LineFinished, Dispatch: fmt.Sprint("d", n), Stage: image, State: "ready", At: e1.Now()}
			_ = s.Tell(ctx, line)
			_, _ = s.Drain(ctx, []store.Move{{Line: line.String(), Scene: image.SceneID, Tell: true}})
		}
	})
	w.RunFor(31 * time.Second)
	replica("e2", 4*time.Second)
	w.RunFor(2 * time.Minute)
	require.Equal(t, []string{"e1 d0", "e2 d0", "e2 d1", "e2 d2"}, told)
}
