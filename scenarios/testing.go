package scenarios

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// Run runs the scenarios of fsys whose path matches pattern as subtests of t: one
// for each file, one below it for each seed. A pattern is a glob of package path,
// or a directory with `/...` for all below it.
func Run(t *testing.T, fsys fs.FS, pattern string) {
	t.Helper()
	files, err := match(fsys, pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".sim"), func(t *testing.T) {
			t.Parallel()
			src, err := fs.ReadFile(fsys, file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := load(file, src)
			if err != nil {
				t.Fatal(err)
			}
			for _, seed := range p.Seeds {
				r := RunProgram(p, seed, RunOptions{Keep: 400})
				if r.Outcome != Passed {
					var text strings.Builder
					(&textReporter{&text}).failures(r)
					t.Error(text.String())
				}
			}
		})
	}
}

// load parses and vets a scenario.
func load(name string, src []byte) (*lang.Program, error) {
	tree, err := syntax.Parse(name, src)
	if err != nil {
		return nil, err
	}
	return lang.Vet(tree)
}

func match(fsys fs.FS, pattern string) ([]string, error) {
	dir, recursive := strings.CutSuffix(pattern, "/...")
	if !recursive {
		files, err := fs.Glob(fsys, pattern)
		if err == nil && len(files) == 0 {
			err = errors.New(pattern + ": no scenario matches")
		}
		return files, err
	}
	var files []string
	err := fs.WalkDir(fsys, path.Clean(dir), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(p) == ".sim" {
			files = append(files, p)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New(pattern + ": no scenario below it")
	}
	return files, err
}
