package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme: the scenario of the README that fails does so with the lines that stand there,
// in their order, but for those that say how long it took.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	scenario, prints := block(t, string(page), `scenario "no worker`), block(t, string(page), "FAIL  eager.sim")
	status, stdout, _ := sim(t, map[string]string{"eager.sim": scenario}, "run", "eager.sim")
	require.Equal(t, 1, status)
	rest := stdout
	for line := range strings.Lines(prints) {
		said, _, _ := strings.Cut(line, " in ")
		_, after, found := strings.Cut(rest, said)
		require.True(t, found, "README.md says %q, and the run (in this order)\n%s", said, stdout)
		rest = after
	}
}

// block is the ```text block of a page that begins so.
func block(t *testing.T, page, begin string) string {
	t.Helper()
	_, text, found := strings.Cut(page, "```text\n"+begin)
	require.True(t, found, "README.md has no block that begins with %s", begin)
	text, _, _ = strings.Cut(text, "```")
	return begin + text
}
