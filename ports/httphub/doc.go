// Package httphub is the production client of the job hub: ports.Hub over HTTP
// with JSON bodies (schema 5).
//
// Invariants:
//   - One method call is one request: no retry, no redirect followed.
//   - Every request has a deadline, which comes from the Runtime (spec runtime HB3).
//   - An answer is a definite no (*ports.Rejected) or ambiguous (ports.ErrAmbiguous)
//     as ports.Hub says; when in doubt it is ambiguous. An answer about another job
//     or dispatch than was asked for is no answer, and neither is one that lacks an id.
//   - An id never reaches a URL unescaped.
//
// Not for: deciding what an error means for a dispatch, asking again, sweeping the
// queue (the engine's business).
package httphub
