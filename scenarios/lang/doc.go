// Package lang is the meaning of a scenario before anything runs (design 7): the
// registry of verbs, fault effects and metrics, and Vet, which turns a syntax tree
// into a Program of typed steps or says everything that is wrong with it.
//
// The registry is the one source of vet, did-you-mean, `sim help` and
// docs/scenarios.md. To add a verb, a metric or an effect, add an entry to
// verbs.go, metrics.go or effects.go with an example; tests vet each example and
// keep the page fresh.
//
// Invariants: a Program holds only what the registry declares; its paths are
// resolved to ids that `book` declared; its times are in order as far as they are
// known before the run.
//
// Not for: running a Program (package scenarios).
package lang
