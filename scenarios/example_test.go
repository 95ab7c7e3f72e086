package scenarios_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// The wrong expectation of the README, with what was seen instead.
func ExampleRunProgram() {
	file, err := syntax.Parse("eager.sim", []byte(`scenario "no worker for five minutes"

book     b1 scenes=1 stages=image
workers  image=0

request  b1
run      5m
expect   attempts b1/c1/s1:image <= 4
expect   state    b1/c1/s1:image = pending
`))
	if err != nil {
		panic(err)
	}
	program, err := lang.Vet(file)
	if err != nil {
		panic(err)
	}
	result := scenarios.RunProgram(program, 1, scenarios.RunOptions{})
	fmt.Println(result.Outcome, "after", result.Virtual)
	for _, f := range result.Failures {
		fmt.Println(f)
	}
	// Output:
	// failed after 5m0s
	// 8:1: expect attempts <= 4 of b1/c1/s1:image: saw 5
}

// TestScenarios runs the scenarios of this repository, one subtest for each file, as
// any module may run its own: seen from its root, so that the command which repeats a
// failed run can be typed there.
func TestScenarios(t *testing.T) { scenarios.Run(t, os.DirFS(".."), "scenarios/...") }
