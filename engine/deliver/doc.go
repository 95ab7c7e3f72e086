// Package deliver tells the host what became of its scenes: it brings the result events
// that finish left in the outbox, and that a drain has put into a queue for each scene, to
// the consumer.
//
// Invariants:
//
//   - At least once, in order per scene: an event leaves its queue after the consumer has
//     taken it, and none is told before the one in front of it.
//   - A scene is lent to one replica at a time; a loan lapses by itself, so that the crash
//     of a replica costs a repeat and no event.
//   - A consumer that fails, or hangs, for one scene holds up no other.
//   - It fails no work: events are best effort and bounded (design 5.4.16).
//
// Not for: what the events say, which finish decides (package store).
package deliver
