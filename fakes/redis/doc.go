// Package redis is a Redis server for simulated worlds: miniredis under the
// virtual clock, reached by the real go-redis client over a connection that runs
// each command in the calling task.
//
// Invariants:
//
//   - One call per round trip: a command, a script or a whole pipeline is one
//     sim.Call of the service "redis", carried out at one instant.
//   - Nothing depends on the order of a map, on chance or on the real clock:
//     replies that are sets are sorted, commands that draw or block are refused.
//   - A key lives through the millisecond of its deadline and is gone after it.
//     Advancing the clock costs no pass over keys.
//   - A script runs as its native twin, or as itself (Options.Lua); both answer
//     the same, write the same keys and leave the same trace.
//
// Not for: clusters, transactions (MULTI, WATCH), blocking commands, pub/sub, or
// more than one numbered database. What it does not know it refuses by name.
package redis
