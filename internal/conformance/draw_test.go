package conformance

import "pgregory.net/rapid"

// evenly draws a number below n, each as likely as the others: rapid itself prefers small
// ones. It shrinks to 0.
func evenly(t *rapid.T, n int) int {
	x := rapid.Uint64().Draw(t, "bits") // mixed as in murmur3, where 0 stays 0
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return int((x ^ x>>33) % uint64(n))
}

// chance is true in so many percent of the draws. It shrinks to false.
func chance(t *rapid.T, percent int) bool { return evenly(t, 100) >= 100-percent }

// oneOf draws one of a list. It shrinks to the first.
func oneOf[T any](t *rapid.T, from ...T) T { return from[evenly(t, len(from))] }
