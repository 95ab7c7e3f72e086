// Package outcome is the vocabulary of how things end: the reasons for which a
// stage was not begun, sent nothing or failed; their backoff windows; and the
// classes of failures that workers report. It is the single source of both
// taxonomies (design 5.3; spec runtime 5, 6 and DF16): executors, scripts and the
// engine look a reason up here and nowhere else.
//
// Invariants: every function is pure. A reason that the table does not know is an
// error, never silently "retry at once". Deferred and Retryable are different
// questions (DF5): whether a window is opened, and whether trying again can help.
//
// docs/taxonomy.md is written from the tables of this package and of package asset
// by a test: go generate ./engine/outcome.
//
// Not for: writing a deferral or counting attempts (package store), breaker and
// budget (package guard).
package outcome

//go:generate go test . -run TestDocs -update
