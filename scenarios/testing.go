package scenarios

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/animastor/orchestra/internal/race"
	"github.com/animastor/orchestra/scenarios/lang"
)

// Run runs the scenarios of fsys whose path matches pattern as subtests of t: one
// for each file, which runs all its seeds. A pattern is a file, a directory, or a
// directory with `/...` for all below it. Under the race detector the first seed of
// each file does.
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
			seeds := p.Seeds
			if race.Enabled {
				seeds = seeds[:1]
			}
			for _, seed := range seeds {
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
