// Package timing lays the image units of a scene over its audio: which picture is shown
// from when to when.
//
// Invariants:
//
//   - Times are measured where they can be: of each chunk of the audio by itself. The
//     last chunk counts without the silence at its end, which the merge cuts off.
//   - The result covers every unit, in order and without overlap, and ends no later than
//     the audio does. No measure is made up: what was not measured is no time (H-18).
//
// Not for: reading the tree or the content, and writing what comes out (package stage).
package timing
