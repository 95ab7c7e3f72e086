package scenarios_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// hostile are ids that mean something to a key, a path, a pattern, an escape, or the
// engine itself; the longest that are allowed, and the two spellings of one letter.
var hostile = []string{
	":", "*", "?", "[", "]", "[a-z]*", "\\", "%", "%3A", "_", "{}", "/", "../b1", "b1/c1/s1", `"`, "'", "`", "\n", "\r\n", " ", "|",
	".", "..", "\u00e9", "e\u0301", "\u202e", strings.Repeat("x", 1024), strings.Repeat("é", 512), strings.Repeat(":", 1024),
	"b", "b1:c1", "image", "intent", "dispatch", "asset-state", "generating", "animastor:active-scenes", "none",
}

// Each hostile id, as a book, a chapter and a scene, is made, made anew and deleted
// beside a plain book, to which the same happens at the same times as when it is alone.
// Calls are free and each job has a worker, so that nothing but ids could connect them;
// only in which order things happen within one instant is drawn anew.
func TestHostileIDsBesideAPlainBook(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		alone := plainBook(t, seed, nil)
		require.NotEmpty(t, alone)
		require.Equal(t, alone, plainBook(t, seed, hostile), "seed %d", seed)
	}
}

// plainBook runs the plain book beside others, and returns what the trace says of it,
// instant by instant. A drain of the outbox is left out: it is about all who have a line.
func plainBook(t *testing.T, seed uint64, beside []string) (lines []string) {
	var setup, ask, again, gone strings.Builder
	for _, id := range beside {
		q := strconv.Quote(id)
		setup.WriteString("book " + q + " chapters=" + q + " scenes=" + q + "\n")
		ask.WriteString("request " + q + "\n")
		again.WriteString("expect results " + q + "/*:image = 1\nregenerate " + q + "\n")
		gone.WriteString("expect results " + q + "/*:image = 2\nexpect artifacts " + q + "/*:image = 1\ndelete " + q + "\n")
	}
	file, err := syntax.Parse("ids.sim", []byte(`scenario "a plain book beside hostile ids" seed=1
latency none
book b1 scenes=2 units=2
workers image=50 job=20500ms
config slots.image=60
`+setup.String()+"request b1\n"+ask.String()+`run 45s
expect state b1/*:image = ready
`+again.String()+`regenerate b1/c1/s1
run 15s
edit b1/c1/s2
run 30s
`+gone.String()+`run 10s
expect results b1/c1/s1:image = 4
expect results b1/c1/s2:image = 2
expect attempts b1/c1/s1:image = 2
expect slots image = 0
`))
	require.NoError(t, err)
	program, err := lang.Vet(file)
	require.NoError(t, err)
	result := scenarios.RunProgram(program, seed, scenarios.RunOptions{})
	require.Empty(t, result.Failures)
	names := regexp.MustCompile(`dispatch-[0-9a-f]+|image-\d+`) // drawn in the order of begins and claims
	for _, e := range result.Trace.Last(result.Trace.Len()) {
		if strings.HasPrefix(e.Subject, "b1/") && !strings.Contains(e.Detail, "redis.drain") {
			lines = append(lines, names.ReplaceAllString(e.String(), "…"))
		}
	}
	slices.Sort(lines)
	return lines
}
