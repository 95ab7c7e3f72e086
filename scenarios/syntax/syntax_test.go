package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// examples are the four scenarios of design 7, by file name.
func examples(t testing.TB) map[string][]byte {
	paths, err := filepath.Glob("testdata/*.sim")
	require.NoError(t, err)
	require.Len(t, paths, 4)
	files := map[string][]byte{}
	for _, p := range paths {
		src, err := os.ReadFile(p)
		require.NoError(t, err)
		files[p] = src
	}
	return files
}

// unplaced takes the positions out of a tree, to compare it with another.
func unplaced(f *syntax.File) *syntax.File {
	for _, s := range f.Statements() {
		words := []*syntax.Word{&s.At, &s.Every, &s.Until, &s.Verb}
		for i := range s.Args {
			words = append(words, &s.Args[i].Key, &s.Args[i].Value)
		}
		for _, w := range words {
			w.Pos = syntax.Pos{}
		}
		s.Pos = syntax.Pos{}
		if s.Golden != nil {
			s.Golden.Pos = syntax.Pos{}
		}
	}
	return f
}

func TestExamplesAreCanonical(t *testing.T) {
	for name, src := range examples(t) {
		f, err := syntax.Parse(name, src)
		require.NoError(t, err)
		require.Equal(t, string(src), string(syntax.Format(f)), name)
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"empty", "", ""},
		{"blank lines stay", "\n\na\n\n", "\n\na\n\n"},
		{"the last line is ended", "replay strict", "replay   strict\n"},
		{"indentation and trailing blanks go", "\t run  10s \t\n  # why \n", "run      10s\n# why\n"},
		{"windows line ends go", "run 10s\r\n", "run      10s\n"},
		{"a table stays aligned", "expect a    b = 1   # x\n", "expect   a    b = 1   # x\n"},
		{"a tab counts as one blank", "expect a\tb\n", "expect   a b\n"},
		{"a long verb", "regenerate   b1\n", "regenerate b1\n"},
		{"a time comes before the verb", "at 5s fault  hub lost\n", "at 5s    fault  hub lost\n"},
		{"a long time", "every 500ms  until 10s   fault hub lost", "every 500ms until 10s fault hub lost\n"},
		{"a comment needs a blank before it", "run 10s#x # y\n", "run      10s#x # y\n"},
		{"quotes stay", `book "a:b" x="c d"`, `book     "a:b" x="c d"` + "\n"},
		{"golden blocks are verbatim", "show x\n----\n  a # b \n\n\"\n----  \n", "show     x\n----\n  a # b \n\n\"\n----\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := syntax.Parse("x.sim", []byte(c.src))
			require.NoError(t, err)
			require.Equal(t, c.want, string(syntax.Format(f)))
		})
	}
}

func TestParse(t *testing.T) {
	f, err := syntax.Parse("x.sim", []byte("# é\n"+`at 5s fault "é:b"/c1/"s*" x=1,"b:c" >= call="a=b"`+"\n----\nseen\n----\n"))
	require.NoError(t, err)
	require.Len(t, f.Lines, 2)
	s := f.Statements()[0]
	require.Equal(t, syntax.Pos{Line: 2, Col: 1}, s.Pos)
	require.Equal(t, syntax.Word{Pos: syntax.Pos{Line: 2, Col: 4}, Raw: "5s"}, s.At)
	require.Equal(t, syntax.Word{Pos: syntax.Pos{Line: 2, Col: 7}, Raw: "fault"}, s.Verb)
	require.Equal(t, []string{"seen"}, s.Golden.Lines)
	require.Equal(t, 3, s.Golden.Line)

	require.Len(t, s.Args, 4)
	path, list, op, call := s.Args[0], s.Args[1], s.Args[2], s.Args[3]
	parts := path.Value.Split('/')
	require.Len(t, parts, 3)
	require.Equal(t, []string{"é:b", "c1", "s*"}, []string{parts[0].Text(), parts[1].Text(), parts[2].Text()})
	require.Equal(t, []int{13, 19, 22}, []int{parts[0].Col, parts[1].Col, parts[2].Col}, "columns count runes")
	require.True(t, parts[0].Literal())
	require.True(t, parts[1].Bare())
	require.Equal(t, "x", list.Key.Raw)
	require.Len(t, list.Value.Split(','), 2)
	require.True(t, op.Value.Operator())
	require.Equal(t, "a=b", call.Value.Text())
	require.Equal(t, s.Args[3].Pos(), call.Key.Pos)
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"unclosed quote", "é \"a\nrun 5s\n", `x.sim:1:3: the quote is not closed (a quoted string ends with " on the same line)`},
		{"escape", `book "\q"`, `x.sim:1:6: bad escape in "\q" (escapes are those of Go: \" \\ \n \x00 \u00e9)`},
		{"NUL", "run 5s\n\x7fEL\x00", "x.sim:2:4: not a text file: NUL byte (a scenario is UTF-8 text)"},
		{"invalid UTF-8", "ab\xff\x00", "x.sim:1:3: not a text file: invalid UTF-8 (a scenario is UTF-8 text)"},
		{"control character", "run\a 5s", "x.sim:1:4: control character U+0007"},
		{"invisible character", "run\u00a05s", "x.sim:1:4: invisible character U+00A0 (quote it, or delete it)"},
		{"long line", strings.Repeat("x", 64<<10+1), "x.sim:1:1: the line is longer than 65536 bytes"},
		{"no verb", `"book" b1`, `x.sim:1:1: expected a verb, found "book" (a statement is: verb operands key=value)`},
		{"no time", "at", "x.sim:1:1: a time is missing after at (as in at 55s)"},
		{"no until", "every 5s until", "x.sim:1:10: a time is missing after until (as in until 55s)"},
		{"no verb after a time", "at 55s # x", "x.sim:1:1: a verb is missing after the time"},
		{"blank after =", "book b1 chapters= 2", `x.sim:1:9: a value is missing after chapters= (no blanks around =; an empty value is "")`},
		{"blank before =", "book b1 chapters =2", "x.sim:1:18: cannot read =2 (an operator has blanks on both sides, key=value has none)"},
		{"tight operator", "expect state b1>=3", "x.sim:1:14: cannot read b1>=3 (an operator has blanks on both sides, key=value has none)"},
		{"no key", "expect b1/c1=3", "x.sim:1:8: b1/c1 is no key (quote the word if it is no key=value)"},
		{"golden not closed", "show x\n----\na", "x.sim:2:1: the golden block is not closed (end it with a line ----)"},
		{"golden alone", "# x\n----\n----\n", "x.sim:2:1: a golden block follows a statement (put it right below its statement)"},
		{"two golden blocks", "show x\n----\n----\n----\n----\n", "x.sim:4:1: a golden block follows a statement (put it right below its statement)"},
		{"all of them", "=\nrun \"\n----\n----\nx y=", "x.sim:1:1: expected a verb, found = (a statement is: verb operands key=value)\n" +
			"x.sim:2:5: the quote is not closed (a quoted string ends with \" on the same line)\n" +
			`x.sim:5:3: a value is missing after y= (no blanks around =; an empty value is "")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := syntax.Parse("x.sim", []byte(c.src))
			require.EqualError(t, err, c.want)
			require.Nil(t, f)
		})
	}
	require.EqualError(t, &syntax.Error{File: "x.sim", Msg: "empty"}, "x.sim: empty")
}

// roundTrip checks what package syntax promises of every text.
func roundTrip(t require.TestingT, src []byte) {
	f, err := syntax.Parse("x.sim", src)
	if err != nil {
		require.Nil(t, f)
		return
	}
	once := syntax.Format(f)
	again, err := syntax.Parse("x.sim", once)
	require.NoError(t, err, "Format wrote what Parse refuses: %q", once)
	require.Equal(t, string(once), string(syntax.Format(again)), "Format is not idempotent")
	require.Equal(t, unplaced(f), unplaced(again), "Parse(Format(x)) != x")
}

func FuzzParse(f *testing.F) {
	for _, src := range examples(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) { roundTrip(t, src) })
}

func TestEveryTreeRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := genFile().Draw(t, "tree")
		text := syntax.Format(tree)
		back, err := syntax.Parse("x.sim", text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, tree, unplaced(back), "%s", text)
	})
}

func TestQuoteIsUndoneByText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		w := syntax.Quote(text)
		require.Equal(t, text, w.Text())
		require.Len(t, w.Split('/'), 1)
		f, err := syntax.Parse("x.sim", []byte("book "+w.Raw))
		require.NoError(t, err)
		require.Equal(t, text, f.Statements()[0].Args[0].Value.Text())
	})
}

func TestFormatRefusesAFenceInAGoldenBlock(t *testing.T) {
	f, err := syntax.Parse("x.sim", []byte("show x\n----\n----\n"))
	require.NoError(t, err)
	f.Statements()[0].Golden.Lines = []string{"----  "}
	require.Panics(t, func() { syntax.Format(f) })
}
