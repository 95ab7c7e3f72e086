package content_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/pointerstest"
	"github.com/animastor/orchestra/sim"
)

func newBooks(w *sim.World) *content.Books {
	books := content.New(w)
	for _, id := range []string{"b2", "b1"} {
		books.Add(content.BookSpec{ID: id, Chapters: []string{"c1", "a:b"}, Scenes: []string{"s2", "s1"}, Units: 1, Layers: []string{"image"}})
	}
	return books
}

// in runs fn in a task of a world, to its end.
func in(t *testing.T, w *sim.World, fn func(context.Context)) {
	t.Helper()
	p, ended := w.Process("p"), false
	p.Go(p.Context(), "main", func(ctx context.Context) { fn(ctx); ended = true })
	w.RunFor(time.Hour)
	require.Empty(t, w.Failures())
	require.True(t, ended)
}

func TestReadingOrder(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	books := newBooks(w)
	in(t, w, func(ctx context.Context) {
		all, err := books.Scenes(ctx, "b1", "")
		require.NoError(t, err)
		require.Equal(t, []ports.SceneID{
			{Book: "b1", Chapter: "c1", Scene: "s2"}, {Book: "b1", Chapter: "c1", Scene: "s1"},
			{Book: "b1", Chapter: "a:b", Scene: "s2"}, {Book: "b1", Chapter: "a:b", Scene: "s1"},
		}, all)
		chapter, err := books.Scenes(ctx, "b1", "a:b")
		require.NoError(t, err)
		require.Equal(t, all[2:], chapter)
		none, err := books.Scenes(ctx, "b3", "")
		require.NoError(t, err)
		require.Empty(t, none)
	})
	require.Len(t, books.All(), 8)
}

func TestEditsAndCopies(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	books, id := newBooks(w), ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}
	in(t, w, func(ctx context.Context) {
		before, err := books.Scene(ctx, id)
		require.NoError(t, err)
		before.Layers["image"], before.Units[0].ID = false, "x"

		require.True(t, books.Edit(id, func(s *ports.Scene) { s.Units = append(s.Units, ports.Unit{ID: "u2"}) }))
		after, err := books.Scene(ctx, id)
		require.NoError(t, err)
		require.Equal(t, ports.Scene{SceneID: id, Version: 2, Layers: map[string]bool{"image": true},
			Units: []ports.Unit{{ID: "u1"}, {ID: "u2"}}}, after, "an edit shows, a reader's copy does not")

		require.True(t, books.Delete(id))
		require.False(t, books.Delete(id))
		require.False(t, books.Edit(id, nil))
		_, err = books.Scene(ctx, id)
		require.ErrorIs(t, err, ports.ErrNoScene)
		left, err := books.Scenes(ctx, "b1", "c1")
		require.NoError(t, err)
		require.Equal(t, []ports.SceneID{{Book: "b1", Chapter: "c1", Scene: "s2"}}, left)
	})
}

// TestNothingIsShared: neither an edit nor a reader changes what others have read.
func TestNothingIsShared(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	books, id := newBooks(w), ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}
	written := func() ports.Scene {
		return ports.Scene{SceneID: id, Version: 1, Layers: map[string]bool{"video": true}, Units: []ports.Unit{{ID: "u1"}},
			Segments: []ports.Unit{{ID: "1"}}, Groups: []ports.VideoGroup{{ID: "g1", Units: []string{"u1"}}}}
	}
	books.Set(written())
	read, _ := books.Get(id)
	change := func(s *ports.Scene) {
		s.Layers["video"], s.Units[0].ID, s.Segments[0].ID, s.Groups[0].ID, s.Groups[0].Units[0] = false, "x", "x", "x", "x"
	}
	require.True(t, books.Edit(id, change))
	require.Equal(t, written(), read, "what was read stands as it was read")

	books.Set(written())
	change(&read)
	now, _ := books.Get(id)
	require.Equal(t, written(), now, "a reader changes nothing")
}

func TestEffects(t *testing.T) {
	id := ports.SceneID{Book: "b1", Chapter: "a:b", Scene: "s1"}
	for effect, want := range map[string]error{
		"missing": ports.ErrNoScene, "unreadable": content.ErrUnreadable, "refuse": sim.ErrRefused,
	} {
		t.Run(effect, func(t *testing.T) {
			w := sim.New(sim.Options{Seed: 1})
			defer w.Close()
			books := newBooks(w)
			w.Inject(sim.Rule{ID: effect, Effect: effect, Match: func(n sim.CallName) bool {
				return n.String() == `p/main content.scene b1/"a:b"/s1 #1` || n.String() == `p/main content.scenes b1/"a:b" #1`
			}})
			in(t, w, func(ctx context.Context) {
				_, err := books.Scene(ctx, id)
				require.ErrorIs(t, err, want)
				if effect != "missing" {
					require.NotErrorIs(t, err, ports.ErrNoScene, "a failed read proves nothing")
				}
				list, err := books.Scenes(ctx, "b1", "a:b")
				if effect == "missing" {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, want)
				}
				require.Empty(t, list)
				_, err = books.Scene(ctx, id)
				require.NoError(t, err, "only the first call was hit")
			})
			require.Len(t, w.Fired(), 2)
		})
	}
}

// TestTimesCases: the rules of times, which PostgreSQL keeps, too.
func TestTimesCases(t *testing.T) {
	for _, c := range pointerstest.TimesCases() {
		t.Run(c.Name, func(t *testing.T) {
			w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"content": {Min: 1, Max: time.Millisecond}}})
			defer w.Close()
			p, ended := w.Process("p"), false
			p.Go(p.Context(), "case", func(ctx context.Context) {
				require.NoError(t, c.Run(ctx, fakes.Runtime{Process: p}, times(content.New(w))))
				ended = true
			})
			w.RunFor(time.Hour)
			require.Empty(t, w.Failures())
			require.True(t, ended)
		})
	}
}

func times(books *content.Books) pointerstest.Times {
	return pointerstest.Times{
		Timings: books,
		Edit: func(id ports.SceneID, version int64) {
			if s, ok := books.Get(id); !ok || s.Version < version {
				books.Set(ports.Scene{SceneID: id, Version: version})
			}
		},
		Read: func(_ context.Context, id ports.SceneID) ([]ports.UnitTime, error) { return books.Times(id), nil },
	}
}

// Times of a version that an edit has overtaken are dropped.
func TestSetTimes(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	books := newBooks(w)
	scene := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}
	times := []ports.UnitTime{{Unit: "u1", End: time.Second}}
	in(t, w, func(ctx context.Context) {
		require.NoError(t, books.SetTimes(ctx, scene, 1, times))
		require.Equal(t, times, books.Times(scene))
		books.Edit(scene, nil)
		require.NoError(t, books.SetTimes(ctx, scene, 1, nil))
		require.Equal(t, times, books.Times(scene))
		require.NoError(t, books.SetTimes(ctx, scene, 2, nil))
		require.Empty(t, books.Times(scene))
	})
}
