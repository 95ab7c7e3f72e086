// Package store holds every Redis access of the engine: Lua scripts that decide and
// write in one step (schema 3), and pipelined reads.
//
// A dispatch is created by Begin, kept alive by Renew, taken over by Adopt and ended by
// Finish. Its jobs pass Admit before each post and Accept with each result; Claim picks
// the one caller who completes the stage. Order records what a user asks for, in the scope
// of a book; Slide moves the window of the scope, Start and Intent ask for a stage, Conclude
// ends the scope. What the scripts lack on purpose is in the callers: which reason defers,
// for how long, which state comes next.
//
// Invariants:
//   - A script writes all or nothing: it reads and decides before its first write, and a
//     value of the wrong type under any of its keys is a *CorruptError and no write.
//   - The hash asset-state is the truth. Lease, record, jobs and slot of a dispatch are
//     derived from it, and Renew writes them anew.
//   - After a lost answer (ErrAmbiguous) the same call may be made again: Begin, Adopt,
//     Claim and Lock say ok to who has it already, Finish says finished, Accept duplicate.
//   - Safety rests on Redis' clock alone, and on nothing that a reader saw before.
//
// Every key and member is built by package keys. An instant that is not set is the zero
// time. The scripts run alike on Redis 7 and on miniredis; package scenarios/wire has a
// native twin of each for simulated worlds.
//
// Not for: when to begin, what a reason means (package outcome), talking to the hub.
package store
