package ports

import (
	"context"
	"time"
)

// The kinds of result events. One about a stage says in which state the end of a dispatch
// has left it.
const (
	EventReady      = "ready"               // the stage is READY
	EventFailed     = "failed"              // FAILED, until somebody asks again
	EventDeferred   = "deferred"            // PENDING, and not tried again before Until
	EventPending    = "pending"             // PENDING, and tried again at the next tick
	EventDirty      = "dirty"               // DIRTY: to be made anew
	EventCancelled  = "cancelled"           // an intent has ended the dispatch
	EventSceneReady = "scene_ready"         // every stage of the scene that was asked for is READY
	EventComplete   = "generation_complete" // all that was asked for of the book is settled
)

// ResultEvent tells the host of the engine what became of a stage, or of a scene.
type ResultEvent struct {
	ID         string // the same whenever the event is told; no other event has it
	Kind       string
	Stage      StageID   // the stage is empty if the event is about the scene; all but the book if about that
	Dispatch   string    // whose end it is; of generation_complete, the scope's
	Generation int64     // of the intent that the dispatch was begun for
	Reason     string    // of engine/outcome; "" after a success
	At         time.Time // by Redis' clock
	Until      time.Time // of a deferred one; else zero
	Ready      int       // of generation_complete: scenes that are ready,
	Failed     int       // and those with a stage that failed
}

// Subject is the stage, scene or book, as traces write it.
func (e ResultEvent) Subject() string {
	switch {
	case e.Stage.Chapter == "":
		return Quote(e.Stage.Book)
	case e.Stage.Stage == "":
		return e.Stage.SceneID.String()
	}
	return e.Stage.String()
}

// Consumer takes result events. Each is told at least once, and the events of one scene in
// order: one is not told before Consume has returned nil for the one before it. After a
// crash, or an answer that was lost, an event comes again, with the same ID. Events that
// nobody takes are bounded (schema 2): of each scene the last 1,000 are kept, for 30 days.
type Consumer interface {
	// Consume takes an event. After an error it is told again half a minute later.
	Consume(ctx context.Context, e ResultEvent) error
}
