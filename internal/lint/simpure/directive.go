package simpure

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const (
	allow     = "allow"     // permits anything
	unordered = "unordered" // permits a loop over a map
)

// directive is one //sim: comment of a file that is checked.
type directive struct {
	pos    token.Pos
	verb   string
	reason string
	used   bool
}

// line names a line of a file.
type line struct {
	file   string
	number int
}

// directives are the //sim: comments of a package: in the order of the source, and
// by the line that each is about.
type directives struct {
	all    []*directive
	byLine map[line]*directive
}

// readDirectives finds the //sim: comments of the files that are no tests.
func readDirectives(pass *analysis.Pass) (*directives, error) {
	ds := &directives{byLine: map[line]*directive{}}
	for _, file := range pass.Files {
		if isTest(pass.Fset, file.Pos()) {
			continue
		}
		source, err := pass.ReadFile(pass.Fset.File(file.Pos()).Name())
		if err != nil {
			return nil, err
		}
		lines := bytes.Split(source, []byte("\n"))
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if d, ok := parseDirective(comment); ok {
					ds.add(pass.Fset.Position(d.pos), d, lines)
				}
			}
		}
	}
	return ds, nil
}

// parseDirective reads `//sim:verb reason`; the reason ends where another comment
// begins.
func parseDirective(comment *ast.Comment) (*directive, bool) {
	text, ok := strings.CutPrefix(comment.Text, "//sim:")
	if !ok {
		return nil, false
	}
	text, _, _ = strings.Cut(text, "//")
	verb, reason, _ := strings.Cut(text, " ")
	return &directive{pos: comment.Pos(), verb: verb, reason: strings.TrimSpace(reason)}, true
}

// add files a directive under the line that it is about: its own, or the next one
// if it stands alone.
func (ds *directives) add(at token.Position, d *directive, lines [][]byte) {
	number := at.Line
	if before := lines[at.Line-1][:at.Column-1]; len(bytes.TrimSpace(before)) == 0 {
		number++
	}
	ds.all = append(ds.all, d)
	ds.byLine[line{at.Filename, number}] = d
}

// permit says whether a directive excuses the finding, and notes that it was used.
func (ds *directives) permit(fset *token.FileSet, f finding) bool {
	at := fset.Position(f.pos)
	d := ds.byLine[line{at.Filename, at.Line}]
	if d == nil || d.verb != allow && !(d.verb == unordered && f.order) {
		return false
	}
	d.used = true
	return true
}

// reportUseless reports directives that are unknown, give no reason or permit
// nothing.
func (ds *directives) reportUseless(pass *analysis.Pass) {
	for _, d := range ds.all {
		var message string
		switch {
		case d.verb != allow && d.verb != unordered:
			message = fmt.Sprintf("unknown directive //sim:%s: use //sim:%s or //sim:%s", d.verb, allow, unordered)
		case d.reason == "":
			message = fmt.Sprintf("//sim:%s without a reason: say why it is safe", d.verb)
		case !d.used:
			message = fmt.Sprintf("//sim:%s permits nothing here: remove it", d.verb)
		default:
			continue
		}
		pass.Report(analysis.Diagnostic{Pos: d.pos, Message: message})
	}
}
