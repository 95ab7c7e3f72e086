package artifactdir_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
)

// lock holds the lock of a tree, as a writer does whose mount hangs, until unlock.
func lock(t *testing.T, root string, how int) (unlock func()) {
	marker, err := os.Open(filepath.Join(root, artifactdir.Marker))
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(marker.Fd()), how))
	return func() { require.NoError(t, marker.Close()) }
}

// briefly is a context that ends soon.
func briefly(t *testing.T) context.Context {
	brief, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	t.Cleanup(cancel)
	return brief
}

// TestHanging: a tree that hangs is unknown when the time of a call is up, and holds nobody
// for longer, nor ever more goroutines; when it answers again, so does every call.
func TestHanging(t *testing.T) {
	tree, root := open(t)
	put(t, tree, "b/1.mp3", 1, "one")
	before := runtime.NumGoroutine()
	unlock := lock(t, root, syscall.LOCK_EX)
	upload := func(ctx context.Context) error {
		return tree.Put(ctx, ports.Artifact{Path: "b/u.png"}, strings.NewReader("x"))
	}
	merge := func(ctx context.Context) error {
		return (&artifactdir.Merger{Tree: tree}).Merge(ctx, ports.Merge{Whole: ports.Artifact{Path: "b/audio.mp3"}, Parts: []string{"b/1.mp3"}})
	}
	place := func(ctx context.Context) error { return tree.Place(ctx, "b/c/audio.mp3") }
	all := []func(context.Context) error{tree.Check, upload, merge, place}
	for _, call := range all {
		require.ErrorIs(t, call(briefly(t)), context.DeadlineExceeded)
	}
	var many sync.WaitGroup
	for range 500 {
		many.Go(func() {
			if _, presence, err := tree.Stat(briefly(t), "b/1.mp3"); presence != ports.Unknown || err == nil {
				t.Errorf("it is %s: %v", presence, err)
			}
		})
	}
	many.Wait()
	require.Less(t, runtime.NumGoroutine(), before+150)

	unlock()
	_, presence, err := tree.Stat(ctx, "b/1.mp3")
	require.NoError(t, err)
	require.Equal(t, ports.Present, presence)
	for _, call := range all {
		require.NoError(t, call(ctx))
	}
}

// TestLate: what could not take its place in time does not do it later, when the caller has
// been told that it did not, and somebody else may have put another there.
func TestLate(t *testing.T) {
	tree, root := open(t)
	put(t, tree, "b/u.png", 1, "old")
	unlock := lock(t, root, syscall.LOCK_SH) // it is read from, and never replaced
	require.ErrorIs(t, tree.Put(briefly(t), ports.Artifact{Path: "b/u.png", Generation: 2}, strings.NewReader("new")), context.DeadlineExceeded)
	unlock()
	require.Eventually(t, func() bool {
		files, err := os.ReadDir(filepath.Join(root, "b"))
		return err == nil && len(files) == 2
	}, 10*time.Second, 5*time.Millisecond, "it leaves nothing")
	a, _, err := tree.Stat(ctx, "b/u.png")
	require.NoError(t, err)
	require.EqualValues(t, 1, a.Generation)
}
