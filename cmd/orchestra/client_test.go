package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// replicaOf is a replica whose answers are made up. It counts its connections.
func replicaOf(t *testing.T, handler http.HandlerFunc) (connections *atomic.Int64) {
	clean(t)
	connections = &atomic.Int64{}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("ORCHESTRA_HUB_KEY", secret)
	t.Setenv("ORCHESTRA_ENGINE", server.URL)
	return connections
}

// TestOneConnection: who waits asks again and again, over one connection.
func TestOneConnection(t *testing.T) {
	asked := 0
	connections := replicaOf(t, func(w http.ResponseWriter, _ *http.Request) {
		state := "pending"
		if asked++; asked == 4 {
			state = "ready"
		}
		_, _ = io.WriteString(w, `[{"chapter":"c1","scene":"s1","stage":"image","state":"`+state+`"}]`)
	})
	status, _, errs := command("status", "b1", "--wait=10s")
	require.Zero(t, status, errs)
	require.Equal(t, 4, asked)
	require.EqualValues(t, 1, connections.Load())
}

// TestNoAnswer: a replica that was reached and does not answer is no wrong setting.
func TestNoAnswer(t *testing.T) {
	reached, over := make(chan struct{}, 2), make(chan struct{})
	replicaOf(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reached <- struct{}{}
		if r.URL.Path == "/control/delete" {
			panic(http.ErrAbortHandler)
		}
		<-over
	})
	defer close(over)
	ctx, interrupt := context.WithCancel(context.Background())
	go func() {
		<-reached
		interrupt()
	}()
	var out, errs bytes.Buffer
	require.Equal(t, exitFailure, run(ctx, []string{"cancel", "b1"}, &out, &errs))
	require.Contains(t, errs.String(), "context canceled")
	require.NotContains(t, errs.String(), "ORCHESTRA_ENGINE")

	status, _, said := command("delete", "b1")
	require.Equal(t, exitFailure, status)
	require.Contains(t, said, "it may have been done")
}

// TestInterrupted: who does not want to wait any longer, in a question or between two, is told
// of no error.
func TestInterrupted(t *testing.T) {
	for name, after := range map[string]time.Duration{"in a question": 0, "between two": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(context.Background())
			defer interrupt()
			replicaOf(t, func(w http.ResponseWriter, r *http.Request) {
				time.AfterFunc(after, interrupt)
				if after == 0 {
					<-r.Context().Done()
				}
				_, _ = io.WriteString(w, `[{"chapter":"c1","scene":"s1","stage":"image","state":"pending"}]`)
			})
			var out, errs bytes.Buffer
			require.Equal(t, exitInterrupted, run(ctx, []string{"status", "b1", "--wait=1m"}, &out, &errs))
			require.Equal(t, "orchestra: interrupted\n", errs.String())
		})
	}
}

// TestArguments: what is refused before anybody is asked.
func TestArguments(t *testing.T) {
	replicaOf(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	for arg, says := range map[string]string{"\xff\xfe": `argument 2, "\xff\xfe", is not valid UTF-8`, "--wait=-5s": "--wait=-5s: it is at least 0s"} {
		status, _, errs := command("status", arg, "b1")
		require.Equal(t, exitUsage, status)
		require.Contains(t, errs, says)
	}
}
