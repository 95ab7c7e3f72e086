// Package consumer is the host of an engine in a world, as far as it hears: it takes
// result events, and drops those that it has heard.
//
// Invariants:
//   - An event is heard when its call is carried out, whatever becomes of the answer.
//   - Each event that it hears is an event of the trace, with Heard.
//
// Not for: what the host then does.
package consumer
