package guard_test

import (
	"fmt"

	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/outcome"
)

// A worker out of memory says something about the machinery, a bad workflow does not.
func ExampleJudge() {
	oom := outcome.ClassifyFailure(outcome.WorkerOutOfMemory, "")
	bad := outcome.ClassifyFailure(outcome.InvalidWorkflow, "")
	fmt.Printf("%q %q\n", guard.Judge(oom, true), guard.Judge(bad, true))
	// Output: "failure" ""
}
