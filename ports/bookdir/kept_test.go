package bookdir_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/bookdir"
)

var long = time.Now().Add(-time.Hour).Truncate(time.Second)

// place writes a manifest of a version from 1 to 9, as if it had been there since then.
func place(t *testing.T, path string, version int, since time.Time, more string) {
	text := fmt.Sprintf(`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":%d,"layers":["image"],"units":["u1"],"groups":[{"id":"g","units":["u1"]}]}]}%s`, version, more)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chtimes(path, since, since))
}

// TestKept: a manifest is parsed once while nobody writes it.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	var scenes []string
	for i := range 1000 {
		scenes = append(scenes, fmt.Sprintf(`{"chapter":"c","scene":"s%d","version":1}`, i))
	}
	write(t, dir, "b1", `{"id":"b1","scenes":[`+strings.Join(scenes, ",")+`]}`)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "b1.json"), long, long))
	books := bookdir.New(options(dir))
	allocated := testing.AllocsPerRun(20, func() {
		_, err := books.Scene(context.Background(), ports.SceneID{Book: "b1", Chapter: "c", Scene: "s999"})
		require.NoError(t, err)
	})
	require.Less(t, allocated, 100.0)
}

// TestRewritten: whatever a new manifest has in common with the one that is kept, the next call
// sees it.
func TestRewritten(t *testing.T) {
	for name, rewrite := range map[string]func(t *testing.T, path string, version func() int64){
		"another file of the same size and time": func(t *testing.T, path string, _ func() int64) {
			place(t, path+".new", 2, long, "")
			require.NoError(t, os.Rename(path+".new", path))
		},
		"the same file and size": func(t *testing.T, path string, _ func() int64) { place(t, path, 2, long.Add(time.Microsecond), "") },
		"the same file and time": func(t *testing.T, path string, _ func() int64) { place(t, path, 2, long, " ") },
		"an older time":          func(t *testing.T, path string, _ func() int64) { place(t, path, 2, long.Add(-time.Hour), "") },
		"all the same, just then": func(t *testing.T, path string, version func() int64) {
			now := time.Now()
			place(t, path, 3, now, "")
			require.EqualValues(t, 3, version())
			place(t, path, 2, now, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "b1.json")
			place(t, path, 1, long, "")
			books, ctx := bookdir.New(options(filepath.Dir(path))), context.Background()
			version := func() int64 {
				s, err := books.Scene(ctx, ports.SceneID{Book: "b1", Chapter: "c", Scene: "s"})
				require.NoError(t, err)
				return s.Version
			}
			require.EqualValues(t, 1, version())
			rewrite(t, path, version)
			require.EqualValues(t, 2, version())
			require.NoError(t, os.Remove(path))
			_, err := books.Scenes(ctx, "b1", "")
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

// TestNothingIsShared: what a caller does with a scene is nobody else's.
func TestNothingIsShared(t *testing.T) {
	dir := t.TempDir()
	place(t, filepath.Join(dir, "b1.json"), 1, long, "")
	books, ctx, id := bookdir.New(options(dir)), context.Background(), ports.SceneID{Book: "b1", Chapter: "c", Scene: "s"}
	first, err := books.Scene(ctx, id)
	require.NoError(t, err)
	first.Layers["audio"], first.Units[0].ID, first.Groups[0].ID, first.Groups[0].Units[0] = true, "x", "x", "x"
	list, err := books.Scenes(ctx, "b1", "")
	require.NoError(t, err)
	list[0].Scene = "x"
	again, err := books.Scene(ctx, id)
	require.NoError(t, err)
	require.Equal(t, ports.Scene{SceneID: id, Version: 1, Layers: map[string]bool{"image": true}, Units: []ports.Unit{{ID: "u1"}},
		Groups: []ports.VideoGroup{{ID: "g", Units: []string{"u1"}}}}, again)
	list, err = books.Scenes(ctx, "b1", "")
	require.NoError(t, err)
	require.Equal(t, []ports.SceneID{id}, list)
}

// TestManyBooks: more books than are kept, asked for at once while they are replaced, are read
// as they stand.
func TestManyBooks(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	replace := func(book string, version int) {
		text := fmt.Sprintf(`{"id":%q,"scenes":[{"chapter":"c","scene":%q,"version":%d}]}`, book, book, version)
		path := filepath.Join(dir, bookdir.FileName(book))
		require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path+".new", long, long))
		require.NoError(t, os.Rename(path+".new", path))
	}
	books := bookdir.New(options(dir))
	var many sync.WaitGroup
	for i := range 40 {
		book := fmt.Sprintf("b%d", i)
		replace(book, 1)
		many.Go(func() {
			for version := range int64(20) {
				replace(book, int(version)+1)
				for range 3 {
					s, err := books.Scene(ctx, ports.SceneID{Book: book, Chapter: "c", Scene: book})
					if err != nil || s.Version != version+1 {
						t.Error(book, version, s, err)
					}
				}
			}
		})
	}
	many.Wait()
}
