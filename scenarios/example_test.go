package scenarios_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// A wrong expectation, with what was seen instead.
func ExampleRunProgram() {
	file, err := syntax.Parse("churn.sim", []byte(`
scenario "no worker"
book     b1
request  b1
run      500s
expect   attempts b1/c1/s1:image <= 3
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
	// failed after 8m20s
	// 6:1: expect attempts <= 3 of b1/c1/s1:image: saw 8
}

// How a module of one's own runs its scenarios: one subtest for each file, here of a
// tree in memory; os.DirFS or an embed.FS will do.
func TestScenariosOfOnesOwn(t *testing.T) {
	tree := fstest.MapFS{"mine/idle.sim": {Data: []byte("scenario idle\nbook b1\nrun 1h\nexpect state b1/*:image = new\n")}}
	scenarios.Run(t, tree, "mine/...")
}
