package lang_test

import (
	"fmt"

	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

func ExampleVet() {
	f, err := syntax.Parse("churn.sim", []byte(`
scenario "a capacity gap is bounded churn"
book     b1 scenes=2
request  b1
run      500s
expect   atempts b1/*:image = 8..9
`))
	if err != nil {
		panic(err)
	}
	_, err = lang.Vet(f)
	fmt.Println(err)
	// Output:
	// churn.sim:6:10: unknown metric atempts (did you mean attempts?)
}

func ExampleProgram() {
	f, err := syntax.Parse("churn.sim", []byte("scenario x\nbook b1 scenes=2\nat 5s request b1/*\nrun 1m\n"))
	if err != nil {
		panic(err)
	}
	program, err := lang.Vet(f)
	if err != nil {
		panic(err)
	}
	step := program.Steps[1]
	fmt.Println(step.Verb.Name, "at", *step.At)
	for _, target := range step.Args.Path("path").Targets {
		fmt.Println(target.SceneID)
	}
	// Output:
	// request at 5s
	// b1/c1/s1
	// b1/c1/s2
}
