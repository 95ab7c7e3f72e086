package worlds

import "math/rand/v2"

// Source is where choices come from. Zero is the plainest choice everywhere: a
// source that shrinks towards it shrinks worlds to few and plain statements.
type Source interface {
	// Intn chooses a number from 0 to n-1; n is at least 1.
	Intn(n int) int
	// Repeat calls one from 0 to most times. What one draws belongs together: a
	// source that shrinks may leave a call out as a whole.
	Repeat(most int, one func())
}

// Stream returns the source of a seed: the same choices on every machine.
func Stream(seed uint64) Source {
	const golden = 0x9e3779b97f4a7c15 // any constant will do; it keeps seed 0 apart from an empty state
	return stream{rand.New(rand.NewPCG(seed, golden))}
}

type stream struct{ rand *rand.Rand }

var _ Source = stream{}

func (s stream) Intn(n int) int { return s.rand.IntN(n) }

func (s stream) Repeat(most int, one func()) {
	for range s.Intn(most + 1) {
		one()
	}
}

// pick chooses one of a list.
func pick[T any](s Source, list ...T) T { return list[s.Intn(len(list))] }

// between chooses a number from least to most.
func between(s Source, least, most int) int { return least + s.Intn(most-least+1) }

// rarely is true one time in n.
func rarely(s Source, n int) bool { return s.Intn(n) == n-1 }
