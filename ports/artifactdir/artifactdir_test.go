package artifactdir_test

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
	"github.com/animastor/orchestra/ports/artifactdir"
)

var ctx = context.Background()

func open(t *testing.T) (*artifactdir.Tree, string) {
	root := t.TempDir()
	tree, err := artifactdir.Open(root)
	require.NoError(t, err)
	return tree, root
}

func put(t *testing.T, tree *artifactdir.Tree, path string, generation int64, content string) {
	require.NoError(t, tree.Put(ctx, ports.Artifact{Path: path, Generation: generation, Version: 2}, strings.NewReader(content)))
}

func TestPutAndStat(t *testing.T) {
	tree, root := open(t)
	const path = ".b/%2E%2E/s/image/u1.png"
	_, presence, err := tree.Stat(ctx, path)
	require.NoError(t, err)
	require.Equal(t, ports.Absent, presence)
	want := ports.Artifact{Path: path, Generation: 4, Version: 2, Size: 3, Placeholder: true, Composition: "u1@1.1",
		Duration: 1500 * time.Millisecond, Trimmed: time.Millisecond}
	require.NoError(t, tree.Put(ctx, want, strings.NewReader("png")))
	got, presence, err := tree.Stat(ctx, path)
	require.NoError(t, err)
	require.Equal(t, ports.Present, presence)
	require.Equal(t, want, got)
	put(t, tree, path, 1, "other")
	got, _, err = tree.Stat(ctx, path)
	require.NoError(t, err)
	require.Equal(t, ports.Artifact{Path: path, Generation: 1, Version: 2, Size: 5}, got)
	files, err := os.ReadDir(filepath.Join(root, ".b/%2E%2E/s/image"))
	require.NoError(t, err)
	require.Len(t, files, 2, "a file, its description and nothing else")
}

// TestKilledWriter: what a writer has left half-written is removed an hour later, and
// nothing else is.
func TestKilledWriter(t *testing.T) {
	tree, root := open(t)
	put(t, tree, "b/.upload.png", 1, "an old file of a unit with an odd id")
	for _, name := range []string{"1.upload", "2.upload", "old.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, "b", name), nil, 0o644))
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".upload.png", ".upload.png.json", "1.upload", "old.txt"} {
		require.NoError(t, os.Chtimes(filepath.Join(root, "b", name), old, old))
	}
	put(t, tree, "b/u1.png", 1, "x")
	entries, err := os.ReadDir(filepath.Join(root, "b"))
	require.NoError(t, err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	require.Equal(t, []string{".upload.png", ".upload.png.json", "2.upload", "old.txt", "u1.png", "u1.png.json"}, left)
	_, presence, err := tree.Stat(ctx, "b/2.upload")
	require.Error(t, err, "no path of an artifact")
	require.Equal(t, ports.Unknown, presence)
}

// TestUnfinished: an empty file, or one without its description, is no proof.
func TestUnfinished(t *testing.T) {
	tree, root := open(t)
	put(t, tree, "b/u1.png", 1, "")
	put(t, tree, "b/u2.png", 1, "x")
	require.NoError(t, os.Remove(filepath.Join(root, "b/u2.png.json")))
	put(t, tree, "b/u3.png", 1, "x")
	require.NoError(t, os.Remove(filepath.Join(root, "b/u3.png")))
	for _, path := range []string{"b/u1.png", "b/u2.png", "b/u3.png"} {
		_, presence, err := tree.Stat(ctx, path)
		require.NoError(t, err)
		require.Equal(t, ports.Absent, presence, path)
	}
}

// TestUnknown: what cannot be read is neither there nor missing (design
// 5.4.6).
func TestUnknown(t *testing.T) {
	tree, root := open(t)
	put(t, tree, "b/u1.png", 1, "x")
	require.NoError(t, os.WriteFile(filepath.Join(root, "b/u1.png.json"), []byte("{"), 0o600))
	unknown := func(path, why string) {
		_, presence, err := tree.Stat(ctx, path)
		require.ErrorContains(t, err, why)
		require.Equal(t, ports.Unknown, presence)
	}
	unknown("b/u1.png", "unexpected end of JSON")
	unknown("../u1.png", "is no path of an artifact")
	unknown(artifactdir.Marker, "is no path of an artifact")
	unknown("b/u1.png.json", "is no path of an artifact")
	put(t, tree, "b/u1.png", 1, "x") // mends it
	require.NoError(t, os.Remove(filepath.Join(root, artifactdir.Marker)))
	unknown("b/u1.png", "is it mounted?")
	require.ErrorContains(t, tree.Check(ctx), "is it mounted?")
	require.ErrorContains(t, tree.Put(ctx, ports.Artifact{Path: "b/u1.png"}, strings.NewReader("x")), "is it mounted?")
}

func TestOpen(t *testing.T) {
	_, err := artifactdir.Open(filepath.Join(t.TempDir(), "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = artifactdir.Open(file)
	require.ErrorContains(t, err, "is no directory")
	_, err = artifactdir.Open("/proc") // not even root can write there
	require.Error(t, err)
}

func TestMerge(t *testing.T) {
	tree, root := open(t)
	m := artifactdir.Merger{Tree: tree}
	order := ports.Merge{Whole: ports.Artifact{Path: "b/audio.mp3", Generation: 2, Version: 1, Composition: "1,2"}, Parts: []string{"b/1.mp3", "b/2.mp3"}}
	put(t, tree, "b/2.mp3", 1, "two")
	require.ErrorIs(t, m.Merge(ctx, order), ports.ErrMissingPart)
	require.ErrorIs(t, m.Merge(ctx, ports.Merge{Whole: order.Whole}), ports.ErrMissingPart)
	require.NoError(t, tree.Put(ctx, ports.Artifact{Path: "b/1.mp3", Duration: 3 * time.Second, Trimmed: 2 * time.Second}, strings.NewReader("one ")))
	require.NoError(t, tree.Put(ctx, ports.Artifact{Path: "b/2.mp3", Duration: 3 * time.Second, Trimmed: 2 * time.Second}, strings.NewReader("two")))
	for range 2 { // asked again it does the same again
		require.NoError(t, m.Merge(ctx, order))
		got, presence, err := tree.Stat(ctx, "b/audio.mp3")
		require.NoError(t, err)
		require.Equal(t, ports.Present, presence)
		require.Equal(t, ports.Artifact{Path: "b/audio.mp3", Generation: 2, Version: 1, Size: 7, Composition: "1,2",
			Duration: 6 * time.Second, Trimmed: 5 * time.Second}, got, "the bytes one after the other, the silence at the end, too")
	}
	text, err := os.ReadFile(filepath.Join(root, "b/audio.mp3"))
	require.NoError(t, err)
	require.Equal(t, "one two", string(text))
	order.Whole.Generation = 1
	require.ErrorIs(t, m.Merge(ctx, order), artifactdir.ErrSuperseded)
	require.NoError(t, os.Remove(filepath.Join(root, artifactdir.Marker)))
	err = m.Merge(ctx, order)
	require.Error(t, err)
	require.NotErrorIs(t, err, ports.ErrMissingPart, "unknown is not missing")
}

// TestMergeCommand: a program may do it; one that fails leaves what stood.
func TestMergeCommand(t *testing.T) {
	tree, root := open(t)
	script := filepath.Join(t.TempDir(), "merge")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nout=$1; shift\ncase $out in *.mp4) ;; *) echo no format >&2; exit 1;; esac\ncat \"$@\" | tr a-z A-Z >\"$out\"\n"), 0o700))
	put(t, tree, "b/g1.mp4", 1, "one ")
	put(t, tree, "b/g2.mp4", 1, "two")
	m := artifactdir.Merger{Tree: tree, Command: script}
	require.NoError(t, m.Merge(ctx, ports.Merge{Whole: ports.Artifact{Path: "b/video.mp4", Generation: 1}, Parts: []string{"b/g1.mp4", "b/g2.mp4"}}))
	text, err := os.ReadFile(filepath.Join(root, "b/video.mp4"))
	require.NoError(t, err)
	require.Equal(t, "ONE TWO", string(text))
	require.ErrorContains(t, m.Merge(ctx, ports.Merge{Whole: ports.Artifact{Path: "b/video.mp3", Generation: 1}, Parts: []string{"b/g1.mp4"}}), "no format")
}

// TestMergeCommandEnds: with the context all that the program has started ends, too.
func TestMergeCommandEnds(t *testing.T) {
	tree, _ := open(t)
	dir := t.TempDir()
	script, begun, late := filepath.Join(dir, "merge"), filepath.Join(dir, "begun"), filepath.Join(dir, "late")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n(touch "+begun+"; sleep 2; touch "+late+") | cat\n"), 0o700))
	put(t, tree, "b/g1.mp4", 1, "one")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error)
	m := artifactdir.Merger{Tree: tree, Command: script}
	go func() {
		ended <- m.Merge(ctx, ports.Merge{Whole: ports.Artifact{Path: "b/video.mp4", Generation: 1}, Parts: []string{"b/g1.mp4"}})
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 10*time.Second, 5*time.Millisecond)
	cancel()
	require.Error(t, <-ended)
	require.NoFileExists(t, late, "it was waited for")
	time.Sleep(2200 * time.Millisecond)
	require.NoFileExists(t, late, "it went on")
}

// TestWritersAndReaders: a reader sees one upload or the other, never a mixture.
func TestWritersAndReaders(t *testing.T) {
	tree, _ := open(t)
	put(t, tree, "b/u.png", 1, "x")
	var all sync.WaitGroup
	for generation := int64(1); generation <= 4; generation++ {
		all.Go(func() {
			for range 20 {
				if err := tree.Put(ctx, ports.Artifact{Path: "b/u.png", Generation: generation, Composition: fmt.Sprint(generation)},
					strings.NewReader(strings.Repeat("x", int(generation)))); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 100 {
				a, presence, err := tree.Stat(ctx, "b/u.png")
				if err != nil || presence != ports.Present || a.Size != a.Generation {
					t.Errorf("%+v %v %v", a, presence, err)
				}
			}
		})
	}
	all.Wait()
}
