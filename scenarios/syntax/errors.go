package syntax

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a file. Both numbers count from 1; columns count runes. The
// zero Pos stands for the file as a whole.
type Pos struct {
	Line, Col int
}

// Error is one thing wrong with a scenario. Hint says how to mend it, if known.
type Error struct {
	File string
	Pos
	Msg, Hint string
}

var _ error = (*Error)(nil)

// Error is `file:line:col: message (hint)`, or `file: message (hint)` where the
// error belongs to no line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
	}
	b.WriteString(": " + e.Msg)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// ErrorList is everything wrong with one file or several, one error a line.
type ErrorList []*Error

var _ error = ErrorList(nil)

func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is the list sorted by file and place, or nil if it is empty.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return l
}
