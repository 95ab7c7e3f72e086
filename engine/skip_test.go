package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Of two passes at once, of one replica or of two, the second looks at nothing and says so:
// an operator's is never taken for one that found nothing.
func TestTheSecondOfTwoPassesIsSkipped(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"redis": {Min: time.Millisecond, Max: time.Millisecond}}})
	defer w.Close()
	server, tree := redis.New(w, redis.Options{}), artifacts.New(w, nil)
	var skipped, done int
	for _, name := range []string{"e1", "e2"} {
		p := w.Process(name)
		e := engine.New(engine.Config{}, engine.Deps{
			Runtime: fakes.Runtime{Process: p}, Redis: server.Client(p), Hub: struct{ ports.Hub }{}, // asked by nobody
			Content: content.New(w), Artifacts: tree, Media: media.New(w, tree), Observer: observer{},
		})
		for range 2 {
			p.Go(p.Context(), "pass", func(ctx context.Context) {
				switch _, err := e.Reconcile(ctx); err {
				case nil:
					done++
				case engine.ErrPassSkipped:
					skipped++
				default:
					t.Error(err)
				}
			})
		}
	}
	w.RunFor(time.Minute)
	require.Empty(t, w.Failures())
	require.Equal(t, 1, done)
	require.Equal(t, 3, skipped)
}
