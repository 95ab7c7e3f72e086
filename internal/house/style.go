package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

const (
	functionLinesMax   = 80
	engineFileLinesMax = 500
)

// exemplary are the layers whose public packages show how they are used.
var exemplary = []string{"sim", "ports", "engine", "fakes", "scenarios", "properties"}

// Style returns every place that breaks a rule of style. Test files are exempt.
func Style(tree *Tree) []Problem {
	var problems []Problem
	for file := range tree.code {
		problems = append(problems, lengths(tree, file)...)
		problems = append(problems, undocumented(tree, file)...)
	}
	return append(problems, packages(tree)...)
}

// lengths finds what is too long to be read in one sitting.
func lengths(tree *Tree, file *File) (problems []Problem) {
	if within(file.Dir, "engine") && file.Lines > engineFileLinesMax {
		problems = append(problems, Problem{file.Path, 1,
			fmt.Sprintf("the file has more than %d lines: split it by concept", engineFileLinesMax)})
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if lines := tree.Fset.Position(fn.End()).Line - tree.Fset.Position(fn.Pos()).Line + 1; lines > functionLinesMax {
			problems = append(problems, tree.problem(fn,
				"%s has %d lines, more than %d: give its parts names of their own", fn.Name.Name, lines, functionLinesMax))
		}
	}
	return problems
}

// told are the methods that say what their type says, and need no comment.
var told = []string{"Error", "String", "Unwrap"}

// undocumented finds exported names without a doc comment. Names of a main
// package, and methods of types that are not exported, are nobody's API.
func undocumented(tree *Tree, file *File) (problems []Problem) {
	if file.Name.Name == "main" {
		return nil
	}
	report := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if id.IsExported() && !slices.ContainsFunc(docs, hasText) {
			problems = append(problems, tree.problem(id,
				"exported %s has no doc comment: say what it is, with shapes, units and errors", id.Name))
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) && !slices.Contains(told, d.Name.Name) {
				report(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					report(s.Name, s.Doc, unlessGrouped(d))
				case *ast.ValueSpec: // a comment on the group speaks for its values
					for _, name := range s.Names {
						report(name, d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
	return problems
}

func hasText(c *ast.CommentGroup) bool { return c.Text() != "" }

// unlessGrouped is the comment of a declaration that holds one spec alone.
func unlessGrouped(d *ast.GenDecl) *ast.CommentGroup {
	if d.Lparen != token.NoPos {
		return nil
	}
	return d.Doc
}

// receiver is the name of a method's type.
func receiver(fn *ast.FuncDecl) string {
	name := ""
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name // the first one: others are type parameters
		}
		return name == ""
	})
	return name
}

// packages finds packages without a package comment, and public ones without an
// example.
func packages(tree *Tree) (problems []Problem) {
	documented, examples := map[string]bool{}, map[string]bool{}
	for _, file := range tree.Files {
		examples[file.Dir] = examples[file.Dir] || path.Base(file.Path) == "example_test.go"
		documented[file.Dir] = documented[file.Dir] || !file.Test && hasText(file.Doc)
	}
	seen := map[string]bool{}
	for file := range tree.code {
		if seen[file.Dir] {
			continue
		}
		seen[file.Dir] = true
		if !documented[file.Dir] {
			problems = append(problems, Problem{file.Path, 1,
				"package " + file.Dir + " has no doc comment: say in doc.go what it is for, its invariants, what it is not for"})
		}
		if isExemplary(file) && !examples[file.Dir] {
			problems = append(problems, Problem{file.Path, 1,
				"package " + file.Dir + " shows no use: add an example_test.go"})
		}
	}
	return problems
}

func isExemplary(file *File) bool {
	return file.Name.Name != "main" && !strings.Contains("/"+file.Dir+"/", "/internal/") &&
		slices.ContainsFunc(exemplary, func(dir string) bool { return within(file.Dir, dir) })
}
