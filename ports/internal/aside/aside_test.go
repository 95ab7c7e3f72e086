package aside_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports/internal/aside"
)

// TestHanging: who hangs holds nobody longer than a context, and no more of them are begun
// than the limit says; after they have ended it is as if they had not been.
func TestHanging(t *testing.T) {
	limit, over := aside.NewLimit(3), make(chan struct{})
	var begun, ended atomic.Int64
	hang := func() error {
		begun.Add(1)
		<-over
		ended.Add(1)
		return nil
	}
	for range 10 {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		require.ErrorIs(t, aside.Do(ctx, limit, hang), context.DeadlineExceeded)
		cancel()
	}
	require.LessOrEqual(t, begun.Load(), int64(3))
	close(over)
	value, err := aside.Get(context.Background(), limit, func() (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, value)
	require.Eventually(t, func() bool { return len(limit) == 0 && ended.Load() == begun.Load() }, 10*time.Second, time.Millisecond)
}

// TestAnswer: an error is handed on, and so is a value that came with it.
func TestAnswer(t *testing.T) {
	broken := errors.New("broken")
	value, err := aside.Get(context.Background(), aside.NewLimit(1), func() (string, error) { return "half", broken })
	require.Equal(t, broken, err)
	require.Equal(t, "half", value)
}
