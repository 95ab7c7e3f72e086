package house

import (
	"slices"
	"strconv"
	"strings"
)

// layer is one row of design 2's table. A package belongs to the layer with the
// longest matching folder. Packages of a layer import one another freely.
type layer struct {
	dir    string   // the folder; its subfolders belong to it
	may    []string // folders of the module that it may import, with their subfolders
	banned []string // packages of others that it may not import
	tests  bool     // it serves test files, and may import what only they may
}

// world is what simulated code may not reach around its ports for.
var world = []string{"crypto/rand", "net/http", "os", "os/exec", "os/signal", "syscall"}

// layers is the table of design 2.
var layers = []layer{
	{dir: "cmd/sim", may: []string{"scenarios", "properties/worlds", "internal/live"}},
	{dir: "cmd/orchestra", may: []string{"engine", "ports", "fakes", "sim"}},
	{dir: "properties/worlds", may: []string{"scenarios"}},
	{dir: "scenarios", may: []string{"properties", "engine", "fakes", "ports", "sim", "internal/race"}},
	{dir: "properties", may: []string{"fakes", "sim", "ports", "engine/keys", "engine/asset", "engine/outcome"}},
	{dir: "fakes", may: []string{"ports", "sim"}},
	{dir: "engine", may: []string{"ports"}, banned: append([]string{"math/rand", "math/rand/v2", "net"}, world...)},
	{dir: "ports"},
	{dir: "sim", banned: append([]string{"net"}, world...)},
	{dir: "internal"},
	{dir: "internal/universe", may: []string{"engine", "ports"}, tests: true},
}

// testOnly are packages that only test files may import.
var testOnly = []string{"github.com/stretchr/testify", "pgregory.net/rapid"}

// Imports returns every import that breaks the table of design 2. Test files are
// exempt.
func Imports(tree *Tree) []Problem {
	var problems []Problem
	for file := range tree.code {
		from := layerOf(file.Dir)
		if from == nil {
			problems = append(problems, Problem{file.Path, 1,
				"package " + file.Dir + " is in no layer: move it, or add the layer to the table (design 2)"})
			continue
		}
		for _, spec := range file.Imports {
			target, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
			if why := from.refuses(target); why != "" {
				problems = append(problems, tree.problem(spec, "%s may not import %s: %s", from.dir, target, why))
			}
		}
	}
	return problems
}

func layerOf(dir string) *layer {
	var best *layer
	for i, l := range layers {
		if within(dir, l.dir) && (best == nil || len(l.dir) > len(best.dir)) {
			best = &layers[i]
		}
	}
	return best
}

// refuses says why a layer may not import a package, or "".
func (l *layer) refuses(target string) string {
	inModule, ours := strings.CutPrefix(target, Module)
	switch {
	case !ours && slices.Contains(l.banned, target):
		return "take what you need from the world through ports or the configuration"
	case !ours && !l.tests && slices.ContainsFunc(testOnly, func(p string) bool { return within(target, p) }):
		return "it is for test files"
	case !ours || layerOf(inModule) == l:
		return ""
	}
	for _, dir := range l.may {
		if within(inModule, dir) && (layerOf(inModule) == layerOf(dir)) {
			return ""
		}
	}
	if len(l.may) == 0 {
		return "it imports no other layer (design 2)"
	}
	return "it may import " + strings.Join(l.may, ", ") + " (design 2)"
}

// within says whether dir is root or below it.
func within(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, root+"/")
}
