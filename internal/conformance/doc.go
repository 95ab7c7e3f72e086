// Package conformance holds the fakes to the real things: those of Redis and of the
// relational store to throw-away servers of its own, that of the hub to its document.
//
//	make conformance
//
// # Redis
//
// The same go-redis client code runs on fakes/redis, with the twins of the scripts and with
// the scripts themselves, and on a redis-server, and must be told the same.
//
// A case is a list of round trips, each at an instant planned to the millisecond
// after the case's base, and the first of them sets the state up with absolute times.
// The real server's clock cannot be set. So the client waits for each instant, and
// asks TIME before and after the round trip, in the same pipeline: a case in which one
// round trip was not carried out within its millisecond is played again, from a new
// base. The fake then plays it at the instants of the real server. So everything is
// compared exactly, absolute times and TTLs included: replies, classes of errors, and
// at the end each key of the case with its type, deadline and value.
//
// What may differ: the words of an error after its class (WRONGTYPE, OOM, ERR syntax
// error, ...), except CORRUPT, which names a key; the order of what Redis keeps
// unordered; the pages of SCAN; and how many entries more than asked for an
// approximate MAXLEN leaves.
//
// # The hub
//
// The fake hub is held to docs/hub.openapi.yaml, over the transport of a
// world and over loopback HTTP, by one suite that meets every answer in the document
// (TestHub); it needs no server, and runs with all tests.
//
// # PostgreSQL
//
// The cases of ports/pointerstest and random sequences of operations run on
// fakes/pointers and on ports/pgstore, and must be answered the same; only the numbers of the
// sequence may differ, not their order. Then PostgreSQL is kept from answering in every way
// that could be thought of (rights, timeouts, locks, cut connections before and after a
// commit, a crash, rows that make no sense), and must never be taken for empty.
//
// Not for: what the scripts decide (package store), what faults do to a call of a fake
// (packages fakes/redis and fakes/pointers), the speed of either.
package conformance
