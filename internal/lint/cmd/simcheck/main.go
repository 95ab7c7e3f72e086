// Command simcheck runs the simpure analyzer:
//
//	go run ./internal/lint/cmd/simcheck ./...
//	go vet -vettool="$(which simcheck)" ./...
//
// The flag -layers says which folders of the module are checked.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/animastor/orchestra/internal/lint/simpure"
)

func main() { singlechecker.Main(simpure.Analyzer) }
