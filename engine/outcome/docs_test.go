package outcome_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/internal/page"
)

// TestDocs fails when docs/taxonomy.md does not say what the tables say.
func TestDocs(t *testing.T) {
	page.Fresh(t, "../../docs/taxonomy.md", docs())
}

func docs() []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("<!-- generated; run go generate ./engine/outcome -->")
	line("# Reasons, failures and states\n")
	line("## Reasons\n")
	line("Why a stage was not begun, sent nothing or ended. A reason with a window defers the stage: until the window is over,")
	line("begin refuses it without a write. Several reasons make one verdict: if all of them defer, the stage is deferred for 60 s")
	line("when a capacity reason is among them and for 900 s otherwise; if one does not, nothing is deferred. The most frequent")
	line("reason (of those that do not defer, if there is one) is reported, and the first seen wins ties.\n")
	line("| reason | bucket | window | deferred | retryable | arises |")
	line("|---|---|---|---|---|---|")
	for _, e := range outcome.Table() {
		window := "none"
		if e.Deferred {
			window = fmt.Sprintf("%d s", int(e.Window.Seconds()))
		}
		line("| `%s` | %s | %s | %s | %s | %s |", e.Reason, e.Bucket, window, yes(e.Deferred), yes(e.Retryable), e.Arises)
	}
	line("\nA stage whose attempts make no progress and are not deferred waits before the next one, counted in a row:\n")
	line("| attempts | wait |")
	line("|---|---|")
	for idle := int64(1); ; idle++ {
		wait := outcome.Backoff(idle)
		if wait == outcome.Backoff(idle+1) && wait > 0 {
			line("| %d and more | %d s |", idle, int(wait.Seconds()))
			break
		}
		line("| %d | %d s |", idle, int(wait.Seconds()))
	}
	line("\n## Failures\n")
	line("What a worker's failure code means. The breaker counts infrastructure failures. Errors of others, without such a code,")
	line("are classified by words in their message, and are transient when nothing fits.\n")
	line("| code | class | retryable | severity |")
	line("|---|---|---|---|")
	for _, c := range outcome.Codes() {
		line("| `%s` | %s | %s | %s |", c.Code, c.Class, yes(c.Retryable), c.Severity)
	}
	line("\n## States of a stage\n")
	line("Every move that is not listed is refused, changes nothing and is reported. A stage is done when it is ready or failed, or")
	line("when its layer is disabled. A placeholder counts as pending while the audio layer is on, as done while it is off.\n")
	line("| from | to | when |")
	line("|---|---|---|")
	for _, m := range asset.Moves() {
		line("| %s | %s | %s |", m.From, m.To, m.When)
	}
	return b.Bytes()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
