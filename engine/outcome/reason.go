package outcome

import (
	"slices"
	"time"
)

// Why a job was not accepted by the hub, and the window that follows: the ten
// reasons that defer a stage, and the three that do not (design 5.3, schema 4).
const (
	NoWorkerAvailable        = "no_worker_available"
	DuplicatePending         = "duplicate_pending"
	AmbiguousPost            = "ambiguous_post"
	IntentReceiptUnavailable = "intent_receipt_unavailable"

	AlreadyCompleted = "already_completed"

	StaleIntent     = "stale_intent"
	ReceiptConflict = "receipt_conflict"
	IntentNotActive = "intent_not_active"
	IntentCorrupt   = "intent_corrupt"
	IntentMissing   = "intent_missing"

	NoJobsSent      = "no_jobs_sent"
	NoJobsGenerated = "no_jobs_generated"
	SendFailed      = "send_failed"
)

// Why begin refused (schema 3). A refusal writes nothing and opens no window.
const (
	Cancelled        = "cancelled"
	NotDispatchable  = "not_dispatchable"
	DeferredCapacity = "deferred_capacity"
	InBackoff        = "backoff"
	Duplicate        = "duplicate"
	CircuitOpen      = "circuit_open"
	HalfOpenLimit    = "half_open_limit"
	Backpressure     = "backpressure"
	ImageNotReady    = "image_not_ready"
)

// Why a dispatch or a stage ended otherwise.
const (
	DispatchError        = "dispatch_error"
	JobFailed            = "job_failed"
	ArtifactMissing      = "artifact_missing"
	StaleVersion         = "stale_version"
	Edited               = "edited"
	Lost                 = "lost"
	RetryBudgetExhausted = "retry_budget_exhausted"
	BlockedByImage       = "blocked_by_image"
	SceneNotFound        = "scene_not_found"
	NoSegments           = "no_segments"
)

// The buckets of reasons. Exactly the first three defer.
const (
	Capacity      = "capacity"
	Idempotent    = "idempotent"
	FenceRejected = "fence-rejected"
	Immediate     = "immediate" // no window: the next tick is free to try, if trying helps at all
)

const (
	shortWindow = 60 * time.Second  // capacity may come any moment
	longWindow  = 900 * time.Second // only an intent or a repair will change the answer
)

// Entry is what is known of a reason.
type Entry struct {
	Reason    string
	Bucket    string
	Window    time.Duration // how long a deferral for this reason alone lasts; 0: none
	Deferred  bool          // whether it opens a window
	Retryable bool          // whether trying the same again can help
	Arises    string        // where it comes from, for the documentation
}

// table is the taxonomy.
var table = []Entry{
	deferring(NoWorkerAvailable, Capacity, "hub 503, or no live worker of the type"),
	deferring(DuplicatePending, Capacity, "another dispatch holds the job: admit, or hub 409"),
	deferring(AmbiguousPost, Capacity, "the hub may have taken the job, and asking for 60 s did not tell"),
	deferring(IntentReceiptUnavailable, Capacity, "admit could not run"),
	deferring(AlreadyCompleted, Idempotent, "admit: the job is done in this generation"),
	deferring(StaleIntent, FenceRejected, "another generation or owner: admit, or hub 409"),
	deferring(ReceiptConflict, FenceRejected, "admit: this dispatch posted the job with another payload"),
	deferring(IntentNotActive, FenceRejected, "cancelled, or the intent is not active"),
	deferring(IntentCorrupt, FenceRejected, "the intent cannot be decoded"),
	deferring(IntentMissing, FenceRejected, "there is no intent"),
	immediate(NoJobsSent, true, "there are jobs, none was tried"),
	immediate(NoJobsGenerated, true, "the stage yields no job and is not complete"),
	immediate(SendFailed, true, "connection refused, or a 4xx of the hub"),

	immediate(Cancelled, false, "begin: the book is cancelled"),
	immediate(NotDispatchable, false, "begin: the state is not one that may be dispatched"),
	immediate(DeferredCapacity, true, "begin: a deferral is open; its own reason stands beside"),
	immediate(InBackoff, true, "begin: too early after attempts without progress"),
	immediate(Duplicate, true, "begin: a dispatch is live"),
	immediate(CircuitOpen, true, "begin: the breaker of the stage is open"),
	immediate(HalfOpenLimit, true, "begin: the breaker is half open and its permits are out"),
	immediate(Backpressure, true, "begin: all slots of the stage are taken"),
	immediate(ImageNotReady, true, "begin of video: the image stage of the scene is on its way"),

	immediate(DispatchError, true, "the executor failed"),
	immediate(JobFailed, true, "a worker reported a failure; its class says whether to retry"),
	immediate(ArtifactMissing, true, "a worker reported success and left no artifact"),
	immediate(StaleVersion, true, "the content was edited while the jobs ran, and what they made is of the old one"),
	immediate(Edited, true, "a unit was marked dirty after the dispatch had been planned"),
	immediate(Lost, true, "the holder or the worker went away, or made no progress in time"),
	immediate(RetryBudgetExhausted, false, "too many failures; an explicit intent resets the budget"),
	immediate(BlockedByImage, false, "video: the image stage failed"),
	immediate(SceneNotFound, false, "the book holds no such scene"),
	immediate(NoSegments, false, "audio: the scene has no speech, so it is ready without a file"),
}

// deferring makes the entry of a reason that opens a window: all that follows from
// the bucket.
func deferring(reason, bucket, arises string) Entry {
	window := longWindow
	if bucket == Capacity {
		window = shortWindow
	}
	return Entry{reason, bucket, window, true, bucket == Capacity, arises}
}

func immediate(reason string, retryable bool, arises string) Entry {
	return Entry{reason, Immediate, 0, false, retryable, arises}
}

// Table returns the whole taxonomy, in the order of the documentation.
func Table() []Entry { return slices.Clone(table) }

// Lookup returns the entry of a reason. Reasons are exact and case-sensitive.
func Lookup(reason string) (Entry, bool) {
	for i := range table {
		if table[i].Reason == reason {
			return table[i], true
		}
	}
	return Entry{}, false
}

// Window returns how long a deferral for this reason alone lasts: 60 s, 900 s, or 0
// for a reason that does not defer or is not known. What a mixture of reasons
// leads to is Classify's to say.
func Window(reason string) time.Duration {
	e, _ := Lookup(reason)
	return e.Window
}

// Deferrable reports whether the reason opens a window.
func Deferrable(reason string) bool {
	e, _ := Lookup(reason)
	return e.Deferred
}
