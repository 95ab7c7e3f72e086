package scenarios_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/race"
	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// replayed bounds the calls of a run that TestRecordings runs again: the longest take longest.
const replayed = 1000

// vetted reads a scenario from its text.
func vetted(t *testing.T, name, text string) *lang.Program {
	t.Helper()
	file, err := syntax.Parse(name, []byte(text))
	require.NoError(t, err)
	program, err := lang.Vet(file)
	require.NoError(t, err, "%s", text)
	return program
}

// TestRecordings: what is recorded of a run with faults can be read, and is the same run again.
func TestRecordings(t *testing.T) {
	programs, err := lang.LoadAll(os.DirFS(".."), []string{"scenarios/..."})
	require.NoError(t, err)
	if race.Enabled { // a world has one thread
		programs = programs[:20]
	}
	for _, p := range programs {
		if !slices.ContainsFunc(p.Steps, func(s lang.Step) bool { return s.Verb.Name == "fault" }) {
			continue
		}
		t.Run(strings.TrimSuffix(p.File.Name, lang.Ext), func(t *testing.T) {
			t.Parallel()
			run := scenarios.RunProgram(p, p.Seeds[0], scenarios.RunOptions{Keep: 400, Record: true})
			recorded := vetted(t, p.File.Name, string(run.Record))
			if run.Calls > replayed {
				return
			}
			again := scenarios.RunProgram(recorded, p.Seeds[0], scenarios.RunOptions{Keep: 400})
			require.Empty(t, again.Failures)
			require.Equal(t, run.Digest, again.Digest, "%s", run.Record)
		})
	}
}

// TestEditsElsewhere: a run is moved by no comment, blank line or statement that does nothing.
func TestEditsElsewhere(t *testing.T) {
	const text = `scenario "a tie and draws"

engines  2
book     b1 scenes=4
workers  image=4 job=5s

fault    hub post lost rate=30%
every 20s fault callback duplicate rate=30% count=1
request  b1
at 25s   regenerate b1/c1/s1
at 25s   regenerate b1/c1/s2
at 25s   regenerate b1/c1/s3
at 25s   regenerate b1/c1/s4
run      3m
`
	digest := func(text string, seed uint64) string {
		return scenarios.RunProgram(vetted(t, "x.sim", text), seed, scenarios.RunOptions{Keep: 400}).Digest
	}
	edited := strings.NewReplacer("engines  2", "# why\n\nengines   2", "every", "fault    pg lost count=3\nevery", "request", "property slots on\nrequest", "at 25s   regenerate b1/c1/s2", "\nat 25s   regenerate   b1/c1/s2").Replace(text)
	for seed := range uint64(5) {
		require.Equal(t, digest(text, seed), digest(edited, seed), "seed %d", seed)
	}
}
