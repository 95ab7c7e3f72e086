// Package window leads a book through what was asked for of it, a few scenes at a time
// (spec orchestration 7).
//
// What was asked for and is not settled is the scope of the book, one at most: a list of
// orders in Redis, which later requests join. The window is the scenes of it that may be
// under way at once. Look settles what is done, takes the next scenes in reading order
// into the window, starts them, and concludes the scope when nothing is left: with one
// finale, which stands in the outbox by the same step (H-05, H-67). It is called by who
// asks, after a tick in which a scene of the book left the active index, and by each pass.
//
// Invariants:
//   - Any number of Looks may run at once, and die anywhere: a slide is a compare-and-set
//     of the scope (H-68), a stage is started once for an order, and a scene that was
//     taken into the window and not started is found by the next Look.
//   - A scene whose content or files cannot be read is left as it is (H-46), and so is one
//     whose keys are corrupt, which holds up no other (H-73).
//   - Nothing is started for a scope that ended, or that has an order which the Look did
//     not see: what was cancelled stays so.
//
// Not for: when a started stage is begun (package schedule), what of it stands (package
// stage, which is asked here as it is everywhere).
package window
