// Package syntax reads and writes the text of a scenario (design 7) as a lossless
// tree: one statement a line, with comments, blank lines and golden blocks kept.
//
// Invariants, for every tree x that Parse returns and positions aside:
// Parse(Format(x)) == x, and Format(Parse(Format(x))) == Format(x). Parse never
// panics, whatever the bytes, and reports every error it finds.
//
// Not for: what a verb, an operand or a key means. That is package lang.
package syntax
