package redis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGlob: what Redis' own matcher says; package conformance asks the real one.
func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"*", "", false}, {"**", "ab", true}, {"a*b", "axxb", true}, {"a*b", "axxbc", false}, {"*b*", "abc", true},
		{"?", "ä", false}, {"??", "ä", true}, {"a?", "a", false},
		{`\*`, "*", true}, {`\*`, "a", false}, {`a\`, `a\`, true}, {`\\`, `\`, true},
		{"[ab]", "b", true}, {"[^ab]", "b", false}, {"[^ab]", "c", true}, {"[a-c]x", "bx", true}, {"[c-a]", "b", true},
		{`[\]]`, "]", true}, {"[]", "]", false}, {"[a", "a", true}, {"[^", "x", true}, {"[", "[", false}, {"[a-]", "a", true}, {"[a-]x]", "^", true},
		{`\E.`, "E.", true}, {`\E.`, "Ex", false}, {"[z-a]*", "k1", true},
	} {
		require.Equal(t, c.want, glob(c.pattern, c.text), "%q on %q", c.pattern, c.text)
	}
}
