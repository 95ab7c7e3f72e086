package scenarios

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/animastor/orchestra/scenarios/lang"
)

// Run runs the scenarios of fsys whose path matches pattern as subtests of t: one
// for each file, which runs all its seeds. A pattern is a file, a directory, or a
// directory with `/...` for all below it.
func Run(t *testing.T, fsys fs.FS, pattern string) {
	t.Helper()
	files, err := lang.Expand(fsys, []string{pattern})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".sim"), func(t *testing.T) {
			t.Parallel()
			p, err := lang.Load(fsys, file)
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
