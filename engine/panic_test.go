package engine_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// panics is a hub whose client panics at each post of book a.
type panics struct{ ports.Hub }

func (h panics) Post(ctx context.Context, j ports.Job) error {
	if j.BookID == "a" {
		panic("in the middle of a post")
	}
	return h.Hub.Post(ctx, j)
}

// collector keeps what it is told.
type collector []ports.Event

func (c *collector) Observe(e ports.Event) { *c = append(*c, e) }

// A dispatch whose executor panics ends, and its slot, here the only one, goes to the
// next stage within a tick (DS3; the scenario language has no panic).
func TestThePanicOfOneDispatchFreesItsSlot(t *testing.T) {
	require.Equal(t, []string{"a begun", "a ended: dispatch_error", "b begun"}, tickOfTwo(t, false))
}

// A probe that panics gives its permit back, here the only one, and the next stage is let
// through within a tick (issue 3, scenario 7).
func TestThePanicOfAProbeReturnsItsPermit(t *testing.T) {
	require.Equal(t, []string{"a begun as a probe", "a ended: dispatch_error", "b begun as a probe"}, tickOfTwo(t, true))
}

// tickOfTwo tells what becomes of the books a, whose dispatch panics, and b in one tick, with
// one slot and one permit.
func tickOfTwo(t *testing.T, halfOpen bool) (told []string) {
	profile := asset.ProfileOf(asset.Image)
	profile.Slots, profile.Breaker.Permits = 1, 1
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	books, gpus := content.New(w), hub.New(w, w.Process("hub"), hub.Options{})
	for _, id := range []string{"a", "b"} {
		books.Add(content.BookSpec{ID: id, Chapters: []string{"c1"}, Scenes: []string{"s1"}, Units: 1, Layers: []string{asset.Image}})
	}
	tree := artifacts.New(w, nil)
	workers.Start(w, tree, workers.Spec{Type: asset.Image, N: 1, Hub: gpus.Transport})

	p := w.Process("e1")
	rt := fakes.Runtime{Process: p}
	db := redis.New(w, redis.Options{})
	if halfOpen {
		db.DB().HSet(keys.Breaker(asset.Image), "opened_at", strconv.FormatInt(w.Now().Add(-profile.Breaker.CoolDown).UnixMilli(), 10))
	}
	var seen collector
	e := engine.New(engine.Config{Profiles: map[string]asset.Profile{asset.Image: profile}}, engine.Deps{
		Runtime: rt, Redis: db.Client(p), Content: books, Artifacts: tree, Media: media.New(w, tree), Observer: &seen,
		Hub: panics{httphub.New(rt, httphub.Options{BaseURL: "http://hub", Client: &http.Client{Transport: gpus.Transport(p)}})},
	})
	p.Go(p.Context(), "ask", func(ctx context.Context) {
		_ = rt.Sleep(ctx, time.Second) // until the worker is known
		for _, id := range []string{"a", "b"} {
			_, err := e.Request(ctx, engine.Target{Book: id})
			require.NoError(t, err)
		}
		_, err := e.Tick(ctx)
		require.NoError(t, err)
	})
	w.RunFor(10 * time.Second)

	for _, event := range seen {
		switch event := event.(type) {
		case ports.Attempt:
			told = append(told, event.Stage.Book+" begun"+map[bool]string{true: " as a probe"}[event.Probe])
		case ports.Finish:
			told = append(told, event.Stage.Book+" ended: "+event.Reason)
		}
	}
	return told
}
