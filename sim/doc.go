// Package sim is the kernel of a deterministic simulation: a virtual clock,
// tasks, processes that crash and pause, calls with latencies and faults, and a
// trace. Code under test runs in it as ordinary blocking Go.
//
// The contract: the same seed, the same code and the same set-up give the same
// trace, byte for byte, on any machine, at any GOMAXPROCS, alone or beside a
// thousand other worlds in the same process.
//
// Invariants:
//
//   - One thing at a time. A World runs on the goroutine that calls Run; its
//     tasks are coroutines, and exactly one of them is awake.
//   - Two events never share an instant by luck: ties are ordered by a hash of
//     the seed, the name of who waits, and a count.
//   - A Call is the only boundary between code under test and a fake. Latency and
//     faults are drawn from the seed and the name of the call, so that a decision
//     survives an edit elsewhere.
//   - A wait ends at an instant of the virtual clock. A deadline comes from
//     Process.WithTimeout: that of context.WithTimeout, context.WithDeadline or
//     http.Client.Timeout is one of the wall clock, and fails the world. (Under a
//     deadline of the kernel, context.WithTimeout keeps that one, and nobody sees
//     that its own is missing.)
//   - Nothing else is random: World.Rand gives named streams; there is no wall
//     clock, no map order, no real timer.
//
// Not for: the meaning of any fake (package fakes), scenario files (package
// scenarios), wall time and watchdogs (the runner's business).
package sim
