// Package conformance holds the fake of Redis to a real server: the same go-redis
// client code runs on fakes/redis, with the twins of the scripts and with the scripts
// themselves, and on a throw-away redis-server, and must be told the same.
//
//	make conformance
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
// Not for: what the scripts decide (package store), what faults do to a call
// (package fakes/redis), the speed of either.
package conformance
