package syntax

import (
	"fmt"
	"strings"
)

// column is the width of the first column: the verb, or the time before it.
const column = 8

// Format writes a file in its canonical form: no indentation, the first column
// (the verb, or `at D` before it) padded to 8, no trailing blanks, lines ended by
// "\n". Blanks between later words, and before a comment, are the author's: a
// table that somebody aligned stays aligned.
//
// It panics on a golden line `----`, which no file can hold.
func Format(f *File) []byte {
	var b strings.Builder
	for _, l := range f.Lines {
		if l.Stmt != nil {
			l.Stmt.write(&b)
		}
		if l.Comment != "" {
			if l.Stmt != nil {
				gap(&b, l.Gap)
			}
			b.WriteString(l.Comment)
		}
		b.WriteByte('\n')
		if l.Stmt != nil {
			l.Stmt.Golden.write(&b)
		}
	}
	return []byte(b.String())
}

// String is the statement on one line, without its golden block.
func (s *Statement) String() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

func (s *Statement) write(b *strings.Builder) {
	first := s.Verb.Raw
	switch {
	case s.At.Raw != "":
		first = "at " + s.At.Raw
	case s.Until.Raw != "":
		first = "every " + s.Every.Raw + " until " + s.Until.Raw
	case s.Every.Raw != "":
		first = "every " + s.Every.Raw
	}
	if first != s.Verb.Raw {
		fmt.Fprintf(b, "%-*s %s", column, first, s.Verb.Raw)
	} else if len(s.Args) > 0 {
		fmt.Fprintf(b, "%-*s", column, first)
	} else {
		b.WriteString(first)
	}
	for _, a := range s.Args {
		gap(b, a.Gap)
		b.WriteString(a.String())
	}
}

func (g *Golden) write(b *strings.Builder) {
	if g == nil {
		return
	}
	b.WriteString(fence + "\n")
	for _, l := range g.Lines {
		if strings.TrimRight(l, " \t") == fence {
			panic("syntax: a golden block cannot hold the line " + fence)
		}
		b.WriteString(l + "\n")
	}
	b.WriteString(fence + "\n")
}

func gap(b *strings.Builder, n int) {
	b.WriteString(strings.Repeat(" ", max(n, 1)))
}
