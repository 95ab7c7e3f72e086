package ports

import (
	"strconv"
	"strings"
)

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
