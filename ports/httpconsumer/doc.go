// Package httpconsumer tells result events to a host over HTTP: ports.Consumer, one POST of
// a JSON object for each event (docs/running.md, "Result events").
//
// Invariants:
//   - One event is one request: no retry, no redirect followed. The engine tells again what
//     was not taken.
//   - A 2xx says that the event was taken, whatever its body says, of which little is read.
//     Every other end is an error.
//   - Every request has a deadline, which comes from the Runtime.
//   - No error has the URL or the key in it: both may hold a secret.
//
// Not for: the order of events, or which are told again (package engine/deliver).
package httpconsumer
