// Package universe draws, for property tests, what the engine's scripts may find in Redis
// about one stage, and calls on it as the engine makes them.
//
//	u := universe.OneOf(t, universe.All()...)
//	for _, command := range u.State(t) { … } // `@n` in it is an instant: At
//	err := u.Call(t)(ctx, store.New(client))
//
// Two tests play what it draws: one on the scripts and on their twins in Go (package
// scenarios/wire), one on a real Redis and on the fake (package internal/conformance). What
// one of them learnt to draw, the other plays, too.
//
// Every draw shrinks: to no fault, the first of a list, the absent key.
//
// Not for: worlds. They draw faults and books (package properties/worlds); here a script may
// find what no engine has written.
package universe
