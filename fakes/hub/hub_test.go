package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// rig is a hub and one process that plays engine and worker.
type rig struct {
	t      *testing.T
	w      *sim.World
	p      *sim.Process
	hub    *hub.Hub
	client *httphub.Client
	http   *http.Client
	events []string
}

// in runs fn in a task of a fresh world, to its end.
func in(t *testing.T, o hub.Options, fn func(context.Context, *rig), rules ...sim.Rule) *rig {
	t.Helper()
	w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"hub": {Min: time.Millisecond, Max: 2 * time.Millisecond}}})
	t.Cleanup(w.Close)
	for _, rule := range rules {
		w.Inject(rule)
	}
	r := &rig{t: t, w: w, p: w.Process("p"), hub: hub.New(w, w.Process("hub"), o)}
	r.http = &http.Client{Transport: r.hub.Transport(r.p)}
	r.client = httphub.New(fakes.Runtime{Process: r.p}, httphub.Options{BaseURL: "http://hub", APIKey: o.APIKey, Client: r.http})
	r.hub.On(func(e hub.Event) {
		r.events = append(r.events, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Kind, e.Job.UnitID, e.Reason)))
	})
	ended := false
	r.p.Go(r.p.Context(), "main", func(ctx context.Context) { fn(ctx, r); ended = true })
	w.RunFor(24 * time.Hour)
	require.Empty(t, w.Failures())
	require.Empty(t, w.Unfired())
	require.True(t, ended)
	return r
}

func job(unit string, fence int64) ports.Job {
	return ports.Job{JobID: "image:b:c:s:" + unit + ":1", DispatchID: fmt.Sprintf("d%d", fence), BookID: "b", ChapterID: "c",
		SceneID: "s", Stage: "image", UnitID: unit, Generation: 1, Fence: fence}
}

// post is the hub's answer to a post: "202", or its status and reason.
func (r *rig) post(ctx context.Context, j ports.Job) string {
	err := r.client.Post(ctx, j)
	if err == nil {
		return "202"
	}
	var no *ports.Rejected
	require.ErrorAs(r.t, err, &no)
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", no.Status, no.Reason, no.DispatchID))
}

// send plays a worker.
func (r *rig) send(ctx context.Context, path, body string, out any) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://hub"+path, strings.NewReader(body))
	require.NoError(r.t, err)
	resp, err := r.http.Do(req)
	require.NoError(r.t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	if out != nil {
		require.NoError(r.t, json.Unmarshal(b, out), "%s", b)
	}
	return resp.StatusCode
}

func (r *rig) heartbeat(ctx context.Context, id string) {
	require.Equal(r.t, 204, r.send(ctx, "/workers/"+id+"/heartbeat", `{"type":"image"}`, nil))
}

func (r *rig) claim(ctx context.Context, id string) (c hub.Claim) {
	require.Equal(r.t, 200, r.send(ctx, "/workers/"+id+"/claim", `{"type":"image"}`, &c))
	return c
}

func (r *rig) report(ctx context.Context, worker string, j ports.Job, ok bool) int {
	b, err := json.Marshal(ports.JobResult{JobID: j.JobID, DispatchID: j.DispatchID, Worker: worker, OK: ok, Code: "invalid_asset"})
	require.NoError(r.t, err)
	return r.send(ctx, "/jobs/"+url.PathEscape(j.JobID)+"/result", string(b), nil)
}

func (r *rig) progress(ctx context.Context, worker string, j ports.Job) int {
	return r.send(ctx, "/jobs/"+url.PathEscape(j.JobID)+"/progress", `{"worker":"`+worker+`","dispatch_id":"`+j.DispatchID+`"}`, nil)
}

func TestPostNeedsALiveWorker(t *testing.T) {
	r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		require.Equal(t, "503 no_worker_available", r.post(ctx, job("u1", 1)))
		require.Equal(t, 204, r.send(ctx, "/workers/a1/heartbeat", `{"type":"audio"}`, nil))
		require.Equal(t, "503 no_worker_available", r.post(ctx, job("u1", 1)), "of that type")
		r.heartbeat(ctx, "w1")
		require.Equal(t, "202", r.post(ctx, job("u1", 1)))
		_ = r.p.Sleep(ctx, hub.WorkerSilence+time.Second)
		require.Equal(t, "503 no_worker_available", r.post(ctx, job("u2", 1)))
		list, err := r.client.Workers(ctx)
		require.NoError(t, err)
		require.Equal(t, []ports.Worker{{ID: "a1", Type: "audio", Scope: "system"}, {ID: "w1", Type: "image", Scope: "system"}}, list)
	})
	require.Equal(t, hub.Counts{Posts: 4, Accepted: 1}, r.hub.Counts(job("u1", 1).StageID()))
}

// TestPostThatWasUnderWayForLong: it comes after its job is done, and is not done again.
func TestPostThatWasUnderWayForLong(t *testing.T) {
	in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		require.Equal(t, "202", r.post(ctx, job("u1", 1)))
		require.Equal(t, 204, r.report(ctx, "w1", r.claim(ctx, "w1").Job, true))
		require.Equal(t, "409 duplicate_pending d1", r.post(ctx, job("u1", 1)))
	})
}

func TestPostOfAPendingJob(t *testing.T) {
	r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		require.Equal(t, "202", r.post(ctx, job("u1", 1)))
		require.Equal(t, "409 duplicate_pending d1", r.post(ctx, job("u1", 1)))
		require.Equal(t, "409 duplicate_pending d1", r.post(ctx, job("u1", 2)))
		c := r.claim(ctx, "w1")
		require.Equal(t, hub.Claim{Job: job("u1", 1), Run: 1}, c)
		require.Equal(t, "409 duplicate_pending d1", r.post(ctx, job("u1", 2)), "running")
		require.True(t, r.hub.Live(c.JobID))
		require.Equal(t, 204, r.report(ctx, "w1", c.Job, false))
		require.False(t, r.hub.Live(c.JobID))
		require.Equal(t, "202", r.post(ctx, job("u1", 2)), "a finished job may be run again")
	})
	require.Equal(t, "accepted u1 refused u1 duplicate_pending refused u1 duplicate_pending claimed u1 "+
		"refused u1 duplicate_pending failed u1 invalid_asset accepted u1", strings.Join(r.events, " "))
	require.Equal(t, 2, r.hub.Jobs()[0].Accepted)
	require.Equal(t, "d2", r.hub.Jobs()[0].DispatchID)
}

func TestFences(t *testing.T) {
	lowFence := func(ctx context.Context, r *rig) (string, string, string) {
		r.heartbeat(ctx, "w1")
		require.Equal(t, "202", r.post(ctx, job("u1", 5)))
		lower := r.post(ctx, job("u2", 4))
		_, err := r.client.ClearDispatch(ctx, "d6")
		require.NoError(t, err)
		cleared := r.post(ctx, job("u3", 6))
		_, err = r.client.ClearBook(ctx, "b")
		require.NoError(t, err)
		barred := job("u4", 5)
		barred.DispatchID = "d5 too"
		return lower, cleared, r.post(ctx, barred)
	}
	in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		lower, cleared, barred := lowFence(ctx, r)
		require.Equal(t, []string{"409 stale_intent", "409 stale_intent", "409 stale_intent"}, []string{lower, cleared, barred})
		require.Equal(t, "202", r.post(ctx, job("u4", 7)), "a new dispatch is welcome")
		other := job("u1", 1)
		other.SceneID, other.JobID = "s2", "image:b:c:s2:u1:1"
		require.Equal(t, "202", r.post(ctx, other), "a fence is of its scene")
		r.hub.Restart()
		require.Equal(t, "409 stale_intent", r.post(ctx, job("u5", 6)), "fences outlive the queue")
	})
	in(t, hub.Options{NoFences: true}, func(ctx context.Context, r *rig) {
		lower, cleared, barred := lowFence(ctx, r)
		require.Equal(t, []string{"202", "202", "202"}, []string{lower, cleared, barred})
	})
}

func TestClears(t *testing.T) {
	r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		foreign := job("u9", 1)
		foreign.BookID, foreign.JobID, foreign.DispatchID = "b/*&book_id=b", "image:b%2F*:c:s:u9:1", "d9"
		for _, j := range []ports.Job{job("u1", 1), job("u2", 1), job("u3", 1), foreign} {
			require.Equal(t, "202", r.post(ctx, j))
		}
		first, second := r.claim(ctx, "w1"), hub.Claim{}
		require.Equal(t, 204, r.report(ctx, "w1", first.Job, true))
		second = r.claim(ctx, "w1")
		require.Equal(t, 204, r.progress(ctx, "w1", second.Job))

		got, err := r.client.ClearDispatch(ctx, "d1")
		require.NoError(t, err)
		require.True(t, got.OK)
		require.Equal(t, 2, got.Cleared, "the running and the queued one")
		require.Equal(t, "d1", *got.Scope.DispatchID)
		require.Nil(t, got.Scope.BookID)
		require.Equal(t, 410, r.progress(ctx, "w1", second.Job))
		require.Equal(t, 410, r.report(ctx, "w1", second.Job, true))

		list, err := r.client.Dispatch(ctx, "d1")
		require.NoError(t, err)
		require.Len(t, list, 1, "a finished job stays")
		require.Equal(t, ports.JobDone, list[0].State)

		got, err = r.client.ClearBook(ctx, foreign.BookID)
		require.NoError(t, err)
		require.Equal(t, 1, got.Cleared)
		require.Equal(t, foreign.BookID, *got.Scope.BookID)
	})
	require.Len(t, r.hub.Jobs(), 1)
}

func TestScopes(t *testing.T) {
	for scope, want := range map[hub.Scope]string{hub.ScopeEcho: "b", hub.ScopeAbsent: "", hub.ScopeForeign: "another-b"} {
		in(t, hub.Options{Scope: scope}, func(ctx context.Context, r *rig) {
			got, err := r.client.ClearBook(ctx, "b")
			require.NoError(t, err)
			if want == "" {
				require.Nil(t, got.Scope.BookID)
				return
			}
			require.Equal(t, want, *got.Scope.BookID)
		})
	}
}

func TestSilentWorkerLosesItsJob(t *testing.T) {
	r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		require.Equal(t, "202", r.post(ctx, job("u1", 1)))
		require.Equal(t, "202", r.post(ctx, job("u2", 1)))
		old := r.claim(ctx, "w1")
		_ = r.p.Sleep(ctx, hub.WorkerSilence+time.Second)
		next := r.claim(ctx, "w2")
		require.Equal(t, hub.Claim{Job: old.Job, Run: 2}, next, "it keeps its place in the queue")
		require.Equal(t, 410, r.report(ctx, "w1", old.Job, true))
		require.Equal(t, 204, r.report(ctx, "w2", next.Job, true))
	})
	require.Equal(t, "w2", r.hub.Jobs()[0].Worker)
}

func TestFinishedJobIsForgotten(t *testing.T) {
	r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		require.Equal(t, "202", r.post(ctx, job("u1", 1)))
		c := r.claim(ctx, "w1")
		require.Equal(t, 204, r.report(ctx, "w1", c.Job, true))
		_ = r.p.Sleep(ctx, hub.Retention-time.Minute)
		_, found, err := r.client.Job(ctx, c.JobID)
		require.NoError(t, err)
		require.True(t, found)
		_ = r.p.Sleep(ctx, 2*time.Minute)
		_, found, err = r.client.Job(ctx, c.JobID)
		require.NoError(t, err)
		require.False(t, found)
	})
	require.Equal(t, "expired u1", r.events[len(r.events)-1])
}

func TestCapacity(t *testing.T) {
	in(t, hub.Options{Capacity: 1}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		require.Equal(t, "202", r.post(ctx, job("u1", 1)))
		require.Equal(t, "503 no_worker_available", r.post(ctx, job("u2", 1)))
		r.claim(ctx, "w1")
		require.Equal(t, "202", r.post(ctx, job("u2", 1)))
	})
}

func TestBadRequests(t *testing.T) {
	in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		for _, path := range []string{"/jobs", "/workers/w1/heartbeat", "/workers/w1/claim", "/jobs/x/progress", "/jobs/x/result"} {
			require.Equal(t, 400, r.send(ctx, path, `{"type":`, nil), path)
		}
		for _, path := range []string{"/jobs", "/workers/w1/heartbeat", "/workers/w1/claim"} {
			require.Equal(t, 400, r.send(ctx, path, `{}`, nil), path)
		}
		require.Equal(t, 400, r.send(ctx, "/workers/w1/heartbeat", `{"type":"image","shared_until":"2026-01-01"}`, nil), "an instant is a number of ms")
		require.Equal(t, 400, r.send(ctx, "/jobs", `{"payload":"`+strings.Repeat("x", 1<<20)+`"}`, nil))
		require.Equal(t, 404, r.send(ctx, "/nowhere", `{}`, nil))
		require.Equal(t, 405, r.send(ctx, "/queue/clear", `{}`, nil))
		require.Equal(t, "400 bad_request", r.post(ctx, ports.Job{JobID: "x"}))
	})
	in(t, hub.Options{APIKey: "secret"}, func(ctx context.Context, r *rig) {
		require.Equal(t, 401, r.send(ctx, "/workers/w1/heartbeat", `{"type":"image"}`, nil), "no key")
		require.Equal(t, "503 no_worker_available", r.post(ctx, job("u1", 1)), "the key")
	})
}
