package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/pgstore"
)

// A program migrates once and opens the store. Here no server is there: the error says so.
func Example() {
	ctx := context.Background()
	store, err := pgstore.Open(ctx, "postgres://orchestra:sesame@127.0.0.1:1/orchestra?sslmode=disable")
	if errors.Is(err, ports.ErrUnreadable) {
		fmt.Println("the store cannot be read")
		return
	}
	defer store.Close()
	scene := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}
	pointers, err := ports.AllPublished(ctx, store, scene)
	fmt.Println(len(pointers), err)
	// Output: the store cannot be read
}

// The DSN of `orchestra migrate` comes from its environment.
func ExampleMigrate() {
	err := pgstore.Migrate(context.Background(), os.Getenv("NO_SUCH_DSN"))
	fmt.Println(err)
	// Output: pg migrate: the DSN cannot be used: it is empty; write postgres://user:password@host:5432/database, with %XX for other characters
}
