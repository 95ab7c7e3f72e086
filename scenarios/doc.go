// Package scenarios runs scenario files: each is a world, a timeline of intents
// and faults, and what must be seen. `sim run` and `go test` use it alike.
//
// The language is in scenarios/syntax (the tree) and scenarios/lang (verbs,
// metrics, vetting); scenarios/wire puts the world together. The files themselves
// lie beside this one, in folders by theme.
//
// Invariants:
//
//   - Scenario text, seed and binary decide the whole run: its digest is the same
//     wherever and beside whatever it runs.
//   - One world runs on one goroutine; wall time is looked at here and nowhere
//     below (the watchdog, the ratio in the report).
//
// Not for: deciding whether an invariant holds (package properties).
package scenarios
