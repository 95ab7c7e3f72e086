package timing

import (
	"time"

	"github.com/animastor/orchestra/ports"
)

// floor is the least time of a unit whose share is reckoned from its text.
const floor = 200 * time.Millisecond

// Chunk is one piece of a scene's audio.
type Chunk struct {
	Unit    string        // the image unit whose text it reads
	Raw     time.Duration // as it was made; 0: not measured
	Trimmed time.Duration // without the silence at its end; 0: not measured
}

// Text is the length of a unit's text.
type Text struct {
	Unit string
	Len  int
}

// ByChunks lays the units end to end, each as long as the chunks that read it. A unit
// without audio has no width. ok is false if a chunk was not measured, or reads none of
// the units: then the sum would say nothing.
func ByChunks(units []string, chunks []Chunk) (times []ports.UnitTime, ok bool) {
	widths := map[string]time.Duration{}
	known := map[string]bool{}
	for _, unit := range units {
		known[unit] = true
	}
	for i, c := range chunks {
		width := c.Raw
		if i == len(chunks)-1 {
			width = c.Trimmed
		}
		if width <= 0 || !known[c.Unit] {
			return nil, false
		}
		widths[c.Unit] += width
	}
	at := time.Duration(0)
	for _, unit := range units {
		times = append(times, ports.UnitTime{Unit: unit, Start: at, End: at + widths[unit]})
		at += widths[unit]
	}
	return times, len(chunks) > 0
}

// ByText shares the whole out by the length of the texts, and equally if there is no
// text at all; none gets less than 200 ms, and what goes beyond the whole is cut.
func ByText(texts []Text, whole time.Duration) (times []ports.UnitTime) {
	sum := 0
	for _, t := range texts {
		sum += max(0, t.Len)
	}
	at := time.Duration(0)
	for i, t := range texts {
		width := whole / time.Duration(len(texts))
		if sum > 0 {
			width = time.Duration(float64(whole) * float64(max(0, t.Len)) / float64(sum))
		}
		end := min(at+max(width, floor), whole)
		if i == len(texts)-1 {
			end = whole
		}
		times = append(times, ports.UnitTime{Unit: t.Unit, Start: at, End: end})
		at = end
	}
	return times
}
