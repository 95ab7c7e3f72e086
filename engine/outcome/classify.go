package outcome

import (
	"fmt"
	"time"
)

// Count says how many jobs of a dispatch were not accepted for one reason.
type Count struct {
	Reason string
	N      int // > 0
}

// Verdict is what a dispatch that made no progress is finished with.
type Verdict struct {
	Reason    string        // the reported reason
	Bucket    string        // of the reported reason
	Window    time.Duration // the window applied; 0: not deferred
	Deferred  bool
	Retryable bool // of the reported reason
}

// CountError says that counts cannot be classified.
type CountError struct {
	Count   Count
	Problem string
}

func (e *CountError) Error() string {
	return fmt.Sprintf("outcome: classify %q: %d: %s", e.Count.Reason, e.Count.N, e.Problem)
}

// Classify makes one verdict of several reasons (design 5.3; audit 117 M3, DF3):
//
//   - If every reason defers, the stage is deferred. The most frequent reason is
//     reported, and the window is 60 s if any capacity reason is among them, else
//     900 s: five finished units must not delay the one that lacks a worker.
//   - If any reason does not defer, nothing is deferred, and the most frequent of
//     those that do not is reported: it is why the stage is free at the next tick.
//   - No counts at all means that nothing was tried: NoJobsSent.
//
// The first seen wins ties; otherwise the order does not matter. An unknown reason,
// a count below 1, or a reason counted twice is a *CountError (DF16, DF17).
func Classify(counts []Count) (Verdict, error) {
	if len(counts) == 0 {
		counts = []Count{{NoJobsSent, 1}}
	}
	deferred, window := true, longWindow
	for i, c := range counts {
		e, known := Lookup(c.Reason)
		switch {
		case !known:
			return Verdict{}, &CountError{c, "unknown reason; add it to the table of package outcome"}
		case c.N < 1:
			return Verdict{}, &CountError{c, "a count is at least 1"}
		case counted(counts[:i], c.Reason):
			return Verdict{}, &CountError{c, "counted twice; use a Tally"}
		}
		if !e.Deferred {
			deferred = false
		}
		if e.Bucket == Capacity {
			window = shortWindow
		}
	}
	if !deferred {
		window = 0
	}
	var reported Entry
	most := 0
	for _, c := range counts {
		if e, _ := Lookup(c.Reason); e.Deferred == deferred && c.N > most {
			reported, most = e, c.N
		}
	}
	return Verdict{reported.Reason, reported.Bucket, window, deferred, reported.Retryable}, nil
}

func counted(counts []Count, reason string) bool {
	for _, c := range counts {
		if c.Reason == reason {
			return true
		}
	}
	return false
}

// Tally counts reasons in the order in which they are first seen. The zero Tally
// is empty.
type Tally struct {
	counts []Count
}

// Add counts a reason once more.
func (t *Tally) Add(reason string) {
	for i := range t.counts {
		if t.counts[i].Reason == reason {
			t.counts[i].N++
			return
		}
	}
	t.counts = append(t.counts, Count{reason, 1})
}

// Counts returns what Classify takes.
func (t *Tally) Counts() []Count { return t.counts }

const (
	backoffFirst = 10 * time.Second
	backoffMax   = 60 * time.Second
	backoffFree  = 2 // attempts without progress in a row that cost nothing
)

// Backoff is how long a stage waits after the idle-th attempt in a row that made no
// progress and was not deferred (design 5.3; spec runtime DF6): not at all after the
// first two, then min(60, 10 * 2^(idle-3)) s.
func Backoff(idle int64) time.Duration {
	if idle <= backoffFree {
		return 0
	}
	wait := backoffFirst
	for n := idle - backoffFree; n > 1 && wait < backoffMax; n-- {
		wait *= 2
	}
	return min(wait, backoffMax)
}
