package metrics

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
)

type deaf struct{}

func (deaf) Observe(ports.Event) {}

var image = ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image")

// every holds one event of each kind that is counted.
var every = []ports.Event{
	ports.Intent{Stage: image, Op: "request"}, ports.Attempt{Stage: image, Forced: true}, ports.Attempt{Stage: image, Probe: true},
	ports.Refusal{Stage: image, Reason: "backoff"}, ports.JobOutcome{Stage: image, Outcome: "sent"},
	ports.JobOutcome{Stage: image, Outcome: "send_failed", Final: true}, ports.Result{Stage: image, Verdict: "last"},
	ports.Finish{Stage: image, Outcome: "ready"}, ports.Finish{Stage: image, Outcome: "nothing", Reason: "no_worker_available", Deferred: true},
	ports.Renewal{Stage: image, Verdict: "ok"}, ports.Restored{Stage: image, Verdict: "indexed"},
	ports.Slid{Claimed: []ports.SceneID{{}, {}}}, ports.Concluded{}, ports.Retired{}, ports.Swept{Requested: 1, Cleared: 3}, ports.Journaled{Events: []string{"A", "B"}},
	ports.Delivered{Event: ports.ResultEvent{Kind: "ready"}},
	ports.Tick{Summary: ports.Summary{Active: 7}}, ports.Tick{Skipped: true},
	ports.Pass{Report: ports.Reconciled{Fed: 2, Scenes: 9}}, ports.Pass{Cause: "hub"}, ports.Pass{Suspicious: true}, ports.Pass{Skipped: true},
	ports.Trouble{Op: "begin", Err: errors.New("down")}, ports.Started{},
}

func TestEveryEventIsCounted(t *testing.T) {
	r := New(deaf{})
	for _, e := range every {
		r.Observe(e)
	}
	var counted []Sample
	for _, s := range r.Snapshot() {
		name, known := NameOf(s.Name)
		require.True(t, known, s.Name)
		require.Equal(t, name.Stage, s.Stage != "", "%s by stage", s.Name)
		require.Equal(t, name.Label != "", s.Label != "", "%s by label", s.Name)
		if !name.Gauge {
			counted = append(counted, s)
		}
	}
	require.Equal(t, []Sample{
		{"attempts", "image", "forced", 1}, {"attempts", "image", "probe", 1}, {"refusals", "image", "backoff", 1},
		{"jobs", "image", "sent", 1}, {"results", "image", "last", 1}, {"finishes", "image", "nothing", 1}, {"finishes", "image", "ready", 1},
		{"finish_reasons", "image", "no_worker_available", 1}, {"deferrals", "image", "no_worker_available", 1},
		{"intents", "image", "request", 1}, {"renewals", "image", "ok", 1}, {"restored", "image", "indexed", 1},
		{"ticks", "", "done", 1}, {"ticks", "", "skipped", 1},
		{"passes", "", "complete", 1}, {"passes", "", "incomplete", 1}, {"passes", "", "skipped", 1}, {"passes", "", "suspicious", 1}, {"repairs", "", "fed", 2},
		{"retired", "", "", 1}, {"window_scenes", "", "claimed", 2}, {"finales", "", "", 1}, {"swept", "", "cleared", 3}, {"swept", "", "requested", 1}, {"journaled", "", "", 2},
		{"delivered", "", "ready", 1}, {"troubles", "", "begin", 1},
	}, counted)
	require.Contains(t, r.Snapshot(), Sample{"tick_scenes", "", "active", 7})
	for _, n := range Names() { // none is declared that nothing feeds (WM5)
		require.True(t, n.Gauge || slices.ContainsFunc(counted, func(s Sample) bool { return s.Name == n.Name }), n.Name)
	}
}

func TestNames(t *testing.T) {
	_, known := NameOf("nothing")
	require.False(t, known)
	seen := map[string]bool{}
	for _, n := range Names() {
		require.False(t, seen[n.Name], n.Name)
		require.NotEmpty(t, n.Doc, n.Name)
		seen[n.Name] = true
	}
}
