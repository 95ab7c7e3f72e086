// Package dispatch runs one dispatch of one stage, from admission to its end:
// begin, post the jobs, keep the lease, take the results, finish.
//
// Invariants:
//
//   - A dispatch exists only in Redis; what this package holds in memory is a copy.
//     Every step that changes it is one atomic script that checks ownership.
//   - No job is posted without an `ok` of admit right before, and none by a dispatch
//     that has ended: the fence stops at the hub what was admitted too early.
//   - Whatever becomes of a try, the dispatch is finished or stays owned by somebody
//     who renews it. A dispatch nobody renews is adopted.
//   - Unknown never clears, regenerates or fails anything (design 5.4.6).
//
// Files: dispatcher.go (what is kept of a dispatch), begin.go (admission), send.go
// (rounds of posts), post.go (one job), beside.go (what a stage does beside its jobs, and
// the count of pictures), watch.go (renewal and supervision), complete.go (results),
// finish.go, sweep.go (purging the hub).
//
// Not for: which stage to try when (package schedule), what explicit intents do
// (package engine), or what a stage is made of (package stage).
package dispatch
