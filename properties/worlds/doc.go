// Package worlds draws random scenarios: a few books, some of them with hostile
// ids, replicas and workers that come and go, intents over time, and faults of
// every service; at the end the faults are healed and the world must settle. What
// must hold on the way is the business of package properties; a drawn scenario
// adds what must hold of any world at rest.
//
// There are three kinds: Draw and Seed take from everything, Replicas sets two replicas
// against their own deaths, pauses and clocks and against a Redis that forgets, and Sweep
// has one whole book, and faults of every service.
//
// A world is text. What fails is a scenario file like any other: it can be read,
// replayed by `sim run`, cut down by hand and kept.
//
// Invariants:
//
//   - Every drawn scenario parses, vets and is in canonical form.
//   - Equal draws give equal text; Seed(n) is the same world on every machine.
//   - Every fault has an end of its own or is healed by settle. A fault that stops a
//     process ends with the run, and the finale brings new workers, so that a world
//     which does not settle shows a defect of the engine.
//
// Not for: faults that no engine survives (the truth evicted from Redis, values of
// a wrong type). Scenarios written by hand show what those come to.
package worlds
