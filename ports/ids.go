package ports

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// IDBytesMax is the longest id, in bytes.
const IDBytesMax = 1024

// ErrInvalid says that something was refused before anything was asked or done: an id that is
// none (*IDError), a text that no store can hold, a number below zero.
var ErrInvalid = errors.New("invalid")

// IDError says that an id is refused at the door. It is ErrInvalid.
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
	return fmt.Sprintf("%s id %q: %s; use 1 to %d bytes of UTF-8 without NUL", e.Kind, id, e.Problem, IDBytesMax)
}

// Is makes an IDError an ErrInvalid.
func (e *IDError) Is(target error) bool { return target == ErrInvalid }

// ValidateID checks an id of the client (design 5.2): 1 to 1,024 bytes of valid
// UTF-8 without NUL. Nothing else is refused and nothing is normalised: NFC and
// NFD spellings are different ids. The error is an *IDError.
func ValidateID(kind, id string) error {
	switch {
	case id == "":
		return &IDError{kind, id, "empty"}
	case len(id) > IDBytesMax:
		return &IDError{kind, id, fmt.Sprintf("%d bytes long", len(id))}
	}
	if problem := textProblem(id); problem != "" {
		return &IDError{kind, id, problem}
	}
	return nil
}

// textProblem says why a text travels through no store, or "".
func textProblem(text string) string {
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return "holds a NUL"
	case !utf8.ValidString(text):
		return "not valid UTF-8"
	}
	return ""
}

// SceneID names one scene by the raw ids of its book, chapter and scene. The ids
// are the client's own strings: 1 to 1,024 bytes of UTF-8 without NUL. Raw ids
// travel in JSON, SQL parameters and query strings; a Redis key, job id or path
// is built from them by engine/keys alone.
type SceneID struct {
	Book, Chapter, Scene string
}

// StageID names one stage (audio, image or video) of a scene.
type StageID struct {
	SceneID
	Stage string
}

// Under says whether a stage is of a chapter, scene and kind; each may be empty: of any.
func (s StageID) Under(chapter, scene, stage string) bool {
	return (chapter == "" || chapter == s.Chapter) && (scene == "" || scene == s.Scene) && (stage == "" || stage == s.Stage)
}

// Validate checks the three ids of a scene. The error is an *IDError.
func (s SceneID) Validate() error {
	for _, id := range [...]struct{ kind, id string }{{"book", s.Book}, {"chapter", s.Chapter}, {"scene", s.Scene}} {
		if err := ValidateID(id.kind, id.id); err != nil {
			return err
		}
	}
	return nil
}

// Validate checks the four ids of a stage. The error is an *IDError.
func (s StageID) Validate() error {
	if err := s.SceneID.Validate(); err != nil {
		return err
	}
	return ValidateID("stage", s.Stage)
}

// Of names a stage of the scene.
func (s SceneID) Of(stage string) StageID { return StageID{s, stage} }

// String is the scene as scenarios, traces and reports write it: book/chapter/scene,
// with a component quoted when it holds anything but letters, digits, `-`, `_` and `.`.
func (s SceneID) String() string {
	return Quote(s.Book) + "/" + Quote(s.Chapter) + "/" + Quote(s.Scene)
}

// String is the stage as scenarios, traces and reports write it: book/chapter/scene:stage.
func (s StageID) String() string { return s.SceneID.String() + ":" + s.Stage }

// Quote returns id as it is if it is plain, and as a Go string literal otherwise.
func Quote(id string) string {
	if id == "" {
		return `""`
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return strconv.Quote(id)
		}
	}
	return id
}

// Compare orders stages by book, chapter, scene and stage.
func (s StageID) Compare(o StageID) int {
	if c := s.SceneID.Compare(o.SceneID); c != 0 {
		return c
	}
	return strings.Compare(s.Stage, o.Stage)
}

// Compare orders scenes by book, chapter and scene.
func (s SceneID) Compare(o SceneID) int {
	if c := strings.Compare(s.Book, o.Book); c != 0 {
		return c
	}
	if c := strings.Compare(s.Chapter, o.Chapter); c != 0 {
		return c
	}
	return strings.Compare(s.Scene, o.Scene)
}
