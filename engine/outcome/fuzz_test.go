package outcome_test

import (
	"strings"
	"testing"

	gofuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/outcome"
)

// randomOutcome is what gofuzz fills from the fuzzer's bytes: how the jobs of one
// dispatch came out.
type randomOutcome struct {
	Jobs    []randomCount
	Failure struct {
		Known   bool
		Which   uint8
		Code    string
		Message []uint8 // which words
		Junk    string
	}
}

type randomCount struct {
	Reason string
	Which  uint8 // a known reason by its number; over the last: Reason as it is
	N      uint8 // mostly valid: -1 to 14
	Large  bool  // N times a great number
}

// words are what messages are made of: those of the patterns, and others.
var words = strings.Fields("redis unavailable connection filesystem error ffmpeg missing not found disk full out of memory " +
	"invalid workflow asset corrupted scene data required field unsupported format transition duplicate dispatch stale lease counter drift token mismatch a the")

func (o randomOutcome) counts() []outcome.Count {
	counts := make([]outcome.Count, 0, len(o.Jobs))
	for _, j := range o.Jobs {
		c := outcome.Count{Reason: j.Reason, N: int(j.N%16) - 1}
		if which := int(j.Which) % (len(known) + 1); which < len(known) {
			c.Reason = known[which]
		}
		if j.Large {
			c.N <<= 58
		}
		counts = append(counts, c)
	}
	return counts
}

func (o randomOutcome) failure() (code, message string) {
	code = o.Failure.Code
	if o.Failure.Known {
		codes := append(outcome.Codes(), outcome.CodeEntry{Code: "ENOENT"}, outcome.CodeEntry{Code: ""})
		code = codes[int(o.Failure.Which)%len(codes)].Code
	}
	parts := []string{}
	for _, w := range o.Failure.Message {
		parts = append(parts, words[int(w)%len(words)])
	}
	return code, o.Failure.Junk + strings.Join(parts, " ")
}

// FuzzTaxonomy compares both taxonomies with naive classifiers on random outcomes.
func FuzzTaxonomy(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("no_worker_available"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01\x10\x20\x30\x40\x50\x60\x70\x80"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var o randomOutcome
		gofuzz.NewFromGoFuzz(data).NilChance(0.1).NumElements(1, 6).Fuzz(&o)

		counts := o.counts()
		got, err := outcome.Classify(counts)
		want, ok := naive(counts)
		require.Equal(t, ok, err == nil, "%+v: %v", counts, err)
		require.Equal(t, want, got, "%+v", counts)

		code, message := o.failure()
		require.Equal(t, naiveFailure(code, strings.ToLower(message)), outcome.ClassifyFailure(code, message), "%q %q", code, message)
	})
}
