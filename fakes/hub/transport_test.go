package hub_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// on is a rule about the calls of one verb.
func on(verb, effect string) sim.Rule {
	return sim.Rule{ID: effect, Effect: effect, Match: func(n sim.CallName) bool { return n.Service == "hub" && n.Verb == verb }}
}

func TestNamesOfCalls(t *testing.T) {
	r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		j := job("a:b", 1)
		j.JobID, j.SceneID = "image:b:c:a%2Fb:a%3Ab:1", "a/b"
		_, _, _ = r.client.Job(ctx, j.JobID)
		_, _ = r.client.ClearDispatch(ctx, j.DispatchID)
		r.heartbeat(ctx, "w1")
		j.DispatchID = "d2"
		require.NoError(t, r.client.Post(ctx, j))
		c := r.claim(ctx, "w1")
		r.progress(ctx, "w1", c.Job)
		r.report(ctx, "w1", c.Job, true)
		_, _, _ = r.client.Job(ctx, j.JobID)
		_, _ = r.client.Dispatch(ctx, j.DispatchID)
		_, _ = r.client.ClearDispatch(ctx, j.DispatchID)
		_, _ = r.client.ClearBook(ctx, "b/1")
		_, _ = r.client.Workers(ctx)
	})
	var calls []string
	for _, e := range r.w.Trace().Last(1000) {
		if e.Kind == "call" {
			calls = append(calls, e.Detail+" "+e.Subject+" -> "+e.Outcome)
		}
	}
	require.Equal(t, []string{
		`hub.job  -> 404`,
		`hub.clear  -> 200`,
		`hub.heartbeat w1 -> 204`,
		`hub.post b/c/"a/b":image/"a:b" -> 202`,
		`hub.claim w1 -> 200`,
		`hub.progress b/c/"a/b":image/"a:b" -> 204`,
		`hub.result b/c/"a/b":image/"a:b" -> 204`,
		`hub.job b/c/"a/b":image/"a:b" -> 200`,
		`hub.dispatch b/c/"a/b":image -> 200`,
		`hub.clear b/c/"a/b":image -> 200`,
		`hub.clear "b/1" -> 200`,
		`hub.workers  -> 200`,
	}, calls)
	require.Equal(t, len(calls), r.hub.Requests())
}

// TestOddIds: no id is taken for a part of the path.
func TestOddIds(t *testing.T) {
	in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		for _, id := range []string{".", "..", "a/b", "../jobs", "a//b/", "%2F", "a?b#c", "ä b+c", "\x01;=&"} {
			j := job("u1", 1)
			j.JobID, j.DispatchID = id, id
			require.NoError(t, r.client.Post(ctx, j), "%q", id)
			got, found, err := r.client.Job(ctx, id)
			require.NoError(t, err, "%q", id)
			require.True(t, found, "%q", id)
			require.Equal(t, j, got.Job)
			list, err := r.client.Dispatch(ctx, id)
			require.NoError(t, err)
			require.Len(t, list, 1, "%q", id)
			cleared, err := r.client.ClearDispatch(ctx, id)
			require.NoError(t, err)
			require.Equal(t, id, *cleared.Scope.DispatchID)
			require.Equal(t, 1, cleared.Cleared)
		}
	})
}

// What would end by the wall clock would never end in a world that hangs.
func TestADeadlineOfTheWallClockFails(t *testing.T) {
	none := func(_ *sim.Process, ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
	for _, c := range []struct {
		name    string
		timeout time.Duration // of the client
		under   func(*sim.Process, context.Context) (context.Context, context.CancelFunc)
		fails   bool
	}{
		{"of the client", time.Hour, none, true},
		{"of the client, behind one that is virtual", time.Hour, func(p *sim.Process, ctx context.Context) (context.Context, context.CancelFunc) {
			return p.WithTimeout(ctx, time.Minute)
		}, true},
		{"of the context", 0, func(_ *sim.Process, ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		}, true},
		{"of the process", 0, func(p *sim.Process, ctx context.Context) (context.Context, context.CancelFunc) {
			return p.WithTimeout(ctx, time.Minute)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := sim.New(sim.Options{})
			t.Cleanup(w.Close)
			w.Inject(on("workers", "hang"))
			p := w.Process("p")
			client := &http.Client{Transport: hub.New(w, w.Process("hub"), hub.Options{}).Transport(p), Timeout: c.timeout}
			p.Go(p.Context(), "main", func(ctx context.Context) {
				ctx, cancel := c.under(p, ctx)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://hub/workers", http.NoBody)
				require.NoError(t, err)
				_, err = client.Do(req)
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			})
			w.RunFor(time.Hour)
			if !c.fails {
				require.Empty(t, w.Failures())
				return
			}
			require.Len(t, w.Failures(), 1)
			require.ErrorContains(t, w.Failures()[0], "p/main: clock: hub.workers has a deadline of the wall clock")
		})
	}
}

func TestEffectsOnAPost(t *testing.T) {
	tests := []struct {
		rule   sim.Rule
		status int  // of the rejection; -1: ambiguous
		queued bool // all the same
	}{
		{on("post", "refuse"), 0, false},
		{on("post", "down"), 0, false},
		{on("post", "lost"), -1, true},
		{on("post", "hang"), -1, false},
		{sim.Rule{ID: "late", Effect: "late", Delay: time.Minute, Match: on("post", "").Match}, -1, true},
		{sim.Rule{ID: "reject", Effect: "reject", Param: "422", Match: on("post", "").Match}, 422, false},
		{on("post", "reject"), 400, false},
		{on("post", "busy"), 503, false},
		{on("post", "error"), -1, false},
		{on("post", "garbage"), -1, true},
	}
	for _, test := range tests {
		t.Run(test.rule.Effect+test.rule.Param, func(t *testing.T) {
			r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
				r.heartbeat(ctx, "w1")
				err := r.client.Post(ctx, job("u1", 1))
				if test.status < 0 {
					require.ErrorIs(t, err, ports.ErrAmbiguous)
					return
				}
				var no *ports.Rejected
				require.ErrorAs(t, err, &no)
				require.NotErrorIs(t, err, ports.ErrAmbiguous)
				require.Equal(t, test.status, no.Status)
			}, test.rule)
			require.Equal(t, test.queued, r.hub.Live(job("u1", 1).JobID))
		})
	}
}

func TestStaleBody(t *testing.T) {
	second := on("job", "stale")
	second.NthMin, second.NthMax = 2, 2
	in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		require.NoError(t, r.client.Post(ctx, job("u1", 1)))
		var states []string
		for range 3 {
			s, _, err := r.client.Job(ctx, job("u1", 1).JobID)
			require.NoError(t, err)
			states = append(states, s.State)
			if len(states) == 1 {
				r.claim(ctx, "w1")
			}
		}
		require.Equal(t, []string{"queued", "queued", "running"}, states)
	}, second)
}

func TestRestartLosesTheQueue(t *testing.T) {
	lost := func(restart func(*rig), rules ...sim.Rule) {
		r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
			r.heartbeat(ctx, "w1")
			require.NoError(t, r.client.Post(ctx, job("u1", 1)))
			require.NoError(t, r.client.Post(ctx, job("u2", 1)))
			c := r.claim(ctx, "w1")
			restart(r)
			list, err := r.client.Dispatch(ctx, "d1")
			require.NoError(t, err)
			require.Empty(t, list)
			require.Equal(t, 410, r.report(ctx, "w1", c.Job, true))
			require.NoError(t, r.client.Post(ctx, job("u1", 1)), "workers are kept")
		}, rules...)
		require.Subset(t, r.events, []string{"lost u1", "lost u2"})
	}
	lost(func(*rig) {}, on("dispatch", "restart"))
	lost(func(r *rig) { r.w.Process("hub").Restart() })
}

func TestHubProcessIsAway(t *testing.T) {
	in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		h := r.w.Process("hub")
		h.Pause()
		before := r.w.Elapsed()
		_, err := r.client.Workers(ctx)
		require.ErrorIs(t, err, ports.ErrAmbiguous)
		require.Equal(t, 10*time.Second, r.w.Elapsed()-before, "the deadline of the client")
		h.Resume()
		_, err = r.client.Workers(ctx)
		require.NoError(t, err)
		h.Crash()
		var no *ports.Rejected
		_, err = r.client.Workers(ctx)
		require.ErrorAs(t, err, &no)
	})
}

// TestCallerCrashes: net/http and httpmock let the end of a process through.
func TestCallerCrashes(t *testing.T) {
	for _, after := range []bool{false, true} {
		w := sim.New(sim.Options{Latency: map[string]sim.Latency{"hub": {Min: time.Millisecond, Max: time.Millisecond}}})
		rule := on("heartbeat", "crash")
		rule.After = after
		w.Inject(rule)
		p, h := w.Process("p"), hub.New(w, w.Process("hub"), hub.Options{})
		p.Go(p.Context(), "main", func(ctx context.Context) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://hub/workers/w1/heartbeat", strings.NewReader(`{"type":"image"}`))
			require.NoError(t, err)
			_, err = (&http.Client{Transport: h.Transport(p)}).Do(req)
			t.Errorf("a dead process goes on: %v", err)
		})
		w.RunFor(time.Minute)
		require.False(t, p.Alive())
		require.Empty(t, w.Failures())
		require.Equal(t, after, h.Requests() == 1, "carried out before the crash")
		w.Close()
	}
}

// TestErrorsOfTheNetwork: net/http's users look for these.
func TestErrorsOfTheNetwork(t *testing.T) {
	for effect, want := range map[string]error{
		"refuse": syscall.ECONNREFUSED, "lost": syscall.ECONNRESET, "hang": os.ErrDeadlineExceeded,
	} {
		in(t, hub.Options{}, func(ctx context.Context, r *rig) {
			ctx, cancel := r.p.WithTimeout(ctx, time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://hub/workers", nil)
			require.NoError(t, err)
			_, err = r.http.Do(req)
			require.ErrorIs(t, err, want)
			require.True(t, errors.Is(err, sim.ErrRefused) || errors.Is(err, sim.ErrReset) || errors.Is(err, sim.ErrDeadline))
			cancel()
			_, err = r.http.Do(req)
			require.ErrorIs(t, err, ctx.Err(), "a request whose context has ended is not made")
		}, on("workers", effect))
	}
}

func TestUnknownEffectIsReported(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	w.Inject(on("workers", "melt"))
	p, h := w.Process("p"), hub.New(w, w.Process("hub"), hub.Options{})
	p.Go(p.Context(), "main", func(context.Context) {
		req, _ := http.NewRequest(http.MethodGet, "http://hub/workers", nil)
		_, _ = (&http.Client{Transport: h.Transport(p)}).Do(req)
	})
	w.RunFor(time.Second)
	require.Len(t, w.Failures(), 1)
	require.Contains(t, w.Failures()[0].Message, "melt")
}

// TestEventsAreInTheTrace: a property reads them there, with their typed form.
func TestEventsAreInTheTrace(t *testing.T) {
	r := in(t, hub.Options{}, func(ctx context.Context, r *rig) {
		r.heartbeat(ctx, "w1")
		require.NoError(t, r.client.Post(ctx, job("u1", 1)))
		r.claim(ctx, "w1")
	})
	var lines []string
	for _, e := range r.w.Trace().Last(1000) {
		if event, ok := e.Data.(hub.Event); ok {
			require.Equal(t, "hub", e.Kind)
			require.Equal(t, job("u1", 1), event.Job)
			lines = append(lines, strings.Join([]string{e.Process, e.Subject, e.Detail}, " "))
		}
	}
	require.True(t, slices.Equal([]string{"hub b/c/s:image/u1 accepted", "hub b/c/s:image/u1 claimed w1 run 1"}, lines), "%q", lines)
}
