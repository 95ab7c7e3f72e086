package outcome_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/outcome"
)

// TestTable: each reason alone gives the row of design 5.3 that the naive table
// holds, from Lookup, Window and Classify alike, and there is no other reason.
func TestTable(t *testing.T) {
	listed := []string{}
	for _, e := range outcome.Table() {
		listed = append(listed, e.Reason)
		require.NotEmpty(t, e.Arises, e.Reason)
	}
	require.ElementsMatch(t, known, listed)
	for _, reason := range known {
		want, ok := naive([]outcome.Count{{Reason: reason, N: 1}})
		require.True(t, ok)
		e, ok := outcome.Lookup(reason)
		require.True(t, ok, reason)
		require.Equal(t, want, outcome.Verdict{Reason: e.Reason, Bucket: e.Bucket, Window: e.Window, Deferred: e.Deferred, Retryable: e.Retryable})
		require.Equal(t, want.Window, outcome.Window(reason))
		require.Equal(t, want.Deferred, outcome.Deferrable(reason))
		got, err := outcome.Classify([]outcome.Count{{Reason: reason, N: 1}})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestUnknownReason(t *testing.T) {
	for _, reason := range []string{"", "No_Worker_Available", " no_jobs_sent", "deferred"} {
		_, ok := outcome.Lookup(reason)
		require.False(t, ok, reason)
		require.Zero(t, outcome.Window(reason))
		require.False(t, outcome.Deferrable(reason))
	}
}

// TestClassify holds the cases that the audits named.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []outcome.Count
		want   outcome.Verdict
	}{
		{"nothing was tried", nil, outcome.Verdict{Reason: "no_jobs_sent", Bucket: "immediate", Retryable: true}},
		{
			"M3: two reasons that defer", []outcome.Count{{"no_worker_available", 3}, {"duplicate_pending", 1}},
			outcome.Verdict{"no_worker_available", "capacity", time.Minute, true, true},
		},
		{
			"one that does not defer", []outcome.Count{{"no_worker_available", 3}, {"send_failed", 1}},
			outcome.Verdict{"send_failed", "immediate", 0, false, true},
		},
		{
			"DF3: the frequent one does not set the window", []outcome.Count{{"already_completed", 5}, {"no_worker_available", 1}},
			outcome.Verdict{"already_completed", "idempotent", time.Minute, true, false},
		},
		{
			"M4: no capacity reason", []outcome.Count{{"stale_intent", 1}, {"already_completed", 2}},
			outcome.Verdict{"already_completed", "idempotent", 15 * time.Minute, true, false},
		},
		{
			"the first seen wins a tie", []outcome.Count{{"stale_intent", 2}, {"ambiguous_post", 2}},
			outcome.Verdict{"stale_intent", "fence-rejected", time.Minute, true, false},
		},
		{
			"the most frequent of those that do not defer", []outcome.Count{{"no_worker_available", 9}, {"send_failed", 1}, {"dispatch_error", 2}},
			outcome.Verdict{"dispatch_error", "immediate", 0, false, true},
		},
		{
			"terminal", []outcome.Count{{"scene_not_found", 1}},
			outcome.Verdict{"scene_not_found", "immediate", 0, false, false},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := outcome.Classify(c.counts)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestClassifyRefuses(t *testing.T) {
	good := outcome.Count{Reason: "send_failed", N: 1}
	for _, c := range []struct {
		bad     outcome.Count
		problem string
	}{
		{outcome.Count{Reason: "stale_intent", N: 0}, "a count is at least 1"},
		{outcome.Count{Reason: "stale_intent", N: -1}, "a count is at least 1"},
		{outcome.Count{Reason: "generation_error", N: 1}, "unknown reason; add it to the table of package outcome"},
		{good, "counted twice; use a Tally"},
	} {
		_, err := outcome.Classify([]outcome.Count{good, c.bad})
		var got *outcome.CountError
		require.ErrorAs(t, err, &got)
		require.Equal(t, outcome.CountError{Count: c.bad, Problem: c.problem}, *got)
	}
}

// drawCounts draws valid counts, with ties often.
func drawCounts(t *rapid.T) []outcome.Count {
	reasons := rapid.SliceOfNDistinct(rapid.SampledFrom(known), 0, 6, rapid.ID[string]).Draw(t, "reasons")
	counts := make([]outcome.Count, len(reasons))
	for i, reason := range reasons {
		counts[i] = outcome.Count{Reason: reason, N: rapid.OneOf(rapid.IntRange(1, 4), rapid.IntRange(1, math.MaxInt)).Draw(t, "n")}
	}
	return counts
}

// TestClassifyTotal: valid counts always have a verdict, and it is a row of the table
// with a window of 0, 60 or 900 s.
func TestClassifyTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := drawCounts(t)
		got, err := outcome.Classify(counts)
		require.NoError(t, err)
		want, ok := naive(counts)
		require.True(t, ok)
		require.Equal(t, want, got)
		e, ok := outcome.Lookup(got.Reason)
		require.True(t, ok)
		require.Equal(t, e.Bucket, got.Bucket)
		require.Contains(t, []time.Duration{0, time.Minute, 15 * time.Minute}, got.Window)
		require.Equal(t, got.Deferred, got.Window > 0)
	})
}

// TestClassifyOrder: order decides nothing but the reported reason among equals, and
// there the first seen wins.
func TestClassifyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := drawCounts(t)
		shuffled := rapid.Permutation(counts).Draw(t, "shuffled")
		a, err := outcome.Classify(counts)
		require.NoError(t, err)
		b, err := outcome.Classify(shuffled)
		require.NoError(t, err)
		require.Equal(t, a.Deferred, b.Deferred)
		require.Equal(t, a.Window, b.Window)
		if a.Reason == b.Reason {
			require.Equal(t, a, b)
			return
		}
		n := func(reason string) int {
			return counts[slices.IndexFunc(counts, func(c outcome.Count) bool { return c.Reason == reason })].N
		}
		at := func(counts []outcome.Count, reason string) int {
			return slices.IndexFunc(counts, func(c outcome.Count) bool { return c.Reason == reason })
		}
		require.Equal(t, n(a.Reason), n(b.Reason), "only a tie may be decided by order")
		require.Less(t, at(counts, a.Reason), at(counts, b.Reason))
		require.Less(t, at(shuffled, b.Reason), at(shuffled, a.Reason))
	})
}

// TestClassifyNeverDefersWhenOneDoesNot: one job that may be tried at once frees the
// whole stage, however many others would wait.
func TestClassifyNeverDefersWhenOneDoesNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.SampledFrom(slices.Concat(retryable, terminal)).Draw(t, "free")
		counts := slices.DeleteFunc(drawCounts(t), func(c outcome.Count) bool { return c.Reason == free })
		at := rapid.IntRange(0, len(counts)).Draw(t, "at")
		counts = slices.Insert(counts, at, outcome.Count{Reason: free, N: 1})
		v, err := outcome.Classify(counts)
		require.NoError(t, err)
		require.False(t, v.Deferred)
		require.Zero(t, v.Window)
		require.False(t, outcome.Deferrable(v.Reason), "%s is reported, and it does defer", v.Reason)
	})
}

// TestTally: adding reasons one at a time counts each, in the order first seen.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reasons := rapid.SliceOf(rapid.SampledFrom(known)).Draw(t, "reasons")
		var tally outcome.Tally
		for _, reason := range reasons {
			tally.Add(reason)
		}
		total, last := 0, -1
		for _, c := range tally.Counts() {
			total += c.N
			first := slices.Index(reasons, c.Reason)
			require.Greater(t, first, last, "%s is out of order or counted twice", c.Reason)
			last = first
		}
		require.Equal(t, len(reasons), total)
		_, err := outcome.Classify(tally.Counts())
		require.NoError(t, err)
	})
}

func TestBackoff(t *testing.T) {
	for idle, seconds := range map[int64]time.Duration{
		math.MinInt64: 0, -1: 0, 0: 0, 1: 0, 2: 0, 3: 10, 4: 20, 5: 40, 6: 60, 7: 60, 66: 60, 67: 60, math.MaxInt64: 60,
	} {
		require.Equal(t, seconds*time.Second, outcome.Backoff(idle), "after %d", idle)
	}
}

func TestFailureCodes(t *testing.T) {
	listed := map[string]string{}
	for _, c := range outcome.Codes() {
		listed[c.Code] = c.Class
		// The message decides nothing where there is a code (RB8).
		for _, message := range []string{"", "not found", "invalid workflow", "out of memory"} {
			require.Equal(t, c.Failure, outcome.ClassifyFailure(c.Code, message))
		}
		require.Equal(t, naiveFailure(c.Code, ""), c.Failure)
	}
	require.Equal(t, codeClass, listed)
	require.Len(t, outcome.Codes(), len(listed), "a code is listed twice")
}

func TestForeignFailures(t *testing.T) {
	for _, c := range []struct{ code, message, class string }{
		{"", "", "transient"},
		{"", "Redis is unavailable", "infrastructure"},
		{"", "lost the connection to redis", "transient"}, // the words in the other order
		{"", "FFmpeg: codec not found", "infrastructure"},
		{"", "out\nof memory", "infrastructure"},
		{"", "workflow not found", "permanent"},
		{"", "found nothing", "transient"},
		{"", "not found here", "transient"}, // not at the end
		{"", "image_not_found", "permanent"},
		{"", "invalid transition", "orchestration"},
		{"", "invalid asset transition", "permanent"}, // permanent comes first
		{"", "token mismatch", "orchestration"},
		{"EACCES", "open /out: permission denied", "permanent"},
		{"EACCES", "disk is full", "infrastructure"}, // the message comes first
		{"ETIMEDOUT", "", "transient"},
		{"Worker_Crashed", "", "transient"}, // codes are exact
	} {
		require.Equal(t, c.class, outcome.ClassifyFailure(c.code, c.message).Class, "%s %q", c.code, c.message)
		require.Equal(t, naiveFailure(c.code, strings.ToLower(c.message)), outcome.ClassifyFailure(c.code, c.message))
	}
}
