// Package properties holds the invariants that are watched in every run (design 6),
// one file each.
//
// A Set is fed with the trace of a world and with the writes of its Redis, and
// collects what broke a property: where, when, and the events that prove it. It only
// reads. What a stage is at an instant is taken from Redis itself, as each write left
// it (ledger): events of the engine come later than what they tell of, in another
// order, and not at all from a process that crashed between a step and its answer.
//
// Invariants:
//   - Each property fails from one source line of its own, and has a test that breaks
//     it and one that comes close.
//   - None of them draws, waits or writes, so that a run with them has the digest of
//     one without.
//
// docs/properties.md is written from the list of this package: go generate ./properties.
//
// Not for: expectations of one scenario (package scenarios), random scenarios
// (package worlds).
package properties

//go:generate go test . -run TestDocs -update
