package ports_test

import (
	"fmt"

	"github.com/animastor/orchestra/ports"
)

// Ids are the client's own strings; what is not plain is quoted where people read it.
func ExampleStageID() {
	fmt.Println(ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image"))
	fmt.Println(ports.SceneID{Book: "a:b", Chapter: "c1", Scene: "s*"}.Of("image"))
	// Output:
	// b1/c1/s1:image
	// "a:b"/c1/"s*":image
}

func ExampleValidateID() {
	fmt.Println(ports.ValidateID("book", "a\x00b"))
	// Output:
	// book id "a\x00b": holds a NUL; use 1 to 1024 bytes of UTF-8 without NUL
}

// A panic in one scene must not end the tick of all.
func ExampleSystem_Isolate() {
	err := ports.NewSystem().Isolate(func() error {
		var units []ports.Unit
		fmt.Println(units[0])
		return nil
	})
	fmt.Println(err)
	// Output: panic: runtime error: index out of range [0] with length 0
}
