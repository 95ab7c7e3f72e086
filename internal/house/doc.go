// Package house has the rules of this repository that the compiler does not know,
// as ordinary tests: who may import whom (design 2), how long a function may be,
// what must have a comment and an example, and that the commands of the README
// are run. A message reads `file:line: problem: remedy`.
//
// The rules are functions from a parsed tree to its problems, so that each is
// tested on a small tree that breaks it. What needs types is an analyzer
// (internal/lint).
package house
