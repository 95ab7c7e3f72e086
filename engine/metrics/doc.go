// Package metrics counts what an engine did, as plain numbers that a daemon can export
// to whatever it likes: it stands in front of the observer and sees what that sees.
//
// Invariants:
//
//   - Counting never fails and never waits for anything (design 5.4.16).
//   - The names are Names, the labels are words of the engine: no id of a book, of a
//     dispatch or of a process is one, so that the number of samples is bounded.
//
// Not for: gauges that only Redis knows (package store), and what properties read.
package metrics

//go:generate go test . -run TestDocs -update
