package sim

import (
	"encoding/hex"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// mix is a bijective mixer (splitmix64's finalizer).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Hash is a 64-bit hash of the seed and a list of names: the source of every draw
// that belongs to something with a name.
func (w *World) Hash(names ...string) uint64 {
	h := mix(w.seed + 0x9e3779b97f4a7c15)
	for _, s := range names {
		h = mix(h ^ xxhash.Sum64String(s))
	}
	return h
}

// Rand returns the stream of that purpose. Streams are derived from the seed and
// the purpose alone: a new one disturbs no other. Two calls with one purpose give
// one stream.
func (w *World) Rand(purpose string) *rand.Rand {
	if r, ok := w.streams[purpose]; ok {
		return r
	}
	r := rand.New(rand.NewPCG(w.Hash("stream", purpose), w.Hash("stream2", purpose)))
	w.streams[purpose] = r
	return r
}

// unit maps a hash to [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// token is 128 bits of a stream, in hexadecimal.
func token(r *rand.Rand) string {
	var b [16]byte
	for i := 0; i < 2; i++ {
		x := r.Uint64()
		for j := 0; j < 8; j++ {
			b[8*i+j] = byte(x >> (8 * j))
		}
	}
	return hex.EncodeToString(b[:])
}
