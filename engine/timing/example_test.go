package timing_test

import (
	"fmt"
	"time"

	"github.com/animastor/orchestra/engine/timing"
)

// The second chunk loses the silence at its end, for nothing comes after it.
func ExampleByChunks() {
	times, _ := timing.ByChunks([]string{"u1", "u2"}, []timing.Chunk{
		{Unit: "u1", Raw: 3 * time.Second, Trimmed: 2 * time.Second},
		{Unit: "u2", Raw: 5 * time.Second, Trimmed: 4 * time.Second},
	})
	for _, u := range times {
		fmt.Println(u.Unit, u.Start, u.End)
	}
	// Output:
	// u1 0s 3s
	// u2 3s 7s
}
