// Package bookdir is the book content as a directory of manifests, one JSON file for each
// book: ports.Content for who has no content service of his own yet.
//
//	{"id": "b1", "workspace": "",
//	 "scenes": [{"chapter": "c1", "scene": "s1", "version": 1, "layers": ["audio", "image", "video"],
//	             "segments": 2, "units": ["u1", "u2"], "groups": [{"id": "g1", "units": ["u1", "u2"]}]}]}
//
// The file of a book is named by its id, percent-encoded as one component of a URL, and
// `.json`: b1.json, a%2Fb.json. Scenes stand in reading order. A unit may be an object, and
// the segments a list of them, which say more:
//
//	"units": ["u1", {"id": "u2", "version": 2, "characters": 140}],
//	"segments": [{"unit": "u1"}, {"unit": "u2", "version": 2}]
//
// Whoever edits a scene raises its version, and writes it to what is not what it was; whoever
// writes a manifest replaces the file (write another, rename it).
//
// Invariants:
//   - The next call sees a new manifest. What is kept of those that were read last stands for
//     a file only if that is the same still, by its inode, size and time of modification.
//   - A manifest that is missing, half written or in any way wrong is an error, which the
//     engine takes for unknown: it fails, deletes and regenerates nothing for it.
//   - A call returns when its context ends, even if the directory hangs.
//   - Only a manifest that can be read proves that a scene is gone.
//
// Not for: the text of a book, or what a worker needs beside ids.
package bookdir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/internal/aside"
)

// Options are the settings of a Dir.
type Options struct {
	Path   string                   // of the directory
	Layers []string                 // stages that may be enabled at all; nil: every one of Stages
	Stages []string                 // the words that a manifest may use as a layer
	Chunk  func(segment int) string // unit id of the n-th segment, from 1 (keys.ChunkID)
}

// readsMax is how many manifests may be read at once. If the directory hangs, so many reads
// hang with it.
const readsMax = 64

// Dir is a directory of manifests. It is safe for concurrent use.
type Dir struct {
	o     Options
	open  func(path string, last fs.FileInfo) (file, error)
	reads aside.Limit
	kept  shelf
}

var _ ports.Content = (*Dir)(nil)

// New returns the content of a directory. It need not exist before the first call.
func New(o Options) *Dir { return &Dir{o: o, open: open, reads: aside.NewLimit(readsMax)} }

// ErrManifest says that a manifest could be read and makes no sense.
var ErrManifest = errors.New("bookdir: bad manifest")

// Scene implements ports.Content.
func (d *Dir) Scene(ctx context.Context, id ports.SceneID) (ports.Scene, error) {
	b, err := d.read(ctx, id.Book)
	if err != nil {
		return ports.Scene{}, fmt.Errorf("scene %s: %w", id, err)
	}
	i, found := b.at[[2]string{id.Chapter, id.Scene}]
	if !found {
		return ports.Scene{}, fmt.Errorf("scene %s: %w", id, ports.ErrNoScene)
	}
	return d.scene(b.manifest, b.Scenes[i]), nil
}

// Scenes implements ports.Content.
func (d *Dir) Scenes(ctx context.Context, book, chapter string) ([]ports.SceneID, error) {
	b, err := d.read(ctx, book)
	if err != nil {
		return nil, fmt.Errorf("scenes of %s: %w", ports.Quote(book), err)
	}
	var list []ports.SceneID
	for _, s := range b.Scenes {
		if chapter == "" || chapter == s.Chapter {
			list = append(list, ports.SceneID{Book: b.ID, Chapter: s.Chapter, Scene: s.Scene})
		}
	}
	return list, nil
}

// scene is a copy of a scene, with what it has of its book.
func (d *Dir) scene(m manifest, s scene) ports.Scene {
	out := ports.Scene{SceneID: ports.SceneID{Book: m.ID, Chapter: s.Chapter, Scene: s.Scene}, Version: s.Version, Workspace: m.Workspace,
		Layers: map[string]bool{}}
	for _, layer := range s.Layers {
		if d.o.Layers == nil || slices.Contains(d.o.Layers, layer) {
			out.Layers[layer] = true
		}
	}
	for n, segment := range s.Segments {
		out.Segments = append(out.Segments, ports.Unit{ID: d.o.Chunk(n + 1), Version: segment.Version, Unit: segment.Unit})
	}
	for _, u := range s.Units {
		out.Units = append(out.Units, ports.Unit{ID: u.ID, Version: u.Version, TextLen: u.Characters})
	}
	for _, g := range s.Groups {
		out.Groups = append(out.Groups, ports.VideoGroup{ID: g.ID, Units: slices.Clone(g.Units)})
	}
	return out
}

// FileName is the name of a book's manifest within the directory.
func FileName(book string) string { return url.PathEscape(book) + ".json" }

// book is a manifest that was read and makes sense.
type book struct {
	manifest
	at   map[[2]string]int // its scenes, by chapter and scene
	info fs.FileInfo       // of its file
}

func (d *Dir) read(ctx context.Context, id string) (*book, error) {
	path := filepath.Join(d.o.Path, FileName(id))
	kept := d.kept.take(id)
	f, err := aside.Get(ctx, d.reads, func() (file, error) {
		var last fs.FileInfo
		if kept != nil {
			last = kept.info
		}
		f, err := d.open(path, last)
		return f, d.absent(path, err)
	})
	if err != nil {
		return nil, err
	}
	if f.text == nil {
		return kept, nil
	}
	b, err := d.parse(id, f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrManifest, path, err)
	}
	if f.settled() {
		d.kept.put(b)
	}
	return b, nil
}

func (d *Dir) parse(id string, f file) (*book, error) {
	b := &book{at: map[[2]string]int{}, info: f.info}
	decoder := json.NewDecoder(bytes.NewReader(f.text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b.manifest); err != nil {
		return nil, atLine(f.text, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the book")
	}
	if why := d.wrong(b.manifest, id); why != "" {
		return nil, errors.New(why)
	}
	for i, s := range b.Scenes {
		b.at[[2]string{s.Chapter, s.Scene}] = i
	}
	return b, nil
}
