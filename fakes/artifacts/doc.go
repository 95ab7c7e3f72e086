// Package artifacts is the tree of finished files of a world: workers put files,
// the engine asks for them (ports.Artifacts), scenarios remove them.
//
// Invariants:
//   - A file of size 0 is an unfinished upload: it is absent for who asks, and
//     replaces what stood there before.
//   - What could not be asked is unknown, never absent (design 5.4.6).
//   - A path is a name and nothing more: the tree does not take it apart.
//
// Not for: building paths (engine/keys), or deciding what an artifact proves.
package artifacts
