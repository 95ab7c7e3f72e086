// Package guard holds the rules of the circuit breaker: when it trips, how long it
// stays open, how many probes a half-open one lets through, and what an execution
// tells it. There is one breaker for each stage, shared by all replicas.
//
// Invariants:
//
//   - Only infrastructure-class failures of executions that a worker had claimed
//     count: one bad scene must not stop the others (design 5.4.3, CB5, CB8).
//   - In a half-open circuit only a dispatch that holds a permit decides (CB4).
//   - Permits belong to dispatch ids and carry deadlines, so that none is lost with
//     its holder (CB3, CB9).
//
// Not for: keeping state (scripts begin and finish do, on Redis' time), or the retry
// budget, whose numbers are the stage's own (asset.Profile).
package guard

import (
	"time"

	"github.com/animastor/orchestra/engine/outcome"
)

// Breaker is how the breaker of a stage behaves.
type Breaker struct {
	Trip     int           // failures within Window that open it
	Window   time.Duration // a real window: a failure counts for so long
	CoolDown time.Duration // open for so long, then half-open
	Permits  int           // dispatches that a half-open one lets through at once
}

// Published is the breaker of every stage, unless it is configured (spec runtime 2).
func Published() Breaker {
	return Breaker{Trip: 5, Window: 120 * time.Second, CoolDown: 60 * time.Second, Permits: 2}
}

// Evidence is what the end of a dispatch tells the breaker.
type Evidence string

// The evidence.
const (
	None    Evidence = ""        // it was no execution, or its failure says nothing about the machinery
	Success Evidence = "success" // a worker did what was asked for
	Failure Evidence = "failure" // the machinery failed
)

// Judge says what a failed execution tells. claimed says whether a worker had taken
// one of its jobs.
func Judge(f outcome.Failure, claimed bool) Evidence {
	if claimed && f.Class == outcome.Infrastructure {
		return Failure
	}
	return None
}
