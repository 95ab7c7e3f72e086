package workers_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/sim"
)

// rig is a hub, workers, and a client that posts.
type rig struct {
	t       *testing.T
	w       *sim.World
	hub     *hub.Hub
	tree    *artifacts.Store
	pool    *workers.Pool
	client  *httphub.Client
	events  []hub.Event
	results []ports.JobResult
}

func newRig(t *testing.T, seed uint64, n int) *rig {
	w := sim.New(sim.Options{Seed: seed, Latency: map[string]sim.Latency{"hub": {Min: time.Millisecond, Max: 30 * time.Millisecond}}})
	t.Cleanup(w.Close)
	r := &rig{t: t, w: w, hub: hub.New(w, w.Process("hub"), hub.Options{}), tree: artifacts.New(w, nil)}
	r.hub.On(func(e hub.Event) { r.events = append(r.events, e) })
	r.hub.OnResult = func(res ports.JobResult) { r.results = append(r.results, res) }
	r.pool = workers.Start(w, r.tree, workers.Spec{Type: "image", N: n, Hub: r.hub.Transport})
	p := w.Process("engine")
	r.client = httphub.New(fakes.Runtime{Process: p}, httphub.Options{
		BaseURL: "http://hub", Client: &http.Client{Transport: r.hub.Transport(p)}})
	return r
}

func job(i int) ports.Job {
	unit := fmt.Sprintf("u%d", i)
	return ports.Job{JobID: "image:b:c:s:" + unit + ":1", DispatchID: "d1", BookID: "b", ChapterID: "c", SceneID: "s",
		Stage: "image", UnitID: unit, Generation: 1, Fence: 1, Version: 4, Path: unit + ".png"}
}

// post queues n jobs at 1 s, when the workers are known, and runs for d.
func (r *rig) post(n int, d time.Duration) {
	p := r.w.Process("engine")
	p.Go(p.Context(), "post", func(ctx context.Context) {
		_ = p.Sleep(ctx, time.Second)
		for i := range n {
			require.NoError(r.t, r.client.Post(ctx, job(i+1)))
		}
	})
	r.w.RunFor(d)
	require.Empty(r.t, r.w.Failures())
}

func (r *rig) inject(effect, param, subject string) {
	r.w.Inject(sim.Rule{ID: effect, Effect: effect, Param: param, Count: 1, Match: func(n sim.CallName) bool {
		return n.Service == "worker" && n.Verb == "run" && n.Subject == subject
	}})
}

func (r *rig) count(kind hub.Kind) int {
	n := 0
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func TestJobsAreDone(t *testing.T) {
	r := newRig(t, 1, 2)
	r.post(6, 10*time.Minute)
	require.Equal(t, 6, r.count(hub.Done))
	require.Len(t, r.results, 6)
	require.Len(t, r.tree.List(), 6)
	by := map[string]int{}
	for _, res := range r.results {
		by[res.Worker]++
		require.True(t, res.OK)
		require.Equal(t, res.UnitID+".png", res.Artifact)
		require.Equal(t, int64(4), res.Version)
	}
	require.Len(t, by, 2, "both work: %v", by)
	for _, f := range r.tree.List() {
		require.Positive(t, f.Size)
		require.Equal(t, int64(1), f.Generation)
	}
	require.Greater(t, r.count(hub.Progressed), 6)
}

// TestDurationBelongsToTheJob: another job, or another worker, does not change it.
func TestDurationBelongsToTheJob(t *testing.T) {
	took := func(workers, jobs int) time.Duration {
		r := newRig(t, 7, workers)
		var claimed, done time.Duration
		r.hub.On(func(e hub.Event) {
			switch {
			case e.Job.UnitID != "u1":
			case e.Kind == hub.Claimed:
				claimed = r.w.Elapsed()
			case e.Kind == hub.Done:
				done = r.w.Elapsed()
			}
		})
		r.post(jobs, time.Hour)
		return done - claimed
	}
	require.InDelta(t, took(1, 1).Seconds(), took(3, 5).Seconds(), 3, "but for the calls")
}

func TestEffects(t *testing.T) {
	const u1 = "b/c/s:image/u1"
	t.Run("oom", func(t *testing.T) {
		r := newRig(t, 1, 1)
		r.inject("oom", "", u1)
		r.post(1, 10*time.Minute)
		require.Len(t, r.results, 1)
		require.Equal(t, "worker_out_of_memory", r.results[0].Code)
		require.Empty(t, r.tree.List())
	})
	t.Run("fail", func(t *testing.T) {
		r := newRig(t, 1, 1)
		r.inject("fail", "invalid_asset", u1)
		r.inject("fail", "", "b/c/s:image/u2")
		r.post(2, 10*time.Minute)
		require.Equal(t, []string{"invalid_asset", "invalid_workflow"}, []string{r.results[0].Code, r.results[1].Code})
		require.Equal(t, 2, r.count(hub.Failed))
	})
	t.Run("half", func(t *testing.T) {
		r := newRig(t, 1, 1)
		r.inject("half", "", u1)
		r.post(1, 10*time.Minute)
		require.True(t, r.results[0].OK)
		require.Zero(t, r.tree.List()[0].Size)
	})
	t.Run("wrong", func(t *testing.T) {
		r := newRig(t, 1, 1)
		r.inject("wrong", "", "b/c/s:image/u2")
		r.post(2, 10*time.Minute)
		require.Equal(t, []string{"u1", "u1"}, []string{r.results[0].UnitID, r.results[1].UnitID})
		require.Equal(t, r.results[0].JobID, r.results[1].JobID)
		require.Equal(t, ports.JobDone, r.hub.Jobs()[1].State, "the hub believes it")
		require.Len(t, r.tree.List(), 2)
	})
	t.Run("duplicate", func(t *testing.T) {
		r := newRig(t, 1, 1)
		r.inject("duplicate", "", u1)
		r.post(1, 10*time.Minute)
		require.Len(t, r.results, 2)
		require.Equal(t, r.results[0], r.results[1])
		require.Equal(t, 1, r.count(hub.Done))
	})
	t.Run("crawl", func(t *testing.T) {
		r := newRig(t, 1, 1)
		r.inject("crawl", "", u1)
		r.post(1, 5*time.Minute)
		require.Empty(t, r.results)
		require.Greater(t, r.count(hub.Progressed), 20, "slow, but going on")
		r.w.RunFor(time.Hour)
		require.Len(t, r.results, 1)
	})
	t.Run("hang", func(t *testing.T) {
		r := newRig(t, 1, 1)
		r.inject("hang", "", u1)
		r.post(1, 2*time.Minute)
		progressed := r.count(hub.Progressed)
		r.w.RunFor(time.Hour)
		require.Equal(t, progressed, r.count(hub.Progressed))
		require.Zero(t, r.count(hub.Requeued), "it heartbeats")
		require.Equal(t, ports.JobRunning, r.hub.Jobs()[0].State)
	})
}

func TestCrashedWorkersJobIsRunByAnother(t *testing.T) {
	r := newRig(t, 1, 2)
	r.inject("crash", "", "b/c/s:image/u1")
	r.post(1, 10*time.Minute)
	require.Equal(t, 1, r.count(hub.Requeued))
	require.Len(t, r.results, 1)
	require.Equal(t, 2, r.hub.Jobs()[0].Runs)
}

func TestJobFailsAfterThreeRuns(t *testing.T) {
	r := newRig(t, 1, 4)
	r.w.Inject(sim.Rule{ID: "crash", Effect: "crash", Match: func(n sim.CallName) bool { return n.Service == "worker" }})
	r.post(1, 20*time.Minute)
	require.Len(t, r.results, 1)
	require.Equal(t, "worker_crashed", r.results[0].Code)
	require.Equal(t, 3, r.hub.Jobs()[0].Runs)
	alive := slices.DeleteFunc(r.pool.Processes(), func(p *sim.Process) bool { return !p.Alive() })
	require.Len(t, alive, 1)
}

// TestRestartedWorkerForgetsItsJob: it heartbeats again before the hub notices,
// and its next claim gives the job back.
func TestRestartedWorkerForgetsItsJob(t *testing.T) {
	r := newRig(t, 1, 1)
	r.post(1, 12*time.Second)
	require.Equal(t, 1, r.count(hub.Claimed))
	r.pool.Restart(r.pool.Processes()[0])
	r.w.RunFor(10 * time.Minute)
	require.Equal(t, "forgotten", r.events[slices.IndexFunc(r.events, func(e hub.Event) bool { return e.Kind == hub.Requeued })].Reason)
	require.Len(t, r.results, 1)
	require.True(t, r.results[0].OK)
}

func TestResize(t *testing.T) {
	r := newRig(t, 1, 0)
	r.pool.Resize(2)
	r.post(2, 10*time.Minute)
	require.Len(t, r.results, 2)
	r.pool.Resize(1)
	require.Len(t, r.pool.Processes(), 1)
	require.False(t, r.w.Process("image-2").Alive())
	r.pool.Resize(2)
	require.Equal(t, "image-2.2", r.w.Process("image-2").Incarnation())
}

func TestGoneJobIsDropped(t *testing.T) {
	r := newRig(t, 1, 1)
	p := r.w.Process("engine")
	p.Go(p.Context(), "clear", func(ctx context.Context) {
		_ = p.Sleep(ctx, 15*time.Second)
		cleared, err := r.client.ClearDispatch(ctx, "d1")
		require.NoError(t, err)
		require.Equal(t, 2, cleared.Cleared)
	})
	r.post(2, 10*time.Minute)
	require.Equal(t, 1, r.count(hub.Claimed))
	require.Empty(t, r.results)
	require.Empty(t, r.tree.List())
}

func TestSameSeedSameTrace(t *testing.T) {
	run := func(seed uint64) string {
		r := newRig(t, seed, 3)
		for _, rule := range []sim.Rule{
			{ID: "a", Effect: "lost", Rate: 0.1, Match: func(n sim.CallName) bool { return n.Service == "hub" && n.Verb != "post" }},
			{ID: "b", Effect: "crash", Rate: 0.05, Match: func(n sim.CallName) bool { return n.Service == "worker" }},
			{ID: "c", Effect: "restart", NthMin: 300, NthMax: 300, Match: func(n sim.CallName) bool { return n.Service == "hub" }},
		} {
			r.w.Inject(rule)
		}
		r.post(12, 2*time.Hour)
		require.Empty(t, slices.DeleteFunc(r.w.Unfired(), func(rule sim.Rule) bool { return rule.ID == "b" }))
		return r.w.Trace().Digest()
	}
	for seed := range uint64(4) {
		require.Equal(t, run(seed), run(seed))
	}
	require.NotEqual(t, run(1), run(2))
}

// BenchmarkIdleHour is the price of one idle worker for an hour.
func BenchmarkIdleHour(b *testing.B) {
	w := sim.New(sim.Options{Keep: 100, Steps: 1 << 40})
	defer w.Close()
	h := hub.New(w, w.Process("hub"), hub.Options{})
	workers.Start(w, artifacts.New(w, nil), workers.Spec{Type: "image", N: 1, Hub: h.Transport})
	for b.Loop() {
		w.RunFor(time.Hour)
	}
	b.ReportMetric(float64(h.Requests())/float64(b.N), "requests/hour")
}
