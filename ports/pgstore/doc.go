// Package pgstore is the relational store of production: ports.Pointers and ports.Timings on
// PostgreSQL, through pgx. docs/store.md describes its tables.
//
// Invariants:
//   - Each method is one statement, which PostgreSQL carries out whole or not at all. Nothing is
//     tried again here: a write that answers an error may have been carried out, and can be
//     made again.
//   - What is unknown is never an answer: an error tells no row, an unreadable store and a row
//     that makes no sense apart (ports.ErrNoRow, ErrUnreadable, ErrUndecodable), and comes with
//     nothing else. A write takes the place of a row that makes no sense.
//   - Ids are parameters, never text of a statement, and are compared byte by byte (COLLATE "C").
//   - No error has the DSN or its password in it.
//
// Not for: what follows from an answer (packages stage and reconcile); faults (package
// fakes/pointers, which is held to the same behaviour by internal/conformance).
package pgstore
