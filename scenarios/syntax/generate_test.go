package syntax_test

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// genWord draws a word of bare and quoted parts that is no operator and holds no
// bare `=`.
func genWord() *rapid.Generator[syntax.Word] {
	bare := rapid.StringMatching(`[a-zé0-9/:,.*_-]{1,6}`)
	quoted := rapid.Map(rapid.String(), func(s string) string { return syntax.Quote(s + " ").Raw })
	part := rapid.OneOf(bare, quoted)
	return rapid.Map(rapid.SliceOfN(part, 1, 3), func(parts []string) syntax.Word {
		return syntax.Word{Raw: strings.Join(parts, "")}
	})
}

func genArg() *rapid.Generator[syntax.Arg] {
	return rapid.Custom(func(t *rapid.T) syntax.Arg {
		a := syntax.Arg{Gap: rapid.IntRange(1, 4).Draw(t, "gap"), Value: genWord().Draw(t, "value")}
		switch rapid.SampledFrom([]string{"operand", "key", "quoted key", "operator"}).Draw(t, "arg") {
		case "key":
			a.Key.Raw = rapid.StringMatching(`[a-z][a-z0-9.]{0,5}`).Draw(t, "key")
		case "quoted key":
			a.Key.Raw = syntax.Quote(rapid.String().Draw(t, "key") + "=").Raw
		case "operator":
			a.Value.Raw = rapid.SampledFrom([]string{"=", "!=", "<", "<=", ">", ">="}).Draw(t, "op")
		}
		return a
	})
}

func genStatement() *rapid.Generator[*syntax.Statement] {
	return rapid.Custom(func(t *rapid.T) *syntax.Statement {
		s := &syntax.Statement{Verb: syntax.Word{Raw: rapid.StringMatching(`[b-df-tv-z][a-z]{0,11}`).Draw(t, "verb")}}
		timed := false
		switch rapid.SampledFrom([]string{"none", "at", "every", "until"}).Draw(t, "prefix") {
		case "at":
			s.At, timed = genWord().Draw(t, "at"), true
		case "until":
			s.Until = genWord().Draw(t, "until")
			fallthrough
		case "every":
			s.Every, timed = genWord().Draw(t, "every"), true
		}
		if args := rapid.SliceOfN(genArg(), 0, 4).Draw(t, "args"); len(args) > 0 {
			s.Args = args
			if !timed {
				s.Args[0].Gap = 1
			}
		}
		if rapid.Bool().Draw(t, "golden") {
			s.Golden = &syntax.Golden{Lines: rapid.SliceOfN(rapid.StringMatching(`[a-z#" \t]{0,9}`), 1, 3).Draw(t, "lines")}
		}
		return s
	})
}

func genFile() *rapid.Generator[*syntax.File] {
	comment := rapid.StringMatching(`#[ a-z"=é]{0,8}x`)
	line := rapid.Custom(func(t *rapid.T) syntax.Line {
		var l syntax.Line
		if rapid.Bool().Draw(t, "statement") {
			l.Stmt = genStatement().Draw(t, "stmt")
		}
		if rapid.Bool().Draw(t, "comment") {
			l.Comment = comment.Draw(t, "text")
			if l.Stmt != nil {
				l.Gap = rapid.IntRange(1, 9).Draw(t, "gap")
			}
		}
		return l
	})
	return rapid.Custom(func(t *rapid.T) *syntax.File {
		f := &syntax.File{Name: "x.sim"}
		if lines := rapid.SliceOf(line).Draw(t, "lines"); len(lines) > 0 {
			f.Lines = lines
		}
		return f
	})
}
