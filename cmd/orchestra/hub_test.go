package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
)

// openFront is the front of a hub without workers.
func openFront(t *testing.T) *front {
	c, p := &hubCmd{}, newPace(1)
	tree, err := artifactdir.Open(t.TempDir())
	require.NoError(t, err)
	hub, yard := c.build(p.world, tree, func(ports.JobResult) {}, slog.New(slog.DiscardHandler))
	t.Cleanup(p.end)
	return &front{p, hub, yard, slog.New(slog.DiscardHandler)}
}

// TestDeafHub: a hub that nobody can ask any more ends, and says why.
func TestDeafHub(t *testing.T) {
	c := &hubCmd{key: key{HubKey: secret}}
	tree, err := artifactdir.Open(t.TempDir())
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.serve(ctx, slog.New(slog.DiscardHandler), listener, tree) }()
	require.NoError(t, listener.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	require.NoError(t, ctx.Err(), "it ran on")
}

// slow is a client that takes its answer when it likes to.
type slow struct {
	kept
	begun, over chan struct{}
}

func (s *slow) WriteHeader(int) {
	s.begun <- struct{}{}
	<-s.over
}

// TestSlowClient: who does not read an answer does not hold the hub.
func TestSlowClient(t *testing.T) {
	f := openFront(t)
	client := &slow{kept{header: http.Header{}}, make(chan struct{}), make(chan struct{})}
	r, err := http.NewRequest(http.MethodGet, "/workers", http.NoBody)
	require.NoError(t, err)
	go f.ServeHTTP(client, r)
	<-client.begun
	touched := make(chan bool, 1)
	go func() { touched <- f.pace.do(func() {}) }()
	select {
	case there := <-touched:
		require.True(t, there)
	case <-time.After(10 * time.Second):
		t.Error("it is held")
	}
	close(client.over)
}

// TestLateRequest: a request that comes when the world has ended is not answered.
func TestLateRequest(t *testing.T) {
	f := openFront(t)
	f.pace.end()
	r, err := http.NewRequest(http.MethodGet, "/workers", http.NoBody)
	require.NoError(t, err)
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { f.ServeHTTP(&kept{header: http.Header{}}, r) })
}

// TestStudioThatIsFull: the log says why a worker cannot write.
func TestStudioThatIsFull(t *testing.T) {
	dir, log := t.TempDir(), &said{}
	tree, err := artifactdir.Open(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b1"), nil, 0o600)) // where a directory should be
	s := studio{tree, newLogger(log, "text", "info", nil)}
	require.Error(t, s.Put(context.Background(), ports.Artifact{Path: "b1/c1/s1/image/u1.png"}))
	require.Contains(t, log.String(), `msg="a worker cannot write" path=b1/c1/s1/image/u1.png error=`)
	require.Contains(t, log.String(), "not a directory")
	require.NoError(t, s.Put(context.Background(), ports.Artifact{Path: "b2/c1/s1/image/u1.png"}))
}
