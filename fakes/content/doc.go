// Package content is the book content of a world (ports.Content): books that a
// scenario declares, edits and deletes.
//
// Invariants:
//   - Books, chapters, scenes and units keep the order in which they were declared.
//   - What is handed out is a copy.
//   - A scene that is not there is ports.ErrNoScene; a read that failed is any
//     other error, and proves nothing (design 5.4.6).
//
// Not for: what an edit means for a stage (the engine's business).
package content
