package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// Module is the path of this module, with a slash at its end.
const Module = "github.com/animastor/orchestra/"

// Tree is the parsed Go code of a module, in the order of its paths.
type Tree struct {
	Fset  *token.FileSet
	Files []*File
}

// File is one Go file.
type File struct {
	Path  string // relative to the module: "engine/keys/parse.go"
	Dir   string // of its package: "engine/keys", or "." for the module's root
	Test  bool
	Lines int
	*ast.File
}

// Problem is one broken rule. Line is 1 where a whole file or package is meant.
type Problem struct {
	Path    string
	Line    int
	Message string // "problem: remedy"
}

// String is `file:line: problem: remedy`.
func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Message) }

// Load parses every Go file below the root of a module, but for testdata and for
// folders that the go command ignores.
func Load(fsys fs.FS) (*Tree, error) {
	tree := &Tree{Fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isIgnored(name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		return tree.add(fsys, name)
	})
	return tree, err
}

func isIgnored(dir string) bool {
	base := path.Base(dir)
	return dir != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
}

func (t *Tree) add(fsys fs.FS, name string) error {
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(t.Fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Files = append(t.Files, &File{
		Path:  name,
		Dir:   path.Dir(name),
		Test:  strings.HasSuffix(name, "_test.go"),
		Lines: bytes.Count(source, []byte("\n")),
		File:  syntax,
	})
	return nil
}

// code yields the files that are no tests.
func (t *Tree) code(yield func(*File) bool) {
	for _, f := range t.Files {
		if !f.Test && !yield(f) {
			return
		}
	}
}

// problem makes a Problem at a node.
func (t *Tree) problem(n ast.Node, format string, args ...any) Problem {
	at := t.Fset.Position(n.Pos())
	return Problem{at.Filename, at.Line, fmt.Sprintf(format, args...)}
}
