// Package media is the fake of what puts files together: it merges parts that stand in
// the artifact tree (package artifacts) into one file, whole or not at all.
//
// A merge is one call of the service "media", verb merge; how long it takes is the
// latency of that service. The file appears in the middle of that time, so an answer may
// be lost or late after it.
//
// Not for: what parts a file is made of, or whether it proves anything (engine/stage).
package media
