package httphub_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// hubRig is a hub without jobs, with one image worker alive, behind one kind of
// transport.
type hubRig struct {
	client ports.Hub
	// heartbeat keeps the worker alive, or brings another.
	heartbeat func(ctx context.Context, worker string)
}

// TestConformance runs one suite over the transport of a world and over loopback
// HTTP: what the engine sees does not depend on which it is.
func TestConformance(t *testing.T) {
	t.Run("world", func(t *testing.T) {
		w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"hub": {Min: time.Millisecond, Max: 30 * time.Millisecond}}})
		defer w.Close()
		p, ended := w.Process("engine"), false
		client := &http.Client{Transport: hub.New(w, w.Process("hub"), hub.Options{APIKey: "secret"}).Transport(p)}
		p.Go(p.Context(), "main", func(ctx context.Context) {
			conform(t, ctx, newHubRig(t, fakes.Runtime{Process: p}, "http://hub", client))
			ended = true
		})
		w.RunFor(time.Hour)
		require.Empty(t, w.Failures())
		require.True(t, ended)
	})
	t.Run("loopback", func(t *testing.T) {
		w := sim.New(sim.Options{})
		h := hub.New(w, w.Process("hub"), hub.Options{APIKey: "secret"})
		var one sync.Mutex // the fake serves one request at a time
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			one.Lock()
			defer one.Unlock()
			h.ServeHTTP(w, r)
		}))
		defer server.Close()
		conform(t, context.Background(), newHubRig(t, ports.NewSystem(), server.URL, server.Client()))
	})
}

func newHubRig(t *testing.T, rt ports.Runtime, url string, client *http.Client) hubRig {
	return hubRig{
		client: httphub.New(rt, httphub.Options{BaseURL: url + "/", APIKey: "secret", Client: client}),
		heartbeat: func(ctx context.Context, worker string) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/workers/"+worker+"/heartbeat", strings.NewReader(`{"type":"image"}`))
			require.NoError(t, err)
			req.Header.Set("X-Api-Key", "secret")
			resp, err := client.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusNoContent, resp.StatusCode)
		},
	}
}

// conform is what every hub must do, seen through the client (schema 5).
func conform(t *testing.T, ctx context.Context, r hubRig) {
	rejected := func(err error, want ports.Rejected) {
		t.Helper()
		var no *ports.Rejected
		require.ErrorAs(t, err, &no)
		require.Equal(t, want, *no)
		require.NotErrorIs(t, err, ports.ErrAmbiguous)
	}
	first := oddJob("u1", "d/1", 1)

	// Nobody works here.
	rejected(r.client.Post(ctx, first), ports.Rejected{Status: 503, Reason: "no_worker_available"})
	list, err := r.client.Workers(ctx)
	require.NoError(t, err)
	require.Empty(t, list)
	r.heartbeat(ctx, "w1")
	list, err = r.client.Workers(ctx)
	require.NoError(t, err)
	require.Equal(t, []ports.Worker{{ID: "w1", Type: "image", Alive: true, Scope: "system"}}, list)

	// A job is posted once, whatever its ids look like.
	require.NoError(t, r.client.Post(ctx, first))
	rejected(r.client.Post(ctx, first), ports.Rejected{Status: 409, Reason: "duplicate_pending", DispatchID: "d/1"})
	status, found, err := r.client.Job(ctx, first.JobID)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, ports.JobStatus{Job: first, State: ports.JobQueued}, status)
	for _, id := range []string{"..", ".", "nobody", "a/b"} {
		_, found, err = r.client.Job(ctx, id)
		require.NoError(t, err, id)
		require.False(t, found, id)
	}

	// A dispatch lists its jobs, and an unknown one has none.
	require.NoError(t, r.client.Post(ctx, oddJob("u2", "d/1", 1)))
	require.NoError(t, r.client.Post(ctx, oddJob("u3", "..", 1)))
	jobs, err := r.client.Dispatch(ctx, "d/1")
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	require.Equal(t, "u1", jobs[0].UnitID)
	jobs, err = r.client.Dispatch(ctx, "nobody")
	require.NoError(t, err)
	require.Empty(t, jobs)

	// A clear echoes its scope, goes no further, and bars what it cleared.
	cleared, err := r.client.ClearDispatch(ctx, "d/1")
	require.NoError(t, err)
	require.True(t, cleared.OK)
	require.Equal(t, 2, cleared.Cleared)
	require.Equal(t, "d/1", *cleared.Scope.DispatchID)
	require.Nil(t, cleared.Scope.BookID)
	rejected(r.client.Post(ctx, first), ports.Rejected{Status: 409, Reason: "stale_intent"})
	jobs, err = r.client.Dispatch(ctx, "..")
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	cleared, err = r.client.ClearBook(ctx, first.BookID)
	require.NoError(t, err)
	require.Equal(t, 1, cleared.Cleared)
	require.Equal(t, first.BookID, *cleared.Scope.BookID)
	rejected(r.client.Post(ctx, oddJob("u4", "d2", 1)), ports.Rejected{Status: 409, Reason: "stale_intent"})
	require.NoError(t, r.client.Post(ctx, oddJob("u4", "d3", 2)))

	// A dispatch with a lower fence has been overtaken.
	rejected(r.client.Post(ctx, oddJob("u5", "d4", 1)), ports.Rejected{Status: 409, Reason: "stale_intent"})

	rejected(r.client.Post(ctx, ports.Job{JobID: "x"}), ports.Rejected{Status: 400, Reason: "bad_request"})
}

func oddJob(unit, dispatch string, fence int64) ports.Job {
	return ports.Job{JobID: "image:a%2Fb:c:..:" + unit + ":1", DispatchID: dispatch, BookID: "a/b&c=d", ChapterID: "c?#", SceneID: "..",
		Stage: "image", UnitID: unit, Generation: 1, Fence: fence, Version: 7, Payload: "<p>"}
}
