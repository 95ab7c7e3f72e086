// Package pointers is the relational store of a world (ports.Pointers): pointers, dirty
// marks, versions and tombstones in memory.
//
// Invariants:
//   - A write is carried out whole or not at all; an answer that is lost was carried out.
//   - A page has at most ports.PageRows rows, in the order of the units.
//   - Each read can fail in its own way: unreadable, an undecodable row, a partial page, an
//     empty answer, the answer of a replica that lags behind by one write of the scene.
//
// Calls have the service "pg"; their verbs are pointer, publish, mark, marks, settle, stamp,
// version, bury, unbury and tombstone.
//
// Not for: what follows from an answer (packages stage and reconcile).
package pointers
