package outcome_test

import (
	"regexp"
	"slices"
	"time"

	"github.com/animastor/orchestra/engine/outcome"
)

// What follows is the design's table 5.3 and the failure rules of spec runtime 6,
// written a second time and in another way, to check the package against.

var (
	capacity   = []string{"no_worker_available", "duplicate_pending", "ambiguous_post", "intent_receipt_unavailable"}
	idempotent = []string{"already_completed"}
	fence      = []string{"stale_intent", "receipt_conflict", "intent_not_active", "intent_corrupt", "intent_missing"}
	retryable  = []string{
		"no_jobs_sent", "no_jobs_generated", "send_failed",
		"deferred_capacity", "backoff", "duplicate", "circuit_open", "half_open_limit", "backpressure", "image_not_ready",
		"dispatch_error", "job_failed", "artifact_missing", "stale_version", "edited", "lost",
	}
	terminal  = []string{"cancelled", "not_dispatchable", "retry_budget_exhausted", "blocked_by_image", "scene_not_found", "no_segments"}
	deferring = slices.Concat(capacity, idempotent, fence)
	known     = slices.Concat(deferring, retryable, terminal)
)

// naive classifies counts, or reports that it cannot.
func naive(counts []outcome.Count) (v outcome.Verdict, ok bool) {
	if len(counts) == 0 {
		return outcome.Verdict{Reason: "no_jobs_sent", Bucket: "immediate", Retryable: true}, true
	}
	total := map[string]int{}
	var deferred, others []outcome.Count
	for _, c := range counts {
		if total[c.Reason] != 0 || c.N <= 0 || !slices.Contains(known, c.Reason) {
			return v, false
		}
		total[c.Reason] = c.N
		if slices.Contains(deferring, c.Reason) {
			deferred = append(deferred, c)
		} else {
			others = append(others, c)
		}
	}
	candidates := others
	if len(others) == 0 {
		candidates = deferred
		v.Deferred, v.Window = true, 900*time.Second
		for _, reason := range capacity {
			if total[reason] > 0 {
				v.Window = 60 * time.Second
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b outcome.Count) int { return b.N - a.N })
	v.Reason = candidates[0].Reason
	switch {
	case slices.Contains(capacity, v.Reason):
		v.Bucket, v.Retryable = "capacity", true
	case slices.Contains(idempotent, v.Reason):
		v.Bucket = "idempotent"
	case slices.Contains(fence, v.Reason):
		v.Bucket = "fence-rejected"
	default:
		v.Bucket, v.Retryable = "immediate", slices.Contains(retryable, v.Reason)
	}
	return v, true
}

// codeClass holds the class of every typed code.
var codeClass = map[string]string{
	"worker_crashed": "infrastructure", "worker_out_of_memory": "infrastructure", "disk_full": "infrastructure",
	"filesystem_error": "infrastructure", "ffmpeg_missing": "infrastructure", "redis_unavailable": "infrastructure", "lost": "infrastructure",
	"invalid_workflow": "permanent", "invalid_asset": "permanent", "invalid_scene_data": "permanent",
	"missing_required_field": "permanent", "corrupted_input": "permanent", "unsupported_format": "permanent",
	"invalid_transition": "orchestration", "duplicate_dispatch": "orchestration", "stale_lease": "orchestration",
	"token_mismatch": "orchestration", "counter_drift": "orchestration",
	"job_timeout": "transient", "upload_failed": "transient", "dependency_unavailable": "transient", "artifact_missing": "transient",
}

// textClass holds the patterns as 0.1.5 tried them, in order.
var textClass = []struct {
	pattern *regexp.Regexp
	class   string
}{
	{regexp.MustCompile(`(?s)redis.*(unavailable|connection)|filesystem.*error|ffmpeg.*(missing|not.*found)|disk.*full|out.*of.*memory`), "infrastructure"},
	{regexp.MustCompile(`(?s)invalid.*workflow|invalid.*asset|corrupted|invalid.*scene.*data|missing.*required.*field|unsupported.*format|not.*found$`), "permanent"},
	{regexp.MustCompile(`(?s)invalid.*transition|duplicate.*dispatch|stale.*lease|counter.*drift|token.*mismatch`), "orchestration"},
}

// naiveFailure classifies a failure; message is in lower case.
func naiveFailure(code, message string) outcome.Failure {
	class := codeClass[code]
	for _, t := range textClass {
		if class == "" && t.pattern.MatchString(message) {
			class = t.class
		}
	}
	if class == "" && slices.Contains([]string{"EPERM", "EACCES", "ENOENT"}, code) {
		class = "permanent"
	}
	switch class {
	case "infrastructure":
		return outcome.Failure{Class: class, Retryable: true, Severity: "high"}
	case "permanent":
		return outcome.Failure{Class: class, Severity: "high"}
	case "orchestration":
		return outcome.Failure{Class: class, Severity: "medium"}
	}
	return outcome.Failure{Class: "transient", Retryable: true, Severity: "low"}
}
