// Package scenarios runs scenario files: each is a world, a timeline of intents
// and faults, and what must be seen. `sim run` and `go test` use it alike. What needs
// no fault can also be run live, on a service that somebody else starts (SweepLive).
//
// The language is in scenarios/syntax (the tree) and scenarios/lang (verbs,
// metrics, vetting); scenarios/wire puts the world together. The files themselves
// lie beside this one, in folders by theme.
//
// Invariants:
//
//   - Scenario text, seed and binary decide the whole run of a world: its digest is
//     the same wherever and beside whatever it runs. A live run has no seed and no
//     digest.
//   - One world runs on one goroutine; wall time is looked at here and nowhere
//     below (the watchdog, the ratio in the report, live runs).
//
// Not for: deciding whether an invariant holds (package properties); starting the
// processes of a live run (package internal/live).
package scenarios
