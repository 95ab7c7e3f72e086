package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is one scenario file.
type File struct {
	Name  string
	Lines []Line
}

// Statements are the statements of the file, in order.
func (f *File) Statements() []*Statement {
	var list []*Statement
	for _, l := range f.Lines {
		if l.Stmt != nil {
			list = append(list, l.Stmt)
		}
	}
	return list
}

// Line is one line, golden blocks aside: a statement, a comment, both or neither
// (a blank line).
type Line struct {
	Stmt    *Statement
	Gap     int    // blanks between the statement and its comment; at least 1 when both are there
	Comment string // from its `#` to the end of the line, without trailing blanks
}

// Statement is `[at D | every D [until D]] verb {operand | key=value}`, with the
// golden block that follows it.
type Statement struct {
	Pos
	At, Every, Until Word // zero where not given; Until only beside Every
	Verb             Word
	Args             []Arg // as written; operands and keys may be mixed
	Golden           *Golden
}

// Arg is an operand, or `key=value`.
type Arg struct {
	Gap   int  // blanks before it, at least 1; 1 when it follows the first column, which Format pads
	Key   Word // zero for an operand
	Value Word
}

// Pos is where the argument begins.
func (a Arg) Pos() Pos {
	if a.Key.Raw != "" {
		return a.Key.Pos
	}
	return a.Value.Pos
}

// String is the argument as written.
func (a Arg) String() string {
	if a.Key.Raw != "" {
		return a.Key.Raw + "=" + a.Value.Raw
	}
	return a.Value.Raw
}

// Golden is a block of expected output between two lines `----`.
//
// Invariant: no line is `----`, with or without trailing blanks.
type Golden struct {
	Pos   // of the opening line
	Lines []string
}

// Word is one word as written. Parts of it may stand in double quotes, with the
// escapes of a Go string.
//
// Invariant: quotes are closed and their escapes valid; blanks stand only in quotes.
type Word struct {
	Pos
	Raw string
}

// Quote is the word whose Text is text and in which nothing is special: a bare
// word where that is safe, one quoted string otherwise.
func Quote(text string) Word {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return Word{Raw: strconv.Quote(text)}
		}
	}
	if text == "" {
		return Word{Raw: strconv.Quote(text)}
	}
	return Word{Raw: text}
}

// Text is the word with its quotes resolved.
func (w Word) Text() string {
	var b strings.Builder
	for rest := w.Raw; rest != ""; {
		n := 1
		if rest[0] != '"' {
			b.WriteByte(rest[0])
		} else {
			n = quoted(rest)
			text, err := strconv.Unquote(rest[:max(n, 0)])
			if err != nil {
				panic("syntax: malformed word " + w.Raw)
			}
			b.WriteString(text)
		}
		rest = rest[n:]
	}
	return b.String()
}

// Bare says whether the word holds no quoted string.
func (w Word) Bare() bool { return !strings.Contains(w.Raw, `"`) }

// Literal says whether the whole word is one quoted string.
func (w Word) Literal() bool {
	return strings.HasPrefix(w.Raw, `"`) && quoted(w.Raw) == len(w.Raw)
}

// Split cuts the word at each sep that stands outside quotes. The parts know
// their own places; a part may be empty.
func (w Word) Split(sep byte) []Word {
	var parts []Word
	start := 0
	cut := func(end int) {
		pos := w.Pos
		if pos.Line > 0 {
			pos.Col += utf8.RuneCountInString(w.Raw[:start])
		}
		parts = append(parts, Word{Pos: pos, Raw: w.Raw[start:end]})
		start = end + 1
	}
	for i := 0; i < len(w.Raw); i++ {
		switch w.Raw[i] {
		case '"':
			i += quoted(w.Raw[i:]) - 1
		case sep:
			cut(i)
		}
	}
	cut(len(w.Raw))
	return parts
}

// quoted is the length in bytes of the quoted string at the beginning of s, or
// -1 if it is not closed. Escapes are skipped, not checked.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}
