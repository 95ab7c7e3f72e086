package asset

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/animastor/orchestra/ports"
)

// SceneID names a scene by the raw ids of its book, chapter and scene.
type SceneID = ports.SceneID

// StageID names a stage of a scene.
type StageID = ports.StageID

// IDBytesMax is the longest id, in bytes.
const IDBytesMax = 1024

// IDError says that an id is refused at the door.
type IDError struct {
	Kind    string // what it should name: book, chapter, scene, unit, ...
	ID      string
	Problem string
}

func (e *IDError) Error() string {
	const shown = 40 // bytes; the rest of a long id helps nobody
	id := e.ID
	if len(id) > shown {
		id = id[:shown] + "..."
	}
	return fmt.Sprintf("asset: %s id %q: %s; use 1 to %d bytes of UTF-8 without NUL", e.Kind, id, e.Problem, IDBytesMax)
}

// ValidateID checks an id of the client (design 5.2): 1 to 1,024 bytes of valid
// UTF-8 without NUL. Nothing else is refused and nothing is normalised: NFC and
// NFD spellings are different ids. The error is an *IDError.
func ValidateID(kind, id string) error {
	switch {
	case id == "":
		return &IDError{kind, id, "empty"}
	case len(id) > IDBytesMax:
		return &IDError{kind, id, fmt.Sprintf("%d bytes long", len(id))}
	case strings.IndexByte(id, 0) >= 0:
		return &IDError{kind, id, "holds a NUL"}
	case !utf8.ValidString(id):
		return &IDError{kind, id, "not valid UTF-8"}
	}
	return nil
}

// Validate checks the three ids of a scene. The error is an *IDError.
func Validate(id SceneID) error {
	if err := ValidateID("book", id.Book); err != nil {
		return err
	}
	if err := ValidateID("chapter", id.Chapter); err != nil {
		return err
	}
	return ValidateID("scene", id.Scene)
}
