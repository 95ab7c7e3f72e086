package house

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Family is a row of numbered defects of a specification, from 1 to Last: `DF1` to
// `DF17`.
type Family struct {
	Format string // of an id, as in "DF%d"
	Last   int
}

// The forms of a guard on the page of defects.
var (
	scenarioGuard = regexp.MustCompile("^\\[`([^`]+)`\\]\\(\\.\\./scenarios/([^)]+)\\.sim\\)$")
	propertyGuard = regexp.MustCompile("^property `([a-z-]+)`$")
	testGuard     = regexp.MustCompile("^`((?:Test|Fuzz|Benchmark|Example)\\w*)` in `([a-z0-9/]+)`$")
)

// Defects checks a Markdown page with rows of four cells, `| id | defect | guards |
// why |`: each defect of the families has one row, each row has a guard or says why
// there is none, and each guard exists where it will run: a scenario file, a property,
// a test. fsys is the root of the module.
func Defects(name, page string, families []Family, tree *Tree, fsys fs.FS) (problems []Problem) {
	var ids []string
	missing := map[string]bool{}
	for _, f := range families {
		for n := 1; n <= f.Last; n++ {
			id := fmt.Sprintf(f.Format, n)
			ids, missing[id] = append(ids, id), true
		}
	}
	tests := testNames(tree)
	for i, line := range strings.Split(page, "\n") {
		fail := func(format string, args ...any) {
			problems = append(problems, Problem{name, i + 1, fmt.Sprintf(format, args...)})
		}
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| id ") {
			continue
		}
		if len(cells) != 6 {
			fail("the row has %d cells, not 4: | id | defect | guards | why |", len(cells)-2)
			continue
		}
		id, guards, why := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])
		if !missing[id] {
			fail("%s has another row, or is no defect of the specifications", id)
		}
		delete(missing, id)
		if guards == "" && why == "" {
			fail("%s has no guard: name one, or say why it cannot arise", id)
		}
		for guard := range strings.SplitSeq(guards, "; ") {
			if guard != "" && !exists(guard, tests, fsys) {
				fail("%s: there is no %s", id, guard)
			}
		}
	}
	for _, id := range ids {
		if missing[id] {
			problems = append(problems, Problem{name, 1, id + " has no row"})
		}
	}
	return problems
}

func exists(guard string, tests map[string]bool, fsys fs.FS) bool {
	if m := scenarioGuard.FindStringSubmatch(guard); m != nil {
		_, err := fs.Stat(fsys, "scenarios/"+m[2]+".sim")
		return err == nil && m[1] == m[2]
	}
	if m := propertyGuard.FindStringSubmatch(guard); m != nil {
		_, err := fs.Stat(fsys, "properties/"+strings.ReplaceAll(m[1], "-", "_")+".go")
		return err == nil
	}
	m := testGuard.FindStringSubmatch(guard)
	return m != nil && tests[path.Join(m[2], m[1])]
}

// testNames are the tests of the module, as folder/TestName.
func testNames(tree *Tree) map[string]bool {
	names := map[string]bool{}
	for _, f := range tree.Files {
		if !f.Test {
			continue
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[path.Join(f.Dir, fn.Name.Name)] = true
			}
		}
	}
	return names
}
