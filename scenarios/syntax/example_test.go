package syntax_test

import (
	"fmt"

	"github.com/animastor/orchestra/scenarios/syntax"
)

func ExampleFormat() {
	f, _ := syntax.Parse("churn.sim", []byte("run 500s # 100 ticks\nat 5s fault hub lost"))
	fmt.Print(string(syntax.Format(f)))
	// Output:
	// run      500s # 100 ticks
	// at 5s    fault hub lost
}

func ExampleParse() {
	_, err := syntax.Parse("churn.sim", []byte("book \"a:b\nbook b1 scenes= 2\n"))
	fmt.Println(err)
	// Output:
	// churn.sim:1:6: the quote is not closed (a quoted string ends with " on the same line)
	// churn.sim:2:9: a value is missing after scenes= (no blanks around =; an empty value is "")
}
