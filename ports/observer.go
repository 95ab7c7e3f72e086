package ports

import "time"

// Observer is told what the engine did, as typed events, in the order in which it
// did it. In a world it writes the trace that the properties read; in production
// it writes logs and metrics. It must not block and must not fail.
type Observer interface {
	Observe(Event)
}

// Event is one thing that the engine did. The set is closed: one struct for each,
// all in this file.
type Event interface {
	event()
	// Kind is the low-cardinality name of the event, as it stands in a trace.
	Kind() string
}

// Intent: an explicit request, regenerate, reset, edit, cancel or delete took effect on a stage.
type Intent struct {
	Stage      StageID
	Op         string // request, regenerate, reset, edit, cancel, delete
	Generation int64  // the new one
	State      string // stage state after it
	Replaced   string // the live dispatch that it ended, if any
}

// Attempt: begin said yes. The metric `attempts` counts these.
type Attempt struct {
	Stage      StageID
	Dispatch   string
	Generation int64
	Fence      int64
	Jobs       []string // job ids that the dispatch holds
	Forced     bool
	Probe      bool // let through a half-open circuit
}

// Refusal: begin said no and wrote nothing. Edge is true for the first tick of a
// row of equal refusals of this process (journaled) and false for the others.
type Refusal struct {
	Stage  StageID
	Reason string
	Stored string // stored reason, when Reason is deferred_capacity
	Edge   bool
}

// JobOutcome: what became of one try to have one job accepted by the hub.
// Outcome is `sent`, `cached`, or a reason of engine/outcome.
type JobOutcome struct {
	Stage    StageID
	Dispatch string
	Job      string
	Outcome  string
	Final    bool  // what the dispatch is judged by, if it ends without progress
	Err      error // what the hub answered, where Outcome does not tell; for the first such job of a dispatch
}

// Result: accept answered for one unit's result.
type Result struct {
	Stage    StageID
	Dispatch string
	Job      string
	Verdict  string // accepted, last, duplicate, stale
}

// Finish: a dispatch ended, in this very step.
type Finish struct {
	Stage         StageID
	Dispatch      string
	Generation    int64
	Outcome       string // ready, failed, nothing, partial, cancelled, lost
	Reason        string
	Bucket        string
	WindowSeconds int64 // the window applied; 0: not deferred
	Deferred      bool
	Retryable     bool
	Sent          int    // jobs that the hub accepted, or whose artifact stood already: there was progress
	State         string // stage state after it
	Idle          int64  // zero-progress attempts in a row, this one included
	Budget        int64  // tokens left; -1: full
	Evidence      string // what it told the breaker: success, failure, or nothing
	Circuit       string // of the stage after it: closed, open, half_open
}

// Renewal: the answer to one renewal of a lease.
type Renewal struct {
	Stage    StageID
	Dispatch string
	Holder   string // in whose name; each adoption has its own
	Verdict  string // ok, not_owner, finished, error
	Stopped  bool   // no further renewal of this dispatch will run in its name
}

// Retired: a scene left the active index.
type Retired struct {
	Scene SceneID
}

// Swept: jobs were cleared at the hub, by dispatch or by book.
type Swept struct {
	Dispatch, Book             string // one of them
	Requested, Cleared, Failed int
	Err                        error // why one failed
}

// Journaled: n events were appended to the journal of a scene.
type Journaled struct {
	Scene  SceneID
	Events []string
}

// Delivered: the consumer took a result event, perhaps not for the first time.
type Delivered struct {
	Event ResultEvent
}

// Tick: one tick ended.
type Tick struct {
	Number  int64
	Skipped bool // another replica held the tick lock
	Summary Summary
}

// Summary is the count of a tick by outcome. A deferral is not an error.
type Summary struct {
	Active     int // scenes in the active index
	Processed  int // scenes looked at
	Dispatched int // stages whose jobs went out
	Deferred   int // stages with an open deferral, or newly deferred
	Throttled  int // stages refused by backpressure, backoff or the circuit
	Skipped    int // stages with a live dispatch, or nothing to do
	Completed  int // stages completed without a job, and scenes retired
	Running    int // dispatches still sending when the tick ended
	Errors     int // scenes or stages that failed for another reason
}

// Pass: one reconcile pass ended.
type Pass struct {
	Number     int64
	Skipped    bool   // another replica held the pass lock
	Fence      int64  // number of its lock; grows with each that is taken
	Cause      string // the source that made it incomplete (hub, pg, artifacts, content), or ""
	Suspicious bool   // it would have made most of what is ready again, and has not
	Report     Reconciled
}

// Reconciled is the count of what a reconcile pass did.
type Reconciled struct {
	Scenes   int // scenes looked at
	Live     int // dispatches that were live
	Proved   int // ready stages whose artifacts were asked for, and the answer could be read
	Fed      int // results of the hub handed in
	Adopted  int // dispatches that nobody renewed, and that go on
	Lost     int // those that the hub did not know, ended
	Released int // slots of dispatches that were over
	Purged   int // ended dispatches whose jobs were cleared at last
	Restored int // stages put back to where a tick finds them
	Moot     int // repairs that were not needed any more when they came
	Withheld int // repairs that an incomplete or suspicious pass left
	Errors   int // scenes and repairs that failed
}

// Restored: a reconcile pass put a stage back to where a tick finds it.
type Restored struct {
	Stage   StageID
	Verdict string // restored, indexed, dirty
}

// Slid: the window of a book's scope moved.
type Slid struct {
	Book, Scope string
	Claimed     []SceneID // taken into it, to be started
	Settled     []SceneID // left it
}

// Concluded: everything that was asked for of a book is settled. It is told from the
// outbox, where the step that ended the scope left it.
type Concluded struct {
	Book, Scope   string
	Ready, Failed int // scenes; failed: with a stage that failed
}

// Trouble: something best-effort failed, or one scene was isolated from a tick.
type Trouble struct {
	Scene SceneID
	Op    string
	Err   error
}

// Started: an engine began to run (first tick due after Delay).
type Started struct {
	Delay time.Duration
}

func (Intent) event()     {}
func (Attempt) event()    {}
func (Refusal) event()    {}
func (JobOutcome) event() {}
func (Result) event()     {}
func (Finish) event()     {}
func (Renewal) event()    {}
func (Retired) event()    {}
func (Swept) event()      {}
func (Journaled) event()  {}
func (Delivered) event()  {}
func (Tick) event()       {}
func (Pass) event()       {}
func (Restored) event()   {}
func (Slid) event()       {}
func (Concluded) event()  {}
func (Trouble) event()    {}
func (Started) event()    {}

// Kind implements Event.
func (Intent) Kind() string { return "intent" }

// Kind implements Event.
func (Attempt) Kind() string { return "attempt" }

// Kind implements Event.
func (Refusal) Kind() string { return "refusal" }

// Kind implements Event.
func (JobOutcome) Kind() string { return "job" }

// Kind implements Event.
func (Result) Kind() string { return "result" }

// Kind implements Event.
func (Finish) Kind() string { return "finish" }

// Kind implements Event.
func (Renewal) Kind() string { return "renewal" }

// Kind implements Event.
func (Retired) Kind() string { return "retired" }

// Kind implements Event.
func (Swept) Kind() string { return "swept" }

// Kind implements Event.
func (Journaled) Kind() string { return "journal" }

// Kind implements Event.
func (Delivered) Kind() string { return "delivered" }

// Kind implements Event.
func (Tick) Kind() string { return "tick" }

// Kind implements Event.
func (Pass) Kind() string { return "pass" }

// Kind implements Event.
func (Restored) Kind() string { return "restored" }

// Kind implements Event.
func (Slid) Kind() string { return "slid" }

// Kind implements Event.
func (Concluded) Kind() string { return "concluded" }

// Kind implements Event.
func (Trouble) Kind() string { return "trouble" }

// Kind implements Event.
func (Started) Kind() string { return "started" }
