package scenarios

// RaceDetector is raceDetector, for the tests outside.
const RaceDetector = raceDetector
