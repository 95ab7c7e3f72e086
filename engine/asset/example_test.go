package asset_test

import (
	"fmt"

	"github.com/animastor/orchestra/engine/asset"
)

func Example() {
	scene := asset.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}
	fmt.Println(scene.Of(asset.Image), asset.Validate(scene))
	fmt.Println(asset.Dispatchable(asset.Dirty), asset.CanMove(asset.Ready, asset.Pending))
	fmt.Println(asset.ProfileOf(asset.Image).RenewedLease)
	// Output:
	// b1/c1/s1:image <nil>
	// true false
	// 23m0s
}

func ExampleValidateID() {
	fmt.Println(asset.ValidateID("book", "a\x00b"))
	// Output:
	// book id "a\x00b": holds a NUL; use 1 to 1024 bytes of UTF-8 without NUL
}
