package house

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Family is a row of numbered defects of a specification, from 1 to Last: `DF1` to
// `DF17`.
type Family struct {
	Format string // of an id, as in "DF%d"
	Last   int
}

// IDs lists the ids of families, in order.
func IDs(families ...Family) (ids []string) {
	for _, f := range families {
		for n := 1; n <= f.Last; n++ {
			ids = append(ids, fmt.Sprintf(f.Format, n))
		}
	}
	return ids
}

// The forms of a guard on the page of defects.
var (
	scenarioGuard = regexp.MustCompile("^\\[`([^`]+)`\\]\\(\\.\\./scenarios/([^)]+)\\.sim\\)$")
	propertyGuard = regexp.MustCompile("^property `([a-z-]+)`$")
	testGuard     = regexp.MustCompile("^`((?:Test|Fuzz|Example)\\w*)` in `([a-z0-9/]+)`$")
)

// Guards are what runs in the tests of this module, and so may stand for a defect.
type Guards struct {
	Root       fs.FS    // of the module; each file in scenarios/ is run
	Properties []string // ids of those that are watched
	Tests      map[string]bool
}

// runs says whether a guard exists, and is run.
func (g Guards) runs(guard string) bool {
	if m := scenarioGuard.FindStringSubmatch(guard); m != nil {
		_, err := fs.Stat(g.Root, "scenarios/"+m[2]+".sim")
		return err == nil && m[1] == m[2]
	}
	if m := propertyGuard.FindStringSubmatch(guard); m != nil {
		return slices.Contains(g.Properties, m[1])
	}
	m := testGuard.FindStringSubmatch(guard)
	return m != nil && g.Tests[path.Join(m[2], m[1])]
}

// Defects checks a Markdown page with rows of four cells, `| id | defect | guards |
// why |`: each id has one row, each row has a guard or says why there is none, and
// each guard is run.
func Defects(name, page string, ids []string, guards Guards) (problems []Problem) {
	missing := map[string]bool{}
	for _, id := range ids {
		missing[id] = true
	}
	for i, line := range strings.Split(page, "\n") {
		fail := func(format string, args ...any) {
			problems = append(problems, Problem{name, i + 1, fmt.Sprintf(format, args...)})
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| id ") {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			fail("the row has %d cells, not 4: | id | defect | guards | why |", len(cells)-2)
			continue
		}
		id, named, why := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])
		if !missing[id] {
			fail("%s has another row, or is no defect of the specifications", id)
		}
		delete(missing, id)
		if named == "" && why == "" {
			fail("%s has no guard: name one, or say why it cannot arise", id)
		}
		for guard := range strings.SplitSeq(named, "; ") {
			if guard != "" && !guards.runs(guard) {
				fail("%s: there is no %s, or nothing runs it", id, guard)
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

// Tests are the tests that `go test ./...` runs, as folder/TestName: not those of a file
// with a build constraint, those that begin by skipping themselves, nor examples without
// output.
func (t *Tree) Tests() map[string]bool {
	names := map[string]bool{}
	for _, f := range t.Files {
		if !f.Test || constrained(f.File) {
			continue
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || len(fn.Body.List) > 0 && skips(fn.Body.List[0]) {
				continue
			}
			if !strings.HasPrefix(fn.Name.Name, "Example") || hasOutput(f.File, fn) {
				names[path.Join(f.Dir, fn.Name.Name)] = true
			}
		}
	}
	return names
}

func constrained(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Pos() < f.Package && strings.HasPrefix(c.Text, "//go:build ") {
				return true
			}
		}
	}
	return false
}

// skips says whether a statement is a call such as `t.Skip("...")`.
func skips(s ast.Stmt) bool {
	expr, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := expr.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name)
}

// hasOutput says whether an example compares what it prints: without that it is compiled, and
// not run.
func hasOutput(f *ast.File, fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
		text := strings.ToLower(c.Text())
		return c.Pos() > fn.Body.Lbrace && c.End() < fn.Body.Rbrace &&
			(strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
	})
}

// Servers checks that who needs a server to run, and skips its tests without one, is run
// with one by CI: ran holds the folders of which that is known.
func Servers(tree *Tree, ran []string) (problems []Problem) {
	for _, f := range tree.Files {
		if !f.Test || slices.Contains(ran, f.Dir) {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if s, ok := n.(ast.Stmt); ok && skips(s) {
				problems = append(problems, tree.problem(n, "the test skips itself, and CI does not know how to run it: guards of %s may never run", f.Dir))
			}
			return true
		})
	}
	return problems
}
