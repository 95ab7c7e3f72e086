// Package reconcile is the pass that finds what no tick and no callback will: it
// adopts or ends the dispatches that nobody renews, feeds results whose callback was
// lost, releases slots of dispatches that are over, puts back stages that lost their
// state, their place in the index or, being ready, their artifacts, and leads on the scopes of books that nobody else
// does (package window).
//
// Invariants:
//
//   - A pass reads first and repairs then; every repair is a script that looks again.
//   - The first unreadable answer of a source (hub, pointer store, artifacts, content) ends
//     the asking of it, and makes the pass incomplete: it starts, restarts, deletes and fails
//     nothing; without the hub it declares nothing lost either. What Redis alone proves is
//     still released (design 5.4.6).
//   - A pass that would make most of what is ready again is suspicious, and waits for two
//     more that agree.
//   - One pass at a time, by a lock that is renewed between repairs; two at once would
//     be wasteful and not wrong.
//
// Not for: deciding what to generate (package schedule), or what a dispatch does
// (package dispatch).
package reconcile
