// Package schedule is the tick: it reads the active scenes in batches, retires
// what is done, and starts what may be started, oldest
// first.
//
// Invariants:
//
//   - A tick that begins nothing writes nothing but its lock.
//   - What the batch shows to be refused (deferred, in backoff, live, no free slot)
//     costs no further round trip: an idle tick over N scenes takes at most 3 + N/250.
//   - The tick lock spares load; two ticks at once are safe (design 5.5).
//   - One bad scene is isolated from the others.
//   - Stages are started in the order in which they were last begun, so that a small
//     quota is shared fairly whichever replica ticks.
//
// Not for: what a dispatch does once begun (package dispatch).
package schedule
