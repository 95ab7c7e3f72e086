package lang_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/page"
	"github.com/animastor/orchestra/scenarios/lang"
)

func TestManualIsFresh(t *testing.T) {
	page.Fresh(t, "../../docs/scenarios.md", lang.Manual())
}

func TestHelp(t *testing.T) {
	all, err := lang.Help("")
	require.NoError(t, err)
	for _, v := range lang.Verbs() {
		require.Contains(t, all, "\n  "+v.Name+" ")
		text, err := lang.Help(v.Name)
		require.NoError(t, err)
		require.Contains(t, text, "usage: "+v.Name)
		require.NotContains(t, text, "\n\n\n", v.Name)
		for _, p := range v.Args() {
			require.Contains(t, text, "\n  "+p.Name+" ")
		}
	}
	text, err := lang.Help("fault")
	require.NoError(t, err)
	for _, e := range lang.Effects() {
		require.Contains(t, text, " "+e.Name+" ")
	}
	text, err = lang.Help("settle")
	require.NoError(t, err)
	require.Equal(t, strings.TrimPrefix(`
usage: settle within=DURATION

Heals all faults without an end of their own, and runs on until every requested, enabled stage is done.
Being late is a failure of no-lost-work, or of one-finale if all is done and the host was not told so yet, which takes some seconds more.
Done at its place in the file.

  within       DURATION

example:
  settle within=15m
`, "\n"), text)
	text, err = lang.Help("budget")
	require.NoError(t, err)
	require.Contains(t, text, "value: count, full")
	_, err = lang.Help("setle")
	require.EqualError(t, err, "no verb or metric setle (did you mean settle?)")
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range lang.Verbs() {
		require.False(t, seen[v.Name], v.Name)
		seen[v.Name] = true
	}
	for _, m := range lang.Metrics() {
		require.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
	}
	for _, e := range lang.Effects() {
		name := e.Service + " " + e.Name
		require.False(t, seen[name], name)
		seen[name] = true
	}
}
