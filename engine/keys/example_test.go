package keys_test

import (
	"fmt"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Two scenes that a naive join with `:` would confuse (audit 117 M1).
func Example() {
	fmt.Println(keys.AssetState(ports.SceneID{Book: "a:b", Chapter: "c", Scene: "s*"}))
	fmt.Println(keys.AssetState(ports.SceneID{Book: "a", Chapter: "b:c", Scene: "s*"}))
	// Output:
	// animastor:asset-state:a%3Ab:c:s%2A
	// animastor:asset-state:a:b%3Ac:s%2A
}

func ExampleParse() {
	stage := ports.SceneID{Book: "a:b", Chapter: "c1", Scene: "s1"}.Of("image")
	key := keys.Receipt(keys.Job(stage, "u2", 7))
	k, err := keys.Parse(key)
	fmt.Println(key, err)
	fmt.Println(k.Book, k.Unit, k.Generation, k.String() == key)
	fmt.Println(keys.Subject(key))
	// Output:
	// animastor:receipt:image:a%3Ab:c1:s1:u2:7 <nil>
	// a:b u2 7 true
	// "a:b"/c1/s1:image/u2
}

func ExampleArtifactPath() {
	fmt.Println(keys.ArtifactPath(ports.SceneID{Book: "b1", Chapter: "..", Scene: "1/2"}, "image", "u1"))
	// Output:
	// b1/%2E%2E/1%2F2/image/u1.png
}

func ExampleDecode() {
	_, err := keys.Decode("a%3ab")
	fmt.Println(err)
	// Output:
	// keys: component "a%3ab": an escape is not a % and two upper-case hexadecimal digits; only package keys may build it
}
