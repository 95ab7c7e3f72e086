package wire

import (
	"time"

	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Tally counts what engines tell, in a world or out of it.
type Tally struct {
	stages map[ports.StageID]*Counts
	ticks  map[string]ports.Summary
	passes map[string]int // by how they ended
	errors map[string]int // that were reported, by operation and text
	last   string         // process whose tick was the last one
}

// NewTally returns one of nothing.
func NewTally() *Tally {
	return &Tally{stages: map[ports.StageID]*Counts{}, ticks: map[string]ports.Summary{}, passes: map[string]int{}, errors: map[string]int{}}
}

// Counts are the counts of one stage since the tally began.
type Counts struct {
	Attempts, Refusals, Sends, Results, Finishes int
	Reason, Bucket                               string // of the last finish
	Window                                       time.Duration
	Retryable                                    bool
	Told, Repeats                                int    // result events that the consumer has heard, and those that it had heard before
	News                                         string // kind of the last one
}

// Add counts an event of a process; what counts for nothing is left out.
func (t *Tally) Add(process string, event any) {
	switch d := event.(type) {
	case ports.Attempt:
		t.Of(d.Stage).Attempts++
	case ports.Refusal:
		t.Of(d.Stage).Refusals++
	case ports.Result:
		if d.Verdict == "accepted" || d.Verdict == "last" {
			t.Of(d.Stage).Results++
		}
	case ports.Finish:
		c := t.Of(d.Stage)
		c.Finishes++
		c.Reason, c.Bucket, c.Window, c.Retryable = d.Reason, d.Bucket, time.Duration(d.WindowSeconds)*time.Second, d.Retryable
		if row, ok := outcome.Lookup(d.Reason); ok && d.Bucket == "" {
			c.Bucket = row.Bucket
		}
	case consumer.Heard:
		c := t.Of(d.Stage)
		if d.Again {
			c.Repeats++
			return
		}
		c.Told++
		c.News = d.Kind
	case ports.Tick:
		if !d.Skipped {
			t.ticks[process], t.last = d.Summary, process
		}
	case ports.Pass:
		t.passes[passKind(d)]++
	case ports.Trouble:
		t.errors[d.Op+": "+d.Err.Error()]++
	case ports.JobOutcome:
		if d.Outcome == "sent" {
			t.Of(d.Stage).Sends++
		}
	}
}

// Of returns the counts of a stage.
func (t *Tally) Of(s ports.StageID) *Counts {
	c, ok := t.stages[s]
	if !ok {
		c = &Counts{}
		t.stages[s] = c
	}
	return c
}

// Tick is the summary of the last tick of a process that held the tick lock; of
// any process if it is empty.
func (t *Tally) Tick(process string) ports.Summary {
	if process == "" {
		process = t.last
	}
	return t.ticks[process]
}

// Passes counts the reconcile passes that were complete, incomplete, suspicious or skipped; all
// but the skipped ones if kind is empty.
func (t *Tally) Passes(kind string) int {
	if kind == "" {
		return t.passes["complete"] + t.passes["incomplete"] + t.passes["suspicious"]
	}
	return t.passes[kind]
}

// Troubles counts the errors that were reported and match a glob: "operation: error".
func (t *Tally) Troubles(glob string) (n int) {
	for text, times := range t.errors { //sim:unordered it counts
		if glob == "" || sim.Glob(glob, text) {
			n += times
		}
	}
	return n
}

func passKind(p ports.Pass) string {
	switch {
	case p.Skipped:
		return "skipped"
	case p.Cause != "":
		return "incomplete"
	case p.Suspicious:
		return "suspicious"
	}
	return "complete"
}
