package ports_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
)

// Wait waits for tasks, those that tasks start and those of groups, and for no longer than
// it is told.
func TestSystemWait(t *testing.T) {
	s := ports.NewSystem()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan string, 2)
	s.Go(ctx, "outer", func(ctx context.Context) {
		g := s.Group()
		g.Go(ctx, "inner", func(ctx context.Context) {
			_ = s.Sleep(ctx, time.Hour)
			ended <- "inner"
		})
		_ = g.Wait(context.WithoutCancel(ctx))
		ended <- "outer"
	})
	soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Wait(soon), context.DeadlineExceeded)
	stop()
	require.NoError(t, s.Wait(context.Background()))
	require.Equal(t, "inner", <-ended)
	require.Equal(t, "outer", <-ended)
}
