package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/consumer"
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

// collector keeps what an observer was told.
type collector []ports.Event

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
	b := newBed(t, "a", "b")
	profile := asset.ProfileOf(asset.Image)
	profile.Slots, profile.Breaker.Permits = 1, 1
	if halfOpen {
		b.db.DB().HSet(keys.Breaker(asset.Image), "opened_at", strconv.FormatInt(b.w.Now().Add(-profile.Breaker.CoolDown).UnixMilli(), 10))
	}
	e, p := b.engine("e1", profile, func(h ports.Hub) ports.Hub { return panics{h} })
	p.Go(p.Context(), "ask", func(ctx context.Context) {
		_ = p.Sleep(ctx, time.Second) // until the worker is known
		for _, id := range []string{"a", "b"} {
			_, err := e.Request(ctx, engine.Target{Book: id})
			require.NoError(t, err)
		}
		_, err := e.Tick(ctx)
		require.NoError(t, err)
	})
	b.w.RunFor(10 * time.Second)

	for _, event := range b.seen {
		switch event := event.(type) {
		case ports.Attempt:
			told = append(told, event.Stage.Book+" begun"+map[bool]string{true: " as a probe"}[event.Probe])
		case ports.Finish:
			told = append(told, event.Stage.Book+" ended: "+event.Reason)
		}
	}
	return told
}

// odd is a hub of whose posts no answer comes, and whose client panics at some of its
// questions about a job, or about a dispatch; from 1.
type odd struct {
	ports.Hub
	lost                         bool
	panicsAtJob, panicsAtListing func(n int) bool
	jobs, listings               int
}

func (h *odd) Post(ctx context.Context, j ports.Job) error {
	if h.lost {
		return ports.ErrAmbiguous
	}
	return h.Hub.Post(ctx, j)
}

func (h *odd) Job(ctx context.Context, id string) (ports.JobStatus, bool, error) {
	if h.jobs++; h.panicsAtJob(h.jobs) {
		panic("an odd answer about a job")
	}
	return h.Hub.Job(ctx, id)
}

func (h *odd) Dispatch(ctx context.Context, id string) ([]ports.JobStatus, error) {
	if h.listings++; h.panicsAtListing(h.listings) {
		panic("an odd answer about a dispatch")
	}
	return h.Hub.Dispatch(ctx, id)
}

func (c collector) ends() (reasons []string) {
	for _, event := range c {
		if f, ok := event.(ports.Finish); ok {
			reasons = append(reasons, cmp.Or(f.Reason, f.Outcome))
		}
	}
	return reasons
}

// The panics of who looks after a dispatch end neither the process nor, while they are few,
// the dispatch.
func TestPanicsOfAWatch(t *testing.T) {
	never := func(int) bool { return false }
	for _, test := range []struct {
		name   string
		panics func(int) bool
		lost   bool
		end    string
	}{
		{"three", func(n int) bool { return n <= 3 }, false, "ready"},
		{"each", func(int) bool { return true }, true, "dispatch_error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBed(t, "a")
			e, p := b.engine("e1", asset.ProfileOf(asset.Image), func(h ports.Hub) ports.Hub {
				lost := &odd{Hub: h, lost: true, panicsAtJob: test.panics, panicsAtListing: never}
				b.w.At(5*time.Second, "mend", func() { lost.lost = test.lost })
				return lost
			})
			b.run(t, e, p)
			b.w.RunUntil(30 * time.Second)
			require.Equal(t, test.panics(4), b.seen.panics() == 4)
			b.w.RunUntil(5 * time.Minute)
			require.NotEmpty(t, b.seen.ends())
			require.Equal(t, test.end, b.seen.ends()[0])
		})
	}
}

// A renewal that panics is not the last.
func TestThePanicOfARenewal(t *testing.T) {
	b := newBed(t, "a")
	renewals := 0
	b.hears = func(event ports.Event) {
		if _, is := event.(ports.Renewal); is {
			if renewals++; renewals == 1 {
				panic("in the middle of a renewal")
			}
		}
	}
	e, p := b.engine("e1", asset.ProfileOf(asset.Image), func(h ports.Hub) ports.Hub { return h })
	b.run(t, e, p)
	b.w.RunFor(2 * time.Minute)
	require.Equal(t, 1, b.seen.panics())
	require.Greater(t, renewals, 2)
}

// A dispatch of which the hub's account panics as it is adopted is looked after all the same.
func TestThePanicOfAnAdoption(t *testing.T) {
	b := newBed(t, "a")
	e, p := b.engine("e1", asset.ProfileOf(asset.Image), func(h ports.Hub) ports.Hub { return h })
	b.run(t, e, p)
	b.w.At(10*time.Second, "die", p.Crash)
	never := func(int) bool { return false }
	e, p = b.engine("e2", asset.ProfileOf(asset.Image), func(h ports.Hub) ports.Hub {
		// The second pass asks first, and then the adoption.
		return &odd{Hub: h, panicsAtJob: never, panicsAtListing: func(n int) bool { return n == 3 }}
	})
	b.w.At(11*time.Second, "another", func() { p.Go(p.Context(), "run", e.Run) })
	b.w.RunFor(5 * time.Minute)
	require.Equal(t, []string{"ready"}, b.seen.ends())
	require.Equal(t, 1, b.seen.panics())
}

// A panic of who drains the outbox, begins to tell the host or looks for what else is to be
// told ends neither the process nor what it does again and again.
func TestPanicsOfALoop(t *testing.T) {
	due := func(next bool) func(args []any) bool {
		return func(args []any) bool {
			return len(args) > 4 && args[3] == keys.Undelivered() && fmt.Sprint(args[2]) == "1" && (fmt.Sprint(args[4]) == "1") == next
		}
	}
	for name, test := range map[string]struct {
		event func(ports.Event) bool
		redis func(args []any) bool
	}{
		"the outbox":      {event: func(e ports.Event) bool { return e.Kind() == ports.Journaled{}.Kind() }},
		"the events":      {redis: due(false)},
		"another scene's": {redis: due(true)},
	} {
		t.Run(name, func(t *testing.T) {
			b, panics := newBed(t, "a"), 0
			odd := func(is bool) {
				if is && panics < 2 {
					panics++
					panic("an odd value")
				}
			}
			b.hears = func(e ports.Event) { odd(test.event != nil && test.event(e)) }
			b.asks = func(args []any) { odd(test.redis != nil && test.redis(args)) }
			host := consumer.New(b.w)
			b.host = host
			e, p := b.engine("e1", asset.ProfileOf(asset.Image), func(h ports.Hub) ports.Hub { return h })
			b.run(t, e, p)
			b.w.RunFor(10 * time.Minute)
			require.Equal(t, 2, b.seen.panics())
			require.Len(t, host.List(), 3, "ready, the scene, the book")
		})
	}
}

func (c collector) panics() (n int) {
	for _, event := range c {
		if trouble, ok := event.(ports.Trouble); ok && strings.HasPrefix(trouble.Err.Error(), "panic: ") {
			n++
		}
	}
	return n
}

// bed is a world with books of one picture, a worker that needs minutes for it, and engines.
type bed struct {
	w     *sim.World
	books *content.Books
	gpus  *hub.Hub
	tree  *artifacts.Store
	db    *redis.Server
	seen  collector
	hears func(ports.Event) // before what is seen
	asks  func(args []any)  // before Redis is asked
	host  ports.Consumer    // nil: there is none
}

var _ goredis.Hook = (*bed)(nil)

// DialHook implements the Hook of go-redis.
func (b *bed) DialHook(next goredis.DialHook) goredis.DialHook { return next }

// ProcessPipelineHook implements the Hook of go-redis.
func (b *bed) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

// ProcessHook implements the Hook of go-redis.
func (b *bed) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		b.asks(cmd.Args())
		return next(ctx, cmd)
	}
}

// Observe implements ports.Observer.
func (b *bed) Observe(e ports.Event) {
	b.hears(e)
	b.seen = append(b.seen, e)
}

func newBed(t *testing.T, books ...string) *bed {
	w := sim.New(sim.Options{Seed: 1})
	t.Cleanup(func() {
		require.Empty(t, w.Failures())
		w.Close()
	})
	b := &bed{w: w, books: content.New(w), gpus: hub.New(w, w.Process("hub"), hub.Options{}), tree: artifacts.New(w, nil), db: redis.New(w, redis.Options{}),
		hears: func(ports.Event) {}, asks: func([]any) {}}
	for _, id := range books {
		b.books.Add(content.BookSpec{ID: id, Chapters: []string{"c1"}, Scenes: []string{"s1"}, Units: 1, Layers: []string{asset.Image}})
	}
	workers.Start(w, b.tree, workers.Spec{Type: asset.Image, N: 1, JobTimeMin: 200 * time.Second, Hub: b.gpus.Transport})
	return b
}

// engine is a replica of which nothing runs yet. over is what it takes for the hub.
func (b *bed) engine(name string, image asset.Profile, over func(ports.Hub) ports.Hub) (*engine.Engine, *sim.Process) {
	p := b.w.Process(name)
	rt, db := fakes.Runtime{Process: p}, b.db.Client(p)
	db.AddHook(b)
	return engine.New(engine.Config{Profiles: map[string]asset.Profile{asset.Image: image}}, engine.Deps{
		Runtime: rt, Redis: db, Content: b.books, Artifacts: b.tree, Media: media.New(b.w, b.tree), Observer: b, Consumer: b.host,
		Hub: over(httphub.New(rt, httphub.Options{BaseURL: "http://hub", Client: &http.Client{Transport: b.gpus.Transport(p)}})),
	}), p
}

// run runs an engine, and asks it for book a.
func (b *bed) run(t *testing.T, e *engine.Engine, p *sim.Process) {
	p.Go(p.Context(), "run", e.Run)
	p.Go(p.Context(), "ask", func(ctx context.Context) {
		_ = p.Sleep(ctx, time.Second) // until the worker is known
		_, err := e.Request(ctx, engine.Target{Book: "a"})
		require.NoError(t, err)
	})
}
