//go:build race

package scenarios

// raceDetector says whether the race detector watches. It makes a run ten times
// slower, and a world is one thread: what it can find lies between worlds, so one
// seed of each file does.
const raceDetector = true
