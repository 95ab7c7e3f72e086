// Command readme prints the commands of the Markdown page named by its argument,
// one a line, for CI to run:
//
//	go run ./internal/house/cmd/readme README.md
package main

import (
	"fmt"
	"os"

	"github.com/animastor/orchestra/internal/house"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: readme PAGE")
		os.Exit(2)
	}
	page, err := os.ReadFile(os.Args[1])
	exitOn(err)
	commands, err := house.Commands(string(page))
	exitOn(err)
	for _, c := range commands {
		fmt.Println(c.Text)
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}
