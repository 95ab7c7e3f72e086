package bookdir_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/animastor/orchestra/ports/bookdir"
)

// A book of one scene with two pictures.
func Example() {
	dir, err := os.MkdirTemp("", "books")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	text := `{"id": "b1", "scenes": [{"chapter": "c1", "scene": "s1", "version": 1, "layers": ["image"], "units": ["u1", "u2"]}]}`
	if err := os.WriteFile(filepath.Join(dir, bookdir.FileName("b1")), []byte(text), 0o600); err != nil {
		panic(err)
	}
	books := bookdir.New(bookdir.Options{Path: dir, Stages: []string{"audio", "image", "video"}})
	scenes, err := books.Scenes(context.Background(), "b1", "")
	fmt.Println(scenes, err)
	scene, err := books.Scene(context.Background(), scenes[0])
	fmt.Println(len(scene.Units), scene.Units[0].ID, scene.Layers, err)
	// Output:
	// [b1/c1/s1] <nil>
	// 2 u1 map[image:true] <nil>
}
