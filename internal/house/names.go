package house

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// quotedName is a name of the code in a page: `engine.Config`, `engine.Config.Window`.
var quotedName = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)((?:\\.[A-Z]\\w*)?)`")

// Names checks that the exported names of this module that a Markdown page quotes exist: of
// a package, or a method or field of one of its types, which may be left out: `engine.Request`.
// Packages of others are not looked at.
func Names(name, page string, tree *Tree) (problems []Problem) {
	packages, names := exported(tree)
	for i, line := range strings.Split(page, "\n") {
		for _, m := range quotedName.FindAllStringSubmatch(line, -1) {
			if quoted := m[1] + "." + m[2] + m[3]; packages[m[1]] && !names[quoted] {
				problems = append(problems, Problem{name, i + 1, fmt.Sprintf("there is no %s: was it renamed?", quoted)})
			}
		}
	}
	return problems
}

// exported are the packages of a tree, by name, and what they export: `engine.Config`, and
// with their types what these have, `engine.Config.Window`.
func exported(tree *Tree) (packages, names map[string]bool) {
	packages, names = map[string]bool{}, map[string]bool{}
	for file := range tree.code {
		pkg := file.Name.Name
		packages[pkg] = true
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				names[pkg+"."+d.Name.Name] = true
				if d.Recv != nil {
					names[pkg+"."+receiver(d)+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					for _, id := range declared(spec) {
						names[pkg+"."+id] = true
					}
				}
			}
		}
	}
	return packages, names
}

// declared are the names of a spec; of a type, its fields and methods, too.
func declared(spec ast.Spec) (ids []string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, id := range s.Names {
			ids = append(ids, id.Name)
		}
	case *ast.TypeSpec:
		ids = append(ids, s.Name.Name)
		var fields *ast.FieldList
		switch t := s.Type.(type) {
		case *ast.StructType:
			fields = t.Fields
		case *ast.InterfaceType:
			fields = t.Methods
		default:
			return ids
		}
		for _, field := range fields.List {
			for _, id := range field.Names {
				ids = append(ids, id.Name, s.Name.Name+"."+id.Name)
			}
		}
	}
	return ids
}
