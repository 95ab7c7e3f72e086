package worlds_test

import (
	"fmt"

	"github.com/animastor/orchestra/properties/worlds"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// plain makes the plainest choice everywhere.
type plain struct{}

func (plain) Intn(int) int       { return 0 }
func (plain) Repeat(int, func()) {}

// The plainest world that can be drawn: what a failing one shrinks towards.
func ExampleDraw() {
	fmt.Print(string(syntax.Format(worlds.Draw(plain{}, worlds.Default))))
	// Output:
	// scenario "world 1" seed=1
	// book     b1 chapters=c1 scenes=s1 stages=image units=1
	// workers  image=0 job=20s..60s
	// engines  1
	// request  b1
	// run      120s
	//
	// workers  image=0
	// workers  image=1 job=20s..60s
	// settle   within=12h0m0s
	// expect   state   *:* != generating
	// expect   leased  *:* = no
	// expect   slots   image = 0
	// expect   indexed * = no within=3m
}
