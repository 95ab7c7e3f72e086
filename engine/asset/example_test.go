package asset_test

import (
	"fmt"

	"github.com/animastor/orchestra/engine/asset"
)

func Example() {
	fmt.Println(asset.Dispatchable(asset.Dirty), asset.CanMove(asset.Ready, asset.Pending))
	fmt.Println(asset.ProfileOf(asset.Image).RenewedLease)
	// Output:
	// true false
	// 23m0s
}
