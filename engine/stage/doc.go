// Package stage knows what one stage of a scene is made of: which jobs it still
// needs (Plan), what its results become (Assemble), and whether all that it must
// produce stands (Prove). One file for each stage: audio, image, video.
//
// Invariants:
//
//   - Plan and Prove read and never write.
//   - They are three-valued: what could not be read is an error or Unknown, never
//     "nothing there" (design 5.4.6).
//
// Not for: sending jobs, leases, or verdicts about a dispatch (package dispatch).
package stage
