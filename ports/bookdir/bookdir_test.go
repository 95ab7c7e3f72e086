package bookdir_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
		"":                                   "no such file",
		" \n":                                "line 2: EOF",
		`{"id":"b1","scenes":[`:              "line 1: unexpected EOF",
		"{\"id\":\"b1\",\n\"scenes\":[\n,]}": "line 3: invalid character ','",
		`{"id":"b2"}`:                        `its id is "b2"`,
		`{"id":"b1","pages":1}`:              "unknown field",
		`{"id":"b1"} {}`:                     "more after the book",
		`{"id":"b1","scenes":[{"scene":"s","version":1}]}`:                                                                 "lacks chapter",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s"}]}`:                                                               "no version",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1},{"chapter":"c","scene":"s","version":1}]}`:           "b1/c/s stands twice",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"layers":["text"]}]}`:                                 `no layer "text"`,
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"segments":-1}]}`:                                     "scene c/s: it has -1 segments, fewer than 0",
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"units":["u","u"]}]}`:                                 `unit "u" is empty or stands twice`,
		`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1,"segments":1000000000000}]}`:                          "scene c/s: it has 1000000000000 segments; 100000 is the most",
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

// TestNoBook: that there is no such book is told from a directory that is away, and only a
// regular file is a manifest.
func TestNoBook(t *testing.T) {
	dir, ctx := filepath.Join(t.TempDir(), "books"), context.Background()
	require.NoError(t, os.Mkdir(dir, 0o700))
	books := bookdir.New(options(dir))
	for _, book := range []string{"b1", strings.Repeat("b", 1024), strings.Repeat("ä", 100)} {
		_, err := books.Scenes(ctx, book, "")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.NoError(t, books.Check(ctx))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600)) // whoever opens it waits for a writer
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.json"), 0o700))
	for _, book := range []string{"pipe", "dir"} {
		_, err := books.Scenes(ctx, book, "")
		require.ErrorContains(t, err, "no regular file")
	}
	require.NoError(t, os.RemoveAll(dir))
	require.Error(t, books.Check(ctx))
	_, err := books.Scenes(ctx, "b1", "")
	require.ErrorContains(t, err, "no book can be read")
	require.NotErrorIs(t, err, fs.ErrNotExist)
}
