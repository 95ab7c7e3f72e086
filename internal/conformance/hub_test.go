package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	vfakes "github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/internal/contract"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

const hubContract = "../../docs/hub.openapi.yaml"

// answersOfOthers are in the document and cannot come from a hub: the engine's own route
// is checked where it is (cmd/orchestra).
var answersOfOthers = []string{"callback 204", "callback 400", "callback 401", "callback 413", "callback 503"}

// hubRig is a hub without jobs behind one kind of transport, which holds all that goes
// through it to the document.
type hubRig struct {
	client   ports.Hub
	stranger ports.Hub // with a wrong key
	// ask makes a request that the client does not: those of workers, and bad ones.
	ask     func(ctx context.Context, method, path, body string) (status int, answer string)
	results *[]ports.JobResult // what the hub told the engine
}

// hubOptions are those of the fake in this run.
func hubOptions() hub.Options {
	o := hub.Options{APIKey: "secret"}
	if *plantName == "scope-echo" {
		o.Scope = hub.ScopeAbsent
	}
	return o
}

// TestHub runs one suite over the transport of a world (httpmock) and over loopback HTTP:
// what the engine sees does not depend on which it is, and both keep to the document.
func TestHub(t *testing.T) {
	for _, side := range []struct {
		name string
		run  func(require.TestingT, *contract.Contract)
	}{{"world", hubInWorld}, {"loopback", hubOnLoopback}} {
		t.Run(side.name, func(t *testing.T) {
			c, err := contract.Load(hubContract)
			require.NoError(t, err)
			side.run(t, c)
			require.Empty(t, c.Problems(), "the fake hub, or its client, and %s differ", hubContract)
			seen := slices.Sorted(maps.Keys(c.Seen()))
			require.Equal(t, c.Answers(), slices.Sorted(slices.Values(append(seen, answersOfOthers...))), "answers that were seen, and those of the document")
		})
	}
}

func hubInWorld(t require.TestingT, c *contract.Contract) {
	w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"hub": {Min: time.Millisecond, Max: 30 * time.Millisecond}}})
	defer w.Close()
	h := hub.New(w, w.Process("hub"), hubOptions())
	p, ended := w.Process("engine"), false
	client := &http.Client{Transport: c.Transport(h.Transport(p))}
	p.Go(p.Context(), "main", func(ctx context.Context) {
		conformHub(t, ctx, newHubRig(t, h, vfakes.Runtime{Process: p}, "http://hub", client))
		ended = true
	})
	w.RunFor(time.Hour)
	require.Empty(t, w.Failures())
	require.True(t, ended)
}

func hubOnLoopback(t require.TestingT, c *contract.Contract) {
	w := sim.New(sim.Options{})
	h := hub.New(w, w.Process("hub"), hubOptions())
	var one sync.Mutex // the fake serves one request at a time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	client := &http.Client{Transport: c.Transport(server.Client().Transport)}
	conformHub(t, context.Background(), newHubRig(t, h, ports.NewSystem(), server.URL, client))
}

func newHubRig(t require.TestingT, h *hub.Hub, rt ports.Runtime, base string, client *http.Client) hubRig {
	var results []ports.JobResult
	h.OnResult = func(r ports.JobResult) { results = append(results, r) }
	return hubRig{
		client:   httphub.New(rt, httphub.Options{BaseURL: base + "/", APIKey: "secret", Client: client}),
		stranger: httphub.New(rt, httphub.Options{BaseURL: base + "/", APIKey: "guess", Client: client}),
		results:  &results,
		ask: func(ctx context.Context, method, path, body string) (int, string) {
			key := "secret"
			if rest, wrong := strings.CutPrefix(path, "!"); wrong {
				key, path = "guess", rest
			}
			req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("X-Api-Key", key)
			if body != "" {
				req.Header.Set("Content-Type", "application/json")
			}
			resp, err := client.Do(req)
			require.NoError(t, err)
			answer, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			return resp.StatusCode, string(answer)
		},
	}
}

// conformHub is what every hub must do (schema 5).
func conformHub(t require.TestingT, ctx context.Context, r hubRig) {
	conformPosts(t, ctx, r)
	conformClears(t, ctx, r)
	conformWorkers(t, ctx, r)
	conformNos(t, ctx, r)
}

func rejected(t require.TestingT, err error, want ports.Rejected) {
	var no *ports.Rejected
	require.ErrorAs(t, err, &no)
	require.Equal(t, want, *no)
	require.NotErrorIs(t, err, ports.ErrAmbiguous)
}

// conformPosts: a job is posted once, whatever its ids look like, when somebody works.
func conformPosts(t require.TestingT, ctx context.Context, r hubRig) {
	first := oddJob("u1", "d/1", 1)
	rejected(t, r.client.Post(ctx, first), ports.Rejected{Status: 503, Reason: "no_worker_available"})
	list, err := r.client.Workers(ctx)
	require.NoError(t, err)
	require.Empty(t, list)
	status, _ := r.ask(ctx, "POST", "/workers/w%2F1/heartbeat", `{"type":"image"}`)
	require.Equal(t, 204, status)
	list, err = r.client.Workers(ctx)
	require.NoError(t, err)
	require.Equal(t, []ports.Worker{{ID: "w/1", Type: "image", Alive: true, Scope: "system"}}, list)

	require.NoError(t, r.client.Post(ctx, first))
	rejected(t, r.client.Post(ctx, first), ports.Rejected{Status: 409, Reason: "duplicate_pending", DispatchID: "d/1"})
	job, found, err := r.client.Job(ctx, first.JobID)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, ports.JobStatus{Job: first, State: ports.JobQueued}, job)
	for _, id := range []string{"..", ".", "nobody", "a/b"} {
		_, found, err = r.client.Job(ctx, id)
		require.NoError(t, err, id)
		require.False(t, found, id)
	}
	require.NoError(t, r.client.Post(ctx, oddJob("u2", "d/1", 1)))
	require.NoError(t, r.client.Post(ctx, oddJob("u3", "..", 1)))
	jobs, err := r.client.Dispatch(ctx, "d/1")
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	require.Equal(t, "u1", jobs[0].UnitID)
	jobs, err = r.client.Dispatch(ctx, "nobody")
	require.NoError(t, err)
	require.Empty(t, jobs)
}

// conformClears: a clear echoes its scope, goes no further, and bars what it cleared.
func conformClears(t require.TestingT, ctx context.Context, r hubRig) {
	first := oddJob("u1", "d/1", 1)
	stale := ports.Rejected{Status: 409, Reason: "stale_intent"}
	cleared, err := r.client.ClearDispatch(ctx, "d/1")
	require.NoError(t, err)
	require.True(t, cleared.OK)
	require.Equal(t, 2, cleared.Cleared)
	echoed(t, "dispatch_id", "d/1", cleared.Scope.DispatchID)
	require.Nil(t, cleared.Scope.BookID)
	rejected(t, r.client.Post(ctx, first), stale)
	jobs, err := r.client.Dispatch(ctx, "..")
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	cleared, err = r.client.ClearBook(ctx, first.BookID)
	require.NoError(t, err)
	require.Equal(t, 1, cleared.Cleared)
	echoed(t, "book_id", first.BookID, cleared.Scope.BookID)
	rejected(t, r.client.Post(ctx, oddJob("u4", "d2", 1)), stale)
	require.NoError(t, r.client.Post(ctx, oddJob("u4", "d3", 2)))
	rejected(t, r.client.Post(ctx, oddJob("u5", "d4", 1)), stale) // overtaken by a higher fence
}

func echoed(t require.TestingT, name, want string, scope *string) {
	require.NotNil(t, scope, "the scope echo is missing: clear 200 names no %s", name)
	require.Equal(t, want, *scope)
}

// conformWorkers: a worker is given the oldest job, reports once or twice, and is told
// when the job is not its own any more.
func conformWorkers(t require.TestingT, ctx context.Context, r hubRig) {
	say := func(path, body string, want int) string {
		status, answer := r.ask(ctx, "POST", path, body)
		require.Equal(t, want, status, "%s %s", path, answer)
		return answer
	}
	require.NoError(t, r.client.Post(ctx, oddJob("u6", "d3", 2)))
	var claim hub.Claim
	require.NoError(t, json.Unmarshal([]byte(say("/workers/w%2F1/claim", `{"type":"image"}`, 200)), &claim))
	require.Equal(t, hub.Claim{Job: oddJob("u4", "d3", 2), Run: 1}, claim)
	say("/workers/w2/claim", `{"type":"audio"}`, 204)
	list, err := r.client.Workers(ctx)
	require.NoError(t, err)
	require.True(t, list[0].Busy)

	of := func(unit, verb string) string {
		return "/jobs/" + url.PathEscape(oddJob(unit, "", 0).JobID) + "/" + verb
	}
	say(of("u4", "progress"), `{"worker":"w/1","dispatch_id":"d3"}`, 204)
	say(of("u4", "progress"), `{"worker":"w2","dispatch_id":"d3"}`, 410)
	good := resultOf(claim.Job, "w/1")
	good.OK, good.Artifact = true, "a/b.png"
	say(of("u4", "result"), text(t, good), 204)
	say(of("u4", "result"), text(t, good), 204)
	stranger := good
	stranger.Worker = "w2"
	say(of("u4", "result"), text(t, stranger), 410)
	say("/workers/w%2F1/claim", `{"type":"image"}`, 200)
	bad := resultOf(oddJob("u6", "d3", 2), "w/1")
	bad.Code, bad.Message = "worker_out_of_memory", "CUDA out of memory"
	say(of("u6", "result"), text(t, bad), 204)
	require.Equal(t, []ports.JobResult{good, good, bad}, *r.results)

	jobs, err := r.client.Dispatch(ctx, "d3")
	require.NoError(t, err)
	require.Equal(t, []string{ports.JobDone, ports.JobFailed}, []string{jobs[0].State, jobs[1].State})
	require.Equal(t, bad, *jobs[1].Result)
	say(of("u4", "progress"), `{"worker":"w/1","dispatch_id":"d3"}`, 410)
}

// conformNos: what makes no sense, or has no key, does nothing and says why.
func conformNos(t require.TestingT, ctx context.Context, r hubRig) {
	rejected(t, r.client.Post(ctx, ports.Job{JobID: "x"}), ports.Rejected{Status: 400, Reason: "bad_request"})
	for _, route := range []string{"POST /workers/w/heartbeat", "POST /workers/w/claim", "POST /jobs/j/progress", "POST /jobs/j/result"} {
		method, path, _ := strings.Cut(route, " ")
		status, _ := r.ask(ctx, method, path, `{"type":`)
		require.Equal(t, 400, status, route)
		status, _ = r.ask(ctx, method, "!"+path, `{"type":"image"}`)
		require.Equal(t, 401, status, route)
	}
	for _, query := range []string{"", "?dispatch_id=", "?dispatch_id=d&book_id=b"} {
		status, _ := r.ask(ctx, "DELETE", "/queue/clear"+query, "")
		require.Equal(t, 400, status, query)
	}
	no := ports.Rejected{Status: 401, Reason: "unauthorized"}
	rejected(t, r.stranger.Post(ctx, oddJob("u9", "d9", 9)), no)
	_, _, err := r.stranger.Job(ctx, "j")
	rejected(t, err, no)
	_, err = r.stranger.Dispatch(ctx, "d")
	rejected(t, err, no)
	_, err = r.stranger.ClearDispatch(ctx, "d")
	rejected(t, err, no)
	_, err = r.stranger.Workers(ctx)
	rejected(t, err, no)
}

func oddJob(unit, dispatch string, fence int64) ports.Job {
	return ports.Job{JobID: "image:a%2Fb:c:..:" + unit + ":1", DispatchID: dispatch, BookID: "a/b&c=d", ChapterID: "c?#", SceneID: "..",
		Stage: "image", UnitID: unit, Generation: 1, Fence: fence, Version: 7, Payload: "<p>"}
}

func resultOf(j ports.Job, worker string) ports.JobResult {
	return ports.JobResult{JobID: j.JobID, DispatchID: j.DispatchID, BookID: j.BookID, ChapterID: j.ChapterID, SceneID: j.SceneID, Stage: j.Stage,
		UnitID: j.UnitID, Generation: j.Generation, Fence: j.Fence, Version: j.Version, Worker: worker}
}

func text(t require.TestingT, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// TestTrafficOfALife: all that an engine, the hub and its workers say to one another from
// a request to three finished stages, and while a job fails, is in the document.
func TestTrafficOfALife(t *testing.T) {
	c, err := contract.Load(hubContract)
	require.NoError(t, err)
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	books, tree := content.New(w), artifacts.New(w, nil)
	books.Set(ports.Scene{SceneID: ports.SceneID{Book: "a/b", Chapter: "..", Scene: "s?"}, Version: 3, Workspace: "w1",
		Layers: map[string]bool{asset.Audio: true, asset.Image: true, asset.Video: true},
		Units:  []ports.Unit{{ID: "u 1"}, {ID: "u2"}}, Segments: []ports.Unit{{ID: "0001"}}, Groups: []ports.VideoGroup{{ID: "g1", Units: []string{"u 1", "u2"}}}})
	h := hub.New(w, w.Process("hub"), hub.Options{APIKey: "secret"})
	checked := func(p *sim.Process) http.RoundTripper { return c.Transport(h.Transport(p)) }
	for _, stage := range asset.Stages() {
		workers.Start(w, tree, workers.Spec{Type: stage, N: 1, APIKey: "secret", Hub: checked})
	}
	w.Inject(sim.Rule{Effect: "oom", Count: 1, Match: func(c sim.CallName) bool { return c.Service == "worker" && c.Verb == "run" }})
	p := w.Process("e1")
	rt, finished := vfakes.Runtime{Process: p}, new(finishes)
	e := engine.New(engine.Config{}, engine.Deps{Runtime: rt, Redis: redis.New(w, redis.Options{}).Client(p), Content: books, Artifacts: tree,
		Media: media.New(w, tree), Observer: finished, Hub: httphub.New(rt, httphub.Options{BaseURL: "http://hub", APIKey: "secret", Client: &http.Client{Transport: checked(p)}})})
	callback := c.Transport(engineRoute(http.StatusNoContent))
	h.OnResult = func(r ports.JobResult) {
		req, err := http.NewRequest(http.MethodPost, "http://engine/callback", strings.NewReader(text(t, r)))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Api-Key", "secret")
		_, err = callback.RoundTrip(req)
		require.NoError(t, err)
		p.Go(p.Context(), "callback", func(ctx context.Context) { _ = e.Complete(ctx, r) })
	}
	p.Go(p.Context(), "run", e.Run)
	p.Go(p.Context(), "ask", func(ctx context.Context) {
		_ = rt.Sleep(ctx, time.Second)
		_, err := e.Request(ctx, engine.Target{Book: "a/b"})
		require.NoError(t, err)
		_ = rt.Sleep(ctx, 30*time.Minute)
		_, err = e.Regenerate(ctx, engine.Target{Book: "a/b"})
		require.NoError(t, err)
		_ = rt.Sleep(ctx, 30*time.Second)
		_, err = e.Cancel(ctx, engine.Target{Book: "a/b"})
		require.NoError(t, err)
	})
	w.RunFor(time.Hour)
	require.Empty(t, w.Failures())
	require.Empty(t, c.Problems())
	require.Contains(t, string(*finished), "failed")
	require.Contains(t, string(*finished), "a/b video ready")
	for _, answer := range []string{"post 202", "claim 200", "progress 204", "result 204", "heartbeat 204", "callback 204", "clear 200", "dispatch 200"} {
		require.Contains(t, c.Seen(), answer)
	}
}

// finishes notes how dispatches end.
type finishes string

// Observe implements ports.Observer.
func (f *finishes) Observe(e ports.Event) {
	if e, ok := e.(ports.Finish); ok {
		*f += finishes(fmt.Sprintf("%s %s %s\n", e.Stage.Book, e.Stage.Stage, e.Outcome))
	}
}

// engineRoute is the engine's side of a callback as far as the document says.
type engineRoute int

// RoundTrip implements http.RoundTripper.
func (status engineRoute) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(status), Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil))}, nil
}
