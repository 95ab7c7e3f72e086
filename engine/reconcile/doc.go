// Package reconcile is the pass that finds what no tick and no callback will: it
// adopts or ends the dispatches that nobody renews, feeds results whose callback was
// lost, releases slots of dispatches that are over, puts back stages that lost their
// state or their place in the index, and leads on the scopes of books that nobody else
// does (package window).
//
// Invariants:
//
//   - A pass reads first and repairs then; every repair is a script that looks again.
//   - The first unreadable answer of the hub ends the asking, and makes the pass
//     incomplete: it starts, restarts, deletes and fails nothing, and declares nothing
//     lost. What Redis alone proves is still released (design 5.4.6).
//   - One pass at a time, by a lock that is renewed between repairs; two at once would
//     be wasteful and not wrong.
//
// Not for: deciding what to generate (package schedule), or what a dispatch does
// (package dispatch).
package reconcile
