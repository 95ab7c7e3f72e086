// Package artifactdir is the artifact tree as a directory, which the engine and the workers
// share: ports.Artifacts, the upload that belongs to it, ports.Media and ports.Placeholders.
//
// Beside each file stands its description, `{path}.json`:
//
//	{"generation": 1, "version": 3, "composition": "u1@1.3,u2@1.3"}
//
// That of audio says how long it is, as it was measured when it was made: "duration_ms", and
// "trimmed_ms" without the silence at its end. What was not measured is left out.
//
// A file is written under another name first. Then, with the lock of the tree
// held, its old description goes, it takes its place, and its description follows. So a
// file without a description is an unfinished upload, and a description always belongs to
// the file beside it. Whoever uploads without this package does the same.
//
// Invariants:
//   - The tree is what holds `.orchestra-tree`, which is also its lock (flock). A directory
//     without it, such as one that is not mounted, proves nothing: Unknown, and an error.
//   - A whole file is there or it is not; a crash leaves no half of one in its place. What it
//     leaves beside it, an hour later the next upload to the directory removes.
//   - A call returns when its context ends, even if the directory hangs. What it was about to
//     put does not take its place later.
//   - A merge never takes the place of a file of a higher generation, nor silence that of
//     any file, nor of one that cannot be read.
//
// Not for: building paths (engine/keys), deciding what a file proves (engine/stage).
package artifactdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/internal/aside"
)

// Marker is the file that makes a directory a tree.
const Marker = ".orchestra-tree"

// These end no path of the tree: those end in the extension of a medium.
const (
	descriptionSuffix = ".json"
	uploadSuffix      = ".upload" // of a file while it is being written
)

// staleAfter is for how long a writer has written nothing if it has died.
const staleAfter = time.Hour

// callsMax is how many reads, and how many writes, may be under way at once. If the directory
// hangs, so many hang with it.
const callsMax = 64

// Tree is a directory of artifacts. It is safe for concurrent use, by several processes of
// one machine, too.
type Tree struct {
	root          string
	reads, writes aside.Limit
}

var _ ports.Artifacts = (*Tree)(nil)

// ErrSuperseded says that a file of a higher generation stands where a merge would go.
var ErrSuperseded = errors.New("artifactdir: a file of a higher generation stands there")

// description is what stands beside a file.
type description struct {
	Generation  int64  `json:"generation"`
	Version     int64  `json:"version"`
	Placeholder bool   `json:"placeholder,omitempty"`
	Composition string `json:"composition,omitempty"`
	DurationMS  int64  `json:"duration_ms,omitempty"`
	TrimmedMS   int64  `json:"trimmed_ms,omitempty"`
}

func describe(a ports.Artifact) description {
	return description{a.Generation, a.Version, a.Placeholder, a.Composition, a.Duration.Milliseconds(), a.Trimmed.Milliseconds()}
}

// artifact is what is described, a file of a size.
func (d description) artifact(path string, size int64) ports.Artifact {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return ports.Artifact{Path: path, Generation: d.Generation, Version: d.Version, Size: size, Placeholder: d.Placeholder,
		Composition: d.Composition, Duration: ms(d.DurationMS), Trimmed: ms(d.TrimmedMS)}
}

// Open returns the tree of a directory that exists and can be written, and makes it a tree
// if it is none yet.
func Open(root string) (*Tree, error) {
	if info, err := os.Stat(root); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", root)
	}
	probe, err := os.CreateTemp(root, ".probe-*")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, err
	}
	marker, err := os.OpenFile(filepath.Join(root, Marker), os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &Tree{root, aside.NewLimit(callsMax), aside.NewLimit(callsMax)}, marker.Close()
}

// Check says whether the tree can be read now.
func (t *Tree) Check(ctx context.Context) error {
	return aside.Do(ctx, t.reads, func() error { return t.check(ctx) })
}

func (t *Tree) check(ctx context.Context) error {
	return t.locked(ctx, syscall.LOCK_SH, func() error { return nil })
}

// locked runs do with the tree locked, if the context has not ended when it is.
func (t *Tree) locked(ctx context.Context, how int, do func() error) error {
	lock, err := os.Open(filepath.Join(t.root, Marker))
	if err != nil {
		return fmt.Errorf("artifactdir: this is no tree (is it mounted?): %w", err)
	}
	defer func() { _ = lock.Close() }() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), how); err != nil {
		return fmt.Errorf("artifactdir: lock %s: %w", lock.Name(), err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return do()
}

// file is where a path of the tree lies. Paths are built by engine/keys; what would leave
// the tree is a mistake.
func (t *Tree) file(path string) (string, error) {
	if !filepath.IsLocal(path) || path == Marker || strings.HasSuffix(path, descriptionSuffix) || strings.HasSuffix(path, uploadSuffix) {
		return "", fmt.Errorf("artifactdir: %q is no path of an artifact", path)
	}
	return filepath.Join(t.root, filepath.FromSlash(path)), nil
}

// found is what stands at a place.
type found struct {
	artifact ports.Artifact
	presence ports.Presence
}

// Stat implements ports.Artifacts.
func (t *Tree) Stat(ctx context.Context, path string) (ports.Artifact, ports.Presence, error) {
	f, err := aside.Get(ctx, t.reads, func() (f found, err error) {
		file, err := t.file(path)
		if err != nil {
			return f, err
		}
		err = t.locked(ctx, syscall.LOCK_SH, func() error {
			f.artifact, f.presence, err = stat(path, file)
			return err
		})
		return f, err
	})
	if err != nil {
		return ports.Artifact{}, ports.Unknown, fmt.Errorf("stat %s: %w", path, err)
	}
	return f.artifact, f.presence, nil
}

// stat reads what stands at a place while the tree is locked.
func stat(path, file string) (ports.Artifact, ports.Presence, error) {
	text, err := os.ReadFile(file + descriptionSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return ports.Artifact{}, ports.Absent, nil
	}
	if err != nil {
		return ports.Artifact{}, ports.Unknown, err
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return ports.Artifact{}, ports.Unknown, fmt.Errorf("%s%s: %w", path, descriptionSuffix, err)
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ports.Artifact{}, ports.Absent, nil
	case err != nil:
		return ports.Artifact{}, ports.Unknown, err
	case info.Size() == 0:
		return ports.Artifact{}, ports.Absent, nil
	}
	return d.artifact(path, info.Size()), ports.Present, nil
}

// Put uploads a file, whatever stands at its path. The size of a is not looked at. If the
// context ends first, content may still be read from.
func (t *Tree) Put(ctx context.Context, a ports.Artifact, content io.Reader) error {
	return t.put(ctx, a, func(w io.Writer) error {
		_, err := io.Copy(w, content)
		return err
	}, func(ports.Artifact, ports.Presence, error) error { return nil })
}

// put writes a file and lets it take its place, unless may says no to what stands there, as
// Stat answers.
func (t *Tree) put(ctx context.Context, a ports.Artifact, write func(io.Writer) error, may func(ports.Artifact, ports.Presence, error) error) error {
	if err := aside.Do(ctx, t.writes, func() error { return t.upload(ctx, a, write, may) }); err != nil {
		return fmt.Errorf("put %s: %w", a.Path, err)
	}
	return nil
}

func (t *Tree) upload(ctx context.Context, a ports.Artifact, write func(io.Writer) error, may func(ports.Artifact, ports.Presence, error) error) error {
	file, err := t.file(a.Path)
	if err != nil {
		return err
	}
	text, err := json.Marshal(describe(a))
	if err != nil {
		return err
	}
	if err := t.check(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	sweep(filepath.Dir(file), time.Now().Add(-staleAfter))
	content, err := written(file, write)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(content) }() // it is gone if all went well
	if err := ctx.Err(); err != nil {
		return err
	}
	about, err := written(file, func(w io.Writer) error { _, err := w.Write(text); return err })
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(about) }()
	return t.locked(ctx, syscall.LOCK_EX, func() error { return replace(a.Path, file, content, about, may) })
}

// replace puts a file and its description in their place, while the tree is locked.
func replace(path, file, content, about string, may func(ports.Artifact, ports.Presence, error) error) error {
	if err := may(stat(path, file)); err != nil {
		return err
	}
	if err := os.Remove(file + descriptionSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(content, file); err != nil {
		return err
	}
	return os.Rename(about, file+descriptionSuffix)
}

// written makes a whole file beside another, and returns its name.
func written(beside string, write func(io.Writer) error) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(beside), "*"+uploadSuffix)
	if err != nil {
		return "", err
	}
	err = write(f)
	if err == nil {
		err = errors.Join(f.Chmod(0o644), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name()) // the first error says more
		return "", err
	}
	return f.Name(), nil
}

// sweep removes from a directory what writers that died before then have left half-written.
// What cannot be removed stays for the next one: nobody reads it.
func sweep(dir string, then time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), uploadSuffix) && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
