package bookdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/animastor/orchestra/ports/internal/aside"
)

// file is a manifest as it stands in the directory.
type file struct {
	info fs.FileInfo
	text []byte // nil: it is that of last
	seen time.Time
}

// open reads a manifest, unless it is last still. Only a regular file is one: a pipe would
// hang whoever reads it.
func open(path string, last fs.FileInfo) (f file, err error) {
	opened, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f, err
	}
	defer func() { _ = opened.Close() }() // it was only read
	f.seen = time.Now()
	if f.info, err = opened.Stat(); err != nil {
		return f, err
	}
	if !f.info.Mode().IsRegular() {
		return f, fmt.Errorf("%w: %s: it is no regular file", ErrManifest, path)
	}
	if last != nil && same(f.info, last) {
		return f, nil
	}
	f.text, err = io.ReadAll(opened)
	return f, err
}

// same says whether nobody has written a manifest in between.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// settledAfter is more than the granularity of any file system's clock. What was written
// later before it was read may be written again and look the same.
const settledAfter = 3 * time.Second

func (f file) settled() bool { return f.seen.Sub(f.info.ModTime()) > settledAfter }

// absent says which errors of open prove that there is no such book: not those of a directory
// that is gone itself.
func (d *Dir) absent(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%w: no file has so long a name", fs.ErrNotExist)
	case errors.Is(err, fs.ErrNotExist):
		if _, gone := os.Stat(d.o.Path); gone != nil {
			return fmt.Errorf("bookdir: no book can be read: %v", gone) // and none is said not to exist
		}
	}
	return err
}

// Check says whether the directory can be read.
func (d *Dir) Check(ctx context.Context) error {
	return aside.Do(ctx, d.reads, func() error {
		dir, err := os.Open(d.o.Path)
		if err != nil {
			return err
		}
		defer func() { _ = dir.Close() }() // it was only read
		if _, err = dir.Readdirnames(1); errors.Is(err, io.EOF) {
			return nil // a directory without books
		}
		return err
	})
}

// keptMax is how many books are kept: those that are being made now, as a rule.
const keptMax = 16

// shelf keeps the books that were read last. A book is never changed, and nothing of it is
// handed out.
type shelf struct {
	one   sync.Mutex
	books []*book // the last one first
}

// take finds a book, and makes it the last one.
func (s *shelf) take(id string) *book {
	s.one.Lock()
	defer s.one.Unlock()
	i := slices.IndexFunc(s.books, func(b *book) bool { return b.ID == id })
	if i < 0 {
		return nil
	}
	b := s.books[i]
	s.books = slices.Insert(slices.Delete(s.books, i, i+1), 0, b)
	return b
}

// put keeps a book in the place of what was kept of it.
func (s *shelf) put(b *book) {
	s.one.Lock()
	defer s.one.Unlock()
	s.books = slices.DeleteFunc(s.books, func(old *book) bool { return old.ID == b.ID })
	s.books = slices.Insert(s.books, 0, b)
	if len(s.books) > keptMax {
		s.books = slices.Delete(s.books, keptMax, len(s.books))
	}
}

// atLine says in which line of a text its syntax is wrong.
func atLine(text []byte, err error) error {
	at := int64(len(text))
	if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
		at = min(at, wrong.Offset)
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	line := 1
	for _, c := range text[:at] {
		if c == '\n' {
			line++
		}
	}
	return fmt.Errorf("line %d: %w", line, err)
}
