// Package wire puts a world together: engine replicas, fakes, the twins of the
// engine's scripts, the names of its calls, the properties that watch.
//
// Data flows one way: the runner acts on a World, the engine and the fakes write
// the trace, and the recorder and the properties read it.
//
// Not for: reading scenarios (package scenarios), or checks of any kind.
package wire
