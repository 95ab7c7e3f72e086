// Command digests turns the output of `sim run --format json` on its standard
// input into one line for each run, `scenario seed digest`, sorted. Two sweeps
// agree if these lines do.
package main

import (
	"fmt"
	"os"

	"github.com/animastor/orchestra/internal/house"
)

func main() {
	lines, err := house.Digests(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "digests:", err)
		os.Exit(1)
	}
	for _, line := range lines {
		fmt.Println(line)
	}
}
