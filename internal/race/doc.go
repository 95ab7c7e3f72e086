// Package race tells tests whether the race detector watches. It makes a run ten times
// slower, and a world is one thread: what it can find lies between worlds, so with it a few
// of them do. It is not for what an engine, a fake or a world does: that is the same with it.
package race
