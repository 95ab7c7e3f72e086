package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/fakes/pointers"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Every way in refuses an id that is empty, over-long, no UTF-8 or holds a NUL, says
// which and why, and writes nothing (design 5.2).
func TestTheDoor(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	server, p := redis.New(w, redis.Options{}), w.Process("e1")
	e := engine.New(engine.Config{}, engine.Deps{
		Runtime: fakes.Runtime{Process: p}, Redis: server.Client(p), Hub: struct{ ports.Hub }{}, // asked by nobody
		Content: content.New(w), Artifacts: artifacts.New(w, nil), Media: media.New(w, artifacts.New(w, nil)), Observer: observer{},
	})

	bad := map[string]string{
		"":                        "empty",
		strings.Repeat("x", 1025): "1025 bytes long",
		"a\x00b":                  "holds a NUL",
		"\xff":                    "not valid UTF-8",
		"\xed\xa0\x80":            "not valid UTF-8", // half of a surrogate pair
	}
	intents := []func(context.Context, engine.Target) (engine.Report, error){e.Request, e.Regenerate, e.Reset, e.Cancel, e.Delete,
		func(ctx context.Context, t engine.Target) (engine.Report, error) { return e.Edit(ctx, t, "u1") }}
	scene := func(kind, id string) ports.SceneID { // with one id of its own
		s := map[string]string{"book": "b", "chapter": "c", "scene": "s"}
		s[kind] = id
		return ports.SceneID{Book: s["book"], Chapter: s["chapter"], Scene: s["scene"]}
	}
	resultOf := func(s ports.SceneID, unit, dispatch string) ports.JobResult {
		return ports.JobResult{JobID: keys.Job(s.Of("image"), unit, 1), BookID: s.Book, ChapterID: s.Chapter, SceneID: s.Scene, Stage: "image", UnitID: unit,
			Generation: 1, DispatchID: dispatch, OK: true}
	}
	p.Go(p.Context(), "ask", func(ctx context.Context) {
		for id, problem := range bad {
			for _, kind := range []string{"book", "chapter", "scene"} {
				refused := func(err error) {
					var idError *ports.IDError
					require.ErrorAs(t, err, &idError, "%s %q", kind, id)
					require.Equal(t, ports.IDError{Kind: kind, ID: id, Problem: problem}, *idError)
				}
				s := scene(kind, id)
				if id != "" || kind == "book" { // an empty chapter or scene of a target stands for all
					for _, intend := range intents {
						_, err := intend(ctx, engine.Target{Book: s.Book, Chapter: s.Chapter, Scene: s.Scene})
						refused(err)
					}
				}
				_, err := e.ClearDeferralsForScene(ctx, s)
				refused(err)
				refused(e.Complete(ctx, resultOf(s, "u1", "d1")))
			}
			for kind, r := range map[string]ports.JobResult{"unit": resultOf(scene("", ""), id, "d1"), "dispatch": resultOf(scene("", ""), "u1", id)} {
				require.ErrorIs(t, e.Complete(ctx, r), ports.ErrInvalid)
				require.ErrorContains(t, e.Complete(ctx, r), kind+" id ")
			}
			_, err := e.ClearDeferralsForBook(ctx, id)
			require.ErrorContains(t, err, problem, "%q", id)
		}
		for range 20 { // of two bad ids the first is named, every time
			_, err := e.Request(ctx, engine.Target{Book: "b", Chapter: "\xff", Scene: "\xff"})
			require.ErrorContains(t, err, "chapter id")
		}
		_, err := e.ClearDeferralsForScene(ctx, ports.SceneID{Book: strings.Repeat("é", 512), Chapter: "*", Scene: "\n"})
		require.NoError(t, err, "the longest id, a pattern and a line end are ids")
	})
	w.RunFor(time.Minute)
	require.Empty(t, w.Failures())
	require.Empty(t, server.Peek().Keys(), "written at the door")
}

// A result whose job id belongs to another job is refused, and the error says by which field:
// who sent it has mixed two jobs up.
func TestResultOfAnother(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	server, p := redis.New(w, redis.Options{}), w.Process("e1")
	e := engine.New(engine.Config{}, engine.Deps{
		Runtime: fakes.Runtime{Process: p}, Redis: server.Client(p), Hub: struct{ ports.Hub }{},
		Content: content.New(w), Artifacts: artifacts.New(w, nil), Media: media.New(w, artifacts.New(w, nil)), Observer: observer{},
	})
	good := ports.JobResult{JobID: keys.Job(ports.SceneID{Book: "b", Chapter: "c", Scene: "s"}.Of("image"), "u1", 1), DispatchID: "d1",
		BookID: "b", ChapterID: "c", SceneID: "s", Stage: "image", UnitID: "u1", Generation: 1, Fence: 1, OK: true}
	p.Go(p.Context(), "ask", func(ctx context.Context) {
		for field, change := range map[string]func(*ports.JobResult){
			"job_id":     func(r *ports.JobResult) { r.JobID = "image:b:c" },
			"book_id":    func(r *ports.JobResult) { r.BookID = "b2" },
			"chapter_id": func(r *ports.JobResult) { r.ChapterID = "c2" },
			"scene_id":   func(r *ports.JobResult) { r.SceneID = "s2" },
			"stage":      func(r *ports.JobResult) { r.Stage = "video" },
			"unit_id":    func(r *ports.JobResult) { r.UnitID = "u2" },
			"generation": func(r *ports.JobResult) { r.Generation = -1 },
		} {
			bad := good
			change(&bad)
			err := e.Complete(ctx, bad)
			require.ErrorIs(t, err, ports.ErrInvalid, field)
			require.ErrorContains(t, err, "its "+field)
		}
		require.Empty(t, server.Peek().Keys())
		require.NoError(t, e.Complete(ctx, good), "of no live dispatch, and no mistake")
	})
	w.RunFor(time.Minute)
	require.Empty(t, w.Failures())
}

// An edit of a picture that the content does not have is refused, and marks nothing: the
// mark would stand for ever.
func TestEditOfNoPicture(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	server, p, books, marks := redis.New(w, redis.Options{}), w.Process("e1"), content.New(w), pointers.New(w)
	scene := ports.SceneID{Book: "b", Chapter: "c", Scene: "s"}
	books.Set(ports.Scene{SceneID: scene, Version: 1, Layers: map[string]bool{"image": true}, Units: []ports.Unit{{ID: "u1"}}})
	e := engine.New(engine.Config{Versioned: true}, engine.Deps{
		Runtime: fakes.Runtime{Process: p}, Redis: server.Client(p), Hub: struct{ ports.Hub }{}, Pointers: marks,
		Content: books, Artifacts: artifacts.New(w, nil), Media: media.New(w, artifacts.New(w, nil)), Observer: observer{},
	})
	p.Go(p.Context(), "ask", func(ctx context.Context) {
		for _, units := range [][]string{{"u2"}, {"u1", "u2"}} {
			_, err := e.Edit(ctx, engine.Target{Book: "b", Chapter: "c", Scene: "s"}, units...)
			require.ErrorIs(t, err, ports.ErrInvalid)
			require.ErrorContains(t, err, `no unit "u2"`)
		}
		found, err := ports.AllMarks(ctx, marks, scene)
		require.NoError(t, err)
		require.Empty(t, found)
	})
	w.RunFor(time.Minute)
	require.Empty(t, w.Failures())
}
