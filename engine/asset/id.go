package asset

import "github.com/animastor/orchestra/ports"

// SceneID names a scene by the raw ids of its book, chapter and scene.
type SceneID = ports.SceneID

// StageID names a stage of a scene.
type StageID = ports.StageID

// IDBytesMax is the longest id, in bytes.
const IDBytesMax = ports.IDBytesMax

// IDError says that an id is refused at the door.
type IDError = ports.IDError

// ValidateID checks an id of the client (design 5.2). The error is an *IDError.
func ValidateID(kind, id string) error { return ports.ValidateID(kind, id) }

// Validate checks the three ids of a scene. The error is an *IDError.
func Validate(id SceneID) error { return id.Validate() }
