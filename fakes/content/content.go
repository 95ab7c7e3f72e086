package content

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Effects are the effects of this service beside those of the kernel.
var Effects = sim.Effects{
	"missing":    {"scene", "scenes"}, // the scene, or every scene of the book, is not there
	"unreadable": nil,                 // an error
}

// ErrUnreadable is the error of the effect unreadable.
var ErrUnreadable = errors.New("content: unreadable")

// BookSpec declares a book: a grid of scenes that are all alike.
type BookSpec struct {
	ID       string
	Chapters []string
	Scenes   []string // of each chapter
	Units    int      // image units of each scene: u1, u2, …
	Layers   []string // enabled stages of each scene
}

// Books is the content of a world. Its calls belong to the running task; their
// service is "content", their verbs are scene and scenes.
type Books struct {
	w      *sim.World
	scenes map[ports.SceneID]ports.Scene
	times  map[ports.SceneID][]ports.UnitTime
	order  []ports.SceneID
}

var (
	_ ports.Content = (*Books)(nil)
	_ ports.Timings = (*Books)(nil)
)

// New returns a content without books.
func New(w *sim.World) *Books {
	return &Books{w: w, scenes: map[ports.SceneID]ports.Scene{}, times: map[ports.SceneID][]ports.UnitTime{}}
}

// Add declares a book. Its scenes have version 1.
func (b *Books) Add(spec BookSpec) {
	for _, chapter := range spec.Chapters {
		for _, scene := range spec.Scenes {
			s := ports.Scene{SceneID: ports.SceneID{Book: spec.ID, Chapter: chapter, Scene: scene}, Version: 1, Layers: map[string]bool{}}
			for _, stage := range spec.Layers {
				s.Layers[stage] = true
			}
			for i := range spec.Units {
				s.Units = append(s.Units, ports.Unit{ID: "u" + strconv.Itoa(i+1)})
			}
			b.Set(s)
		}
	}
}

// Set writes a scene: a new one stands last in its book, an edited one stays where
// it was.
func (b *Books) Set(s ports.Scene) {
	if _, ok := b.scenes[s.SceneID]; !ok {
		b.order = append(b.order, s.SceneID)
	}
	b.scenes[s.SceneID] = clone(s)
}

// Insert writes a new scene, in front of the first of those given that is there, or last.
func (b *Books) Insert(s ports.Scene, before ...ports.SceneID) {
	b.Set(s)
	i := slices.IndexFunc(before, func(id ports.SceneID) bool { return slices.Contains(b.order, id) })
	if i < 0 {
		return
	}
	b.order = slices.DeleteFunc(b.order, func(id ports.SceneID) bool { return id == s.SceneID })
	b.order = slices.Insert(b.order, slices.Index(b.order, before[i]), s.SceneID)
}

// Edit raises the version of a scene, and lets change alter the rest of it; nil:
// nothing else. It is false if there is no such scene.
func (b *Books) Edit(id ports.SceneID, change func(*ports.Scene)) bool {
	s, ok := b.Get(id)
	if !ok {
		return false
	}
	s.Version++
	if change != nil {
		change(&s)
	}
	b.Set(s)
	return true
}

// Delete removes a scene and says whether it was there.
func (b *Books) Delete(id ports.SceneID) bool {
	_, ok := b.scenes[id]
	delete(b.scenes, id)
	b.order = slices.DeleteFunc(b.order, func(s ports.SceneID) bool { return s == id })
	return ok
}

// Get reads a scene without a call.
func (b *Books) Get(id ports.SceneID) (ports.Scene, bool) {
	s, ok := b.scenes[id]
	return clone(s), ok
}

// All lists every scene of every book, in order.
func (b *Books) All() []ports.SceneID { return slices.Clone(b.order) }

// Scene implements ports.Content.
func (b *Books) Scene(ctx context.Context, id ports.SceneID) (ports.Scene, error) {
	reply, err := b.call(ctx, "scene", id.String(), func(missing bool) (any, error) {
		s, ok := b.Get(id)
		if missing || !ok {
			return nil, ports.ErrNoScene
		}
		return s, nil
	})
	if err != nil {
		return ports.Scene{}, fmt.Errorf("scene %s: %w", id, err)
	}
	return reply.(ports.Scene), nil
}

// Scenes implements ports.Content. A book without scenes has an empty list.
func (b *Books) Scenes(ctx context.Context, book, chapter string) ([]ports.SceneID, error) {
	subject := ports.Quote(book)
	if chapter != "" {
		subject += "/" + ports.Quote(chapter)
	}
	reply, err := b.call(ctx, "scenes", subject, func(missing bool) (any, error) {
		var list []ports.SceneID
		for _, id := range b.order {
			if !missing && id.Book == book && (chapter == "" || id.Chapter == chapter) {
				list = append(list, id)
			}
		}
		return list, nil
	})
	if err != nil {
		return nil, fmt.Errorf("scenes of %s: %w", subject, err)
	}
	return reply.([]ports.SceneID), nil
}

// SetTimes implements ports.Timings.
func (b *Books) SetTimes(ctx context.Context, id ports.SceneID, version int64, times []ports.UnitTime) error {
	if err := id.ValidateTimes(version, times); err != nil {
		return fmt.Errorf("times of %s: %w", id, err)
	}
	_, err := b.call(ctx, "times", id.String(), func(bool) (any, error) {
		if s, ok := b.Get(id); ok && s.Version == version {
			b.times[id] = slices.Clone(times)
		}
		return nil, nil
	})
	if err != nil {
		return fmt.Errorf("times of %s: %w", id, err)
	}
	return nil
}

// Times reads when the pictures of a scene are shown, without a call.
func (b *Books) Times(id ports.SceneID) []ports.UnitTime { return slices.Clone(b.times[id]) }

func (b *Books) call(ctx context.Context, verb, subject string, do func(missing bool) (any, error)) (any, error) {
	deadline, _ := ctx.Deadline()
	return b.w.Do(&sim.Call{
		Service: "content", Verb: verb, Subject: subject, Deadline: deadline, Effects: Effects,
		Do: func(fx *sim.Fired) (any, error) {
			if fx != nil && fx.Effect == "unreadable" {
				return nil, ErrUnreadable
			}
			return do(fx != nil && fx.Effect == "missing")
		},
	})
}

// clone shares nothing with s: an edit must not show in what was read before it.
func clone(s ports.Scene) ports.Scene {
	s.Layers, s.Units, s.Segments, s.Groups = maps.Clone(s.Layers), slices.Clone(s.Units), slices.Clone(s.Segments), slices.Clone(s.Groups)
	for i := range s.Groups {
		s.Groups[i].Units = slices.Clone(s.Groups[i].Units)
	}
	return s
}
