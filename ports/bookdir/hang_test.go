package bookdir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
)

// TestHanging: a manifest that cannot be read in time is unknown when the time of the call is
// up; it holds nobody for longer, nor ever more goroutines.
func TestHanging(t *testing.T) {
	dir, id, mended := t.TempDir(), ports.SceneID{Book: "b1", Chapter: "c", Scene: "s"}, make(chan struct{})
	books, before := New(Options{Path: dir}), runtime.NumGoroutine()
	books.open = func(path string, last fs.FileInfo) (file, error) {
		<-mended
		return open(path, last)
	}
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

	require.NoError(t, os.WriteFile(filepath.Join(dir, "b1.json"), []byte(`{"id":"b1","scenes":[{"chapter":"c","scene":"s","version":1}]}`), 0o600))
	close(mended)
	_, err := books.Scene(context.Background(), id)
	require.NoError(t, err)
}
