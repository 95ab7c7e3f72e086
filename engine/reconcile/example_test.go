package reconcile_test

import (
	"errors"
	"fmt"

	"github.com/animastor/orchestra/engine/reconcile"
)

// A pass that could not read a source says so, and has declared nothing lost.
func ExampleIncompleteError() {
	var err error = &reconcile.IncompleteError{Cause: "hub", Err: errors.New("connection refused")}
	fmt.Println(errors.Is(err, reconcile.ErrPassIncomplete))
	fmt.Println(err)
	// Output:
	// true
	// pass_incomplete: the hub could not be read, so nothing is started, deleted or declared lost: connection refused
}
