package ports

import (
	"context"
	"errors"
	"time"
)

// Unit is one thing to generate within a stage: an image unit, or an audio segment,
// whose id is its number (keys.ChunkID).
type Unit struct {
	ID      string
	Version int64  // content version that changed it last; an artifact made from an older one is not good enough
	Unit    string // of a segment: the image unit whose text it reads; "": none that is known
	TextLen int    // of an image unit: characters of its text
}

// VideoGroup is the run of image units that one video job renders.
type VideoGroup struct {
	ID    string
	Units []string // ids of image units, in order
}

// Scene is what the engine must know of a scene to plan its work.
type Scene struct {
	SceneID
	Version   int64           // content version; grows with every edit
	Workspace string          // whose private workers may serve the scene, too; "": nobody's
	Layers    map[string]bool // enabled stages
	Units     []Unit          // image units, in order
	Segments  []Unit          // of the audio text, in order; none: the scene has no speech
	Groups    []VideoGroup    // of the video, in order
}

// ErrNoScene says that the book is readable and holds no such scene.
var ErrNoScene = errors.New("content: no such scene")

// Content is the book content. An error other than ErrNoScene means unknown, and
// unknown never clears, deletes, regenerates or fails anything.
type Content interface {
	// Scene reads one scene.
	Scene(ctx context.Context, id SceneID) (Scene, error)
	// Scenes lists the scenes of a book, or of one chapter of it if chapter is not
	// empty, in reading order.
	Scenes(ctx context.Context, book, chapter string) ([]SceneID, error)
}

// Presence is a three-valued proof.
type Presence int

const (
	// Unknown is the zero value: the question could not be answered.
	Unknown Presence = iota
	// Absent was proved.
	Absent
	// Present was proved.
	Present
)

func (p Presence) String() string {
	return [...]string{"unknown", "absent", "present"}[p]
}

// Artifact is what the artifact tree knows of one file.
type Artifact struct {
	Path        string // keys.ArtifactPath, keys.ScenePath
	Generation  int64  // generation of the intent it was made for
	Version     int64  // content version it was made from
	Size        int64  // bytes; 0: an unfinished upload, no proof
	Placeholder bool   // silent audio stands in; proves nothing
	Composition string // what a group or a scene file was made of (package stage); "" for others

	// Of audio, as it was measured when it was made; 0: it was not.
	Duration time.Duration
	Trimmed  time.Duration // without the silence at its end
}

// Artifacts is the tree of finished files. Workers write it, the engine asks.
type Artifacts interface {
	// Stat says whether a whole file stands at path. A non-nil error comes with
	// Unknown, and only then.
	Stat(ctx context.Context, path string) (Artifact, Presence, error)
}
