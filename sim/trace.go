package sim

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Event is one entry of a trace. Kind is low-cardinality; what varies is in the
// other fields. It holds no pointer, stack or duration of the real machine.
type Event struct {
	Seq     int           // position in the trace, from 1
	At      time.Duration // virtual time since the world began
	Process string        // process/task that caused it, or ""
	Kind    string        // "call", "fault", "crash", … or what the user traced
	Subject string        // what it is about
	Detail  string
	Outcome string

	// Data is the typed form of the event for watchers in the same process. It
	// is no part of the digest.
	Data any
}

// String is the event on one line: time process kind subject detail -> outcome.
func (e Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%12s", formatTime(e.At))
	for _, s := range []string{e.Process, e.Kind, e.Subject, e.Detail} {
		if s != "" {
			b.WriteByte(' ')
			b.WriteString(s)
		}
	}
	if e.Outcome != "" {
		b.WriteString(" -> ")
		b.WriteString(e.Outcome)
	}
	return b.String()
}

func formatTime(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) + "s"
}

// Trace is the append-only list of what happened in a world, with a running
// digest. Two runs are the same if their digests are.
type Trace struct {
	keep     int
	events   []Event // the last ones: all if keep is 0, else at least keep
	n        int
	digest   *xxhash.Digest
	buf      []byte
	watchers []func(*Event)
}

// Watch calls fn for each event as it is appended. fn must not append.
func (t *Trace) Watch(fn func(*Event)) { t.watchers = append(t.watchers, fn) }

// Len is the number of events appended so far.
func (t *Trace) Len() int { return t.n }

// Digest identifies all that was appended so far, in 16 hexadecimal digits.
func (t *Trace) Digest() string { return fmt.Sprintf("%016x", t.digest.Sum64()) }

// Last returns the last n events, or fewer.
func (t *Trace) Last(n int) []Event {
	if n > len(t.events) {
		n = len(t.events)
	}
	return t.events[len(t.events)-n:]
}

// WriteTo writes the kept events, one a line.
func (t *Trace) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for i := range t.events {
		n, err := io.WriteString(w, t.events[i].String()+"\n")
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (t *Trace) append(e Event) {
	t.n++
	e.Seq = t.n
	b := strconv.AppendInt(t.buf[:0], int64(e.At), 10)
	for _, s := range [...]string{e.Process, e.Kind, e.Subject, e.Detail, e.Outcome} {
		b = append(b, '\t')
		b = append(b, s...)
	}
	b = append(b, '\n')
	t.buf = b
	_, _ = t.digest.Write(b) // a hash never fails
	if t.keep > 0 && len(t.events) >= 2*t.keep {
		t.events = append(t.events[:0], t.events[len(t.events)-t.keep:]...)
	}
	t.events = append(t.events, e)
	for _, fn := range t.watchers {
		fn(&t.events[len(t.events)-1])
	}
}
