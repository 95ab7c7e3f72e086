// Package asset is the vocabulary of what the engine makes: the stages of a scene,
// the states of a stage and the moves between them, and the limits of each stage.
//
// Invariants: the tables here are the only place that says which state may follow
// which (schema 6), what counts as done (design 5.4.5), and how long a lease, a
// job or a stall may last (spec runtime 2). Everything is a pure function of its
// arguments.
//
// Not for: Redis keys (package keys), reasons and backoff (package outcome), or
// reading and writing a state (package store).
package asset
