package house

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// mutantRow begins a row of the page of mutants: what was seen to fail, and where it is.
var mutantRow = regexp.MustCompile("^\\| \\[`([^`]+)`\\]\\(\\.\\./([^)]+)\\) \\|")

// Mutants checks a Markdown page with rows of four cells, `| guard | origin | the defect put
// back | what failed |`: each scenario of the module has one, none is of a file that is not
// there, and no cell is empty.
func Mutants(name, page string, fsys fs.FS) (problems []Problem) {
	missing := map[string]bool{}
	_ = fs.WalkDir(fsys, "scenarios", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && path.Ext(file) == ".sim" && !strings.Contains(file, "/testdata/") {
			missing[file] = true
		}
		return err
	})
	for i, line := range strings.Split(page, "\n") {
		m := mutantRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		fail := func(format string, args ...any) {
			problems = append(problems, Problem{name, i + 1, fmt.Sprintf(format, args...)})
		}
		file := m[2]
		if _, err := fs.Stat(fsys, file); err != nil || path.Ext(file) == ".sim" && !missing[file] {
			fail("%s has another row, or is not there", file)
		}
		delete(missing, file)
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			fail("the row has %d cells, not 4: | scenario | origin | the defect put back | what failed |", len(cells)-2)
			continue
		}
		for _, cell := range cells[2:5] {
			if strings.TrimSpace(cell) == "" {
				fail("%s has an empty cell: a guard that was not seen to fail proves nothing", file)
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(missing)) {
		problems = append(problems, Problem{name, 1, file + " has no row: say with which defect put back it was seen to fail"})
	}
	return problems
}
