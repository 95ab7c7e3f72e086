package bookdir_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/bookdir"
)

func options(path string) bookdir.Options {
	return bookdir.Options{Path: path, Stages: []string{"audio", "image", "video"}, Chunk: func(n int) string { return fmt.Sprintf("%04d", n) }}
}

func write(t *testing.T, dir, book, text string) {
	require.NoError(t, os.WriteFile(filepath.Join(dir, bookdir.FileName(book)), []byte(text), 0o600))
}

func TestManifest(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	write(t, dir, "a/b", `{"id":"a/b","workspace":"w1","scenes":[
		{"chapter":"c2","scene":"..","version":3,"layers":["audio","video"],"segments":2,"units":["u1","u 2"],"groups":[{"id":"g1","units":["u 2"]}]},
		{"chapter":"c1","scene":"s","version":1}]}`)
	require.FileExists(t, filepath.Join(dir, "a%2Fb.json"))
	first := ports.SceneID{Book: "a/b", Chapter: "c2", Scene: ".."}
	o := options(dir)
	o.Layers = []string{"audio", "image"}
	books := bookdir.New(o)
	list, err := books.Scenes(ctx, "a/b", "")
	require.NoError(t, err)
	require.Equal(t, []ports.SceneID{first, {Book: "a/b", Chapter: "c1", Scene: "s"}}, list, "in reading order")
	list, err = books.Scenes(ctx, "a/b", "c1")
	require.NoError(t, err)
	require.Len(t, list, 1)
	scene, err := books.Scene(ctx, first)
	require.NoError(t, err)
	require.Equal(t, ports.Scene{SceneID: first, Version: 3, Workspace: "w1", Layers: map[string]bool{"audio": true}, // video is off everywhere
		Segments: []ports.Unit{{ID: "0001"}, {ID: "0002"}}, Units: []ports.Unit{{ID: "u1"}, {ID: "u 2"}},
		Groups: []ports.VideoGroup{{ID: "g1", Units: []string{"u 2"}}}}, scene)
	_, err = books.Scene(ctx, ports.SceneID{Book: "a/b", Chapter: "c1", Scene: "s2"})
	require.ErrorIs(t, err, ports.ErrNoScene)
}

// TestUnknownIsNotAbsent: a manifest that cannot be read proves nothing, least of all
// that a scene is gone.
func TestUnknownIsNotAbsent(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	books := bookdir.New(options(dir))
	for text, why := range map[string]string{
		"":                      "no such file",
		`{"id":"b1","scenes":[`: "unexpected EOF",
		`{"id":"b2"}`:           `its id is "b2"`,
		`{"id":"b1","pages":1}`: "unknown field",
		`{"id":"b1"} {}`:        "more after the book",
		`{"id":"b1","scenes":[{"scene":"s","version":1}]}`:                                                                 "lacks chapter",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s"}]}`:                                                               "no version",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1},{"chapter":"c","scene":"s","version":1}]}`:           "b1/c/s stands twice",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"layers":["text"]}]}`:                                 `no layer "text"`,
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"segments":-1}]}`:                                     "fewer than 0",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":["u","u"]}]}`:                                 `unit "u" is empty or stands twice`,
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"segments":1000000000000}]}`:                          "is the most",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"segments":"2"}]}`:                                    "cannot unmarshal",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"segments":[{"unit":"u"}]}]}`:                         `segment 1 reads unit "u", which the scene has not`,
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"segments":[{"version":2}]}]}`:                        "segment 1: a version of 0 to that of the scene",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"segments":[{"words":2}]}]}`:                          "unknown field",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":[{"id":"u","version":2}]}]}`:                  "a version of 0 to that of the scene",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":[{"id":"u","characters":-1}]}]}`:              "0 or more characters",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":[{"id":"u","text":"x"}]}]}`:                   "unknown field",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":[null]}]}`:                                    `unit "" is empty or stands twice`,
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":[7]}]}`:                                       "cannot unmarshal",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":["u"],"groups":[{"id":"g","units":["v"]}]}]}`: `unit "v", which the scene has not`,
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":["u"],"groups":[{"id":"g"},{"id":"g"}]}]}`:    `group "g" is empty or stands twice`,
	} {
		if text != "" {
			write(t, dir, "b1", text)
		}
		_, err := books.Scene(ctx, ports.SceneID{Book: "b1", Chapter: "c", Scene: "s"})
		require.ErrorContains(t, err, why, text)
		require.NotErrorIs(t, err, ports.ErrNoScene, text)
		_, err = books.Scenes(ctx, "b1", "")
		require.Error(t, err, text)
		_ = os.Remove(filepath.Join(dir, "b1.json"))
	}
}

// TestManifestOf: what Manifest writes reads as it was, in the short form where that says it
// all.
func TestManifestOf(t *testing.T) {
	dir, id := t.TempDir(), ports.SceneID{Book: "b:1", Chapter: "c", Scene: "s"}
	want := ports.Scene{SceneID: id, Version: 2, Workspace: "w", Layers: map[string]bool{"image": true, "audio": true},
		Units: []ports.Unit{{ID: "u1"}}, Segments: []ports.Unit{{ID: "0001"}}, Groups: []ports.VideoGroup{{ID: "g", Units: []string{"u1"}}}}
	short, err := bookdir.Manifest([]ports.Scene{want})
	require.NoError(t, err)
	require.Contains(t, string(short), `"segments": 1,`)
	require.NotContains(t, string(short), "characters")
	for range 2 {
		text, err := bookdir.Manifest([]ports.Scene{want})
		require.NoError(t, err)
		write(t, dir, "b:1", string(text))
		got, err := bookdir.New(options(dir)).Scene(context.Background(), id)
		require.NoError(t, err)
		require.Equal(t, want, got)

		// the second time, with all that there is to say
		want.Units = append(want.Units, ports.Unit{ID: "u2", Version: 2, TextLen: 140})
		want.Segments = append(want.Segments, ports.Unit{ID: "0002", Version: 1, Unit: "u2"})
	}
}

// TestHanging: a manifest that cannot be read in time is unknown when the time of the call is
// up; it holds nobody for longer, nor ever more goroutines.
func TestHanging(t *testing.T) {
	dir, id := t.TempDir(), ports.SceneID{Book: "b1", Chapter: "c", Scene: "s"}
	pipe := filepath.Join(dir, "b1.json")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600)) // whoever opens it waits for a writer
	books, before := bookdir.New(options(dir)), runtime.NumGoroutine()
	var many sync.WaitGroup
	for range 500 {
		many.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			if _, err := books.Scene(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if _, err := books.Scenes(ctx, "b1", ""); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	many.Wait()
	require.Less(t, runtime.NumGoroutine(), before+100)

	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, os.Remove(pipe))
	write(t, dir, "b1", `{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1}]}`)
	require.NoError(t, writer.Close())
	_, err = books.Scene(context.Background(), id)
	require.NoError(t, err)
}
