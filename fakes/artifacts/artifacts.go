package artifacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Effects are the effects of this service beside those of the kernel.
var Effects = sim.Effects{
	"missing":    {"stat"}, // answers that nothing stands there
	"unreadable": {"stat"}, // an error: unknown
}

// ErrUnreadable is the error of the effect unreadable.
var ErrUnreadable = errors.New("artifacts: unreadable")

// Store is the tree of a world. Its calls belong to the running task; their
// service is "artifacts", their verbs are stat and put.
type Store struct {
	w     *sim.World
	name  func(path string) string
	files map[string]ports.Artifact
	since map[string]time.Duration // when each was written last
}

var _ ports.Artifacts = (*Store)(nil)

// New returns an empty tree. name gives the subject of the calls about a path;
// nil: the path itself.
func New(w *sim.World, name func(path string) string) *Store {
	if name == nil {
		name = func(path string) string { return path }
	}
	return &Store{w: w, name: name, files: map[string]ports.Artifact{}, since: map[string]time.Duration{}}
}

// Stat implements ports.Artifacts.
func (s *Store) Stat(ctx context.Context, path string) (ports.Artifact, ports.Presence, error) {
	reply, err := s.call(ctx, "stat", path, func(fx *sim.Fired) (any, error) {
		switch effect(fx) {
		case "missing":
			return ports.Artifact{}, nil
		case "unreadable":
			return ports.Artifact{}, ErrUnreadable
		}
		return s.files[path], nil
	})
	if err != nil {
		return ports.Artifact{}, ports.Unknown, fmt.Errorf("stat %s: %w", path, err)
	}
	file := reply.(ports.Artifact)
	return file, presence(file), nil
}

// Put writes a file, whatever stands at its path.
func (s *Store) Put(ctx context.Context, file ports.Artifact) error {
	_, err := s.call(ctx, "put", file.Path, func(*sim.Fired) (any, error) {
		s.Set(file)
		return file, nil
	})
	if err != nil {
		return fmt.Errorf("put %s: %w", file.Path, err)
	}
	return nil
}

func (s *Store) call(ctx context.Context, verb, path string, do func(*sim.Fired) (any, error)) (any, error) {
	deadline, _ := ctx.Deadline()
	return s.w.Do(&sim.Call{
		Service: "artifacts", Verb: verb, Subject: s.name(path), Deadline: deadline, Effects: Effects, Do: do,
		Outcome: func(reply any, err error) string {
			if err != nil {
				return err.Error()
			}
			return presence(reply.(ports.Artifact)).String()
		},
	})
}

func effect(fx *sim.Fired) string {
	if fx == nil {
		return ""
	}
	return fx.Effect
}

func presence(file ports.Artifact) ports.Presence {
	if file.Size == 0 {
		return ports.Absent
	}
	return ports.Present
}

// Get reads a file without a call, an unfinished one included.
func (s *Store) Get(path string) (ports.Artifact, bool) {
	file, ok := s.files[path]
	return file, ok
}

// Name is the subject of the calls about a path.
func (s *Store) Name(path string) string { return s.name(path) }

// Set writes a file without a call, as a scenario does before its run.
func (s *Store) Set(file ports.Artifact) {
	s.files[file.Path], s.since[file.Path] = file, s.w.Elapsed()
}

// Since is when what stands at a path was written, since the world began.
func (s *Store) Since(path string) time.Duration { return s.since[path] }

// Remove takes a file away and says whether it was there.
func (s *Store) Remove(path string) bool {
	_, ok := s.files[path]
	delete(s.files, path)
	return ok
}

// List returns every file, unfinished ones included, by path.
func (s *Store) List() []ports.Artifact {
	list := make([]ports.Artifact, 0, len(s.files))
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		list = append(list, s.files[path])
	}
	return list
}
