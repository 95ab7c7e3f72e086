package metrics_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/animastor/orchestra/engine/metrics"
	"github.com/animastor/orchestra/internal/page"
)

// TestDocs fails when docs/metrics.md does not say what the table says.
func TestDocs(t *testing.T) {
	page.Fresh(t, "../../docs/metrics.md", docs())
}

func docs() []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("<!-- generated; run go generate ./engine/metrics -->")
	line("# What an engine counts\n")
	line("`engine.Counters` returns the counters of a process, without a call; they begin anew with it. `engine.Metrics` adds the gauges")
	line("that stand in Redis, which are the same for all replicas. No label holds an id of a book, a dispatch or a process. In a scenario,")
	line("`expect counter` reads the counters.\n")
	line("| name | kind | by stage | label | what |")
	line("|---|---|---|---|---|")
	for _, n := range metrics.Names() {
		kind, stage := "counter", "no"
		if n.Gauge {
			kind = "gauge"
		}
		if n.Stage {
			stage = "yes"
		}
		line("| `%s` | %s | %s | %s | %s |", n.Name, kind, stage, n.Label, n.Doc)
	}
	return b.Bytes()
}
