package scenarios

import (
	"time"

	"github.com/animastor/orchestra/scenarios/syntax"
	"github.com/animastor/orchestra/sim"
)

// The outcomes of a run.
const (
	Passed = "passed"
	Failed = "failed" // a property or an expectation
	Broken = "broken" // the harness: a stuck run, a divergence
)

// Result is what one scenario did with one seed.
type Result struct {
	File     string
	Scenario string
	Seed     uint64
	Live     bool // of a live run, which has no seed and no virtual time
	Lua      bool // the scripts themselves ran
	Diverged bool // a second run went another way
	Outcome  string
	Virtual  time.Duration
	Rested   time.Duration // of that: what a settled world ran on
	Wall     time.Duration
	Calls    int    // calls made by all processes
	Digest   string // of the trace
	Failures []Failure
	Unfired  []string // fault rules that hit nothing: such a run proves nothing about them
	Shown    []string // what `show` printed
	Record   []byte   // the run as a scenario of named faults
	Trace    *sim.Trace
}

// Failure is one thing that a run did not do as it should.
type Failure struct {
	Pos     syntax.Pos    // the statement, where there is one
	At      time.Duration // virtual
	What    string        // the expectation, or the property's id
	Subject string
	Saw     string      // what was seen instead
	Events  []sim.Event // that prove it, or the last before it
}
