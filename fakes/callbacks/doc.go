// Package callbacks brings results from the hub of a world to the replicas of an
// engine, with what may go wrong on the way.
//
// Invariants:
//   - Results leave in the order in which they were pushed. Only a fault, or a
//     refused delivery, moves one behind the next.
//   - A replica that is dead is given nothing. Which live one is given a result is
//     drawn from the seed, the job and the attempt.
//   - A delivery is refused when no replica lives; it is tried 3 times more, 5 s
//     apart, and then dropped. The reconcile pass finds it (schema 5).
//   - What waits dies with the process of the hub.
//
// Not for: the results themselves (package hub), or what a replica does with them.
package callbacks
