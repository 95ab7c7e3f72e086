// Package engine is the generation-orchestration engine: it decides what to
// generate next, and repairs what died. This package is its facade; the rooms
// behind it are keys, asset, outcome, store, stage, timing, dispatch, guard, schedule, window,
// reconcile, deliver, health and metrics.
//
// The engine knows the world through package ports and a go-redis client. Several
// replicas share one Redis; none of them is special, and each may die at any
// point.
//
// Not for: HTTP routes, configuration files, logging (cmd/orchestra), or anything
// that a simulation needs to know (package sim and the fakes).
package engine
