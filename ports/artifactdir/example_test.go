package artifactdir_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
)

// A worker uploads, the engine asks.
func Example() {
	root, err := os.MkdirTemp("", "artifacts")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	tree, err := artifactdir.Open(root)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	err = tree.Put(ctx, ports.Artifact{Path: "b1/c1/s1/image/u1.png", Generation: 1, Version: 3}, strings.NewReader("a picture"))
	fmt.Println(err)
	file, presence, err := tree.Stat(ctx, "b1/c1/s1/image/u1.png")
	fmt.Println(presence, file.Version, file.Size, err)
	_, presence, err = tree.Stat(ctx, "b1/c1/s1/image/u2.png")
	fmt.Println(presence, err)
	// Output:
	// <nil>
	// present 3 9 <nil>
	// absent <nil>
}
