package syntax

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LineBytesMax is the longest line that Parse takes.
const LineBytesMax = 64 << 10

// fence opens and closes a golden block.
const fence = "----"

// Parse reads one scenario. name is what errors call the file. The error is an
// ErrorList with everything that is wrong; the file is nil then.
func Parse(name string, src []byte) (*File, error) {
	p := &parser{file: &File{Name: name}}
	if pos, what := notText(src); what != "" {
		p.fail(pos, "a scenario is UTF-8 text", "not a text file: %s", what)
		return nil, p.errs.Err()
	}
	lines := strings.Split(string(src), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last] // the end of the last line, not a line of its own
	}
	for i, text := range lines {
		p.line(i+1, strings.TrimSuffix(text, "\r"))
	}
	if p.golden != nil {
		p.fail(p.golden.Pos, "end it with a line "+fence, "the golden block is not closed")
	}
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	return p.file, nil
}

// notText finds the first byte that no text file holds.
func notText(src []byte) (pos Pos, what string) {
	at := -1
	if i := bytes.IndexByte(src, 0); i >= 0 {
		at, what = i, "NUL byte"
	}
	if !utf8.Valid(src) {
		for i, r := range string(src) {
			if at >= 0 && i >= at {
				break
			}
			if _, n := utf8.DecodeRune(src[i:]); r == utf8.RuneError && n == 1 {
				at, what = i, "invalid UTF-8"
			}
		}
	}
	if at < 0 {
		return Pos{}, ""
	}
	before := src[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return Pos{1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[start:])}, what
}

type parser struct {
	file    *File
	errs    ErrorList
	golden  *Golden // the block that is open
	lineNum int
	stmtOK  bool // the line before is a statement, or was meant as one
}

func (p *parser) fail(pos Pos, hint, format string, args ...any) {
	p.errs = append(p.errs, &Error{File: p.file.Name, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

func (p *parser) line(num int, text string) {
	p.lineNum = num
	isFence := strings.TrimRight(text, " \t") == fence
	after := p.stmtOK
	p.stmtOK = false
	switch {
	case len(text) > LineBytesMax:
		p.fail(Pos{num, 1}, "", "the line is longer than %d bytes", LineBytesMax)
		p.stmtOK = true
	case p.golden != nil && isFence:
		p.golden = nil
	case p.control(text):
		p.stmtOK = true
	case p.golden != nil:
		p.golden.Lines = append(p.golden.Lines, text)
	case isFence:
		p.openGolden(after)
	default:
		p.statementLine(text)
	}
}

// control reports the first control character of a line, tabs aside.
func (p *parser) control(text string) bool {
	for i, r := range text {
		if unicode.IsControl(r) && r != '\t' {
			p.fail(Pos{p.lineNum, 1 + utf8.RuneCountInString(text[:i])}, "", "control character %U", r)
			return true
		}
	}
	return false
}

func (p *parser) openGolden(afterStatement bool) {
	p.golden = &Golden{Pos: Pos{p.lineNum, 1}}
	if !afterStatement {
		p.fail(p.golden.Pos, "put it right below its statement", "a golden block follows a statement")
		return
	}
	if n := len(p.file.Lines); n > 0 && p.file.Lines[n-1].Stmt != nil {
		p.file.Lines[n-1].Stmt.Golden = p.golden
	}
}

func (p *parser) statementLine(text string) {
	words, line, ok := p.scan(text)
	if len(words) > 0 || !ok {
		p.stmtOK = true
		if ok {
			line.Stmt = p.statement(words)
		}
	}
	p.file.Lines = append(p.file.Lines, line)
}

// statement takes the words of a line, each as an operand still, apart.
func (p *parser) statement(words []Arg) *Statement {
	s := &Statement{Pos: words[0].Value.Pos}
	rest, before := words, len(p.errs)
	prefix := func(name string, into *Word) bool {
		if len(rest) == 0 || rest[0].Value.Raw != name {
			return false
		}
		if len(rest) == 1 {
			p.fail(rest[0].Value.Pos, "as in "+name+" 55s", "a time is missing after %s", name)
			rest = nil
			return false
		}
		*into, rest = rest[1].Value, rest[2:]
		return true
	}
	if !prefix("at", &s.At) && prefix("every", &s.Every) {
		prefix("until", &s.Until)
	}
	if len(rest) == 0 {
		if len(p.errs) == before {
			p.fail(s.Pos, "", "a verb is missing after the time")
		}
		return nil
	}
	s.Verb = rest[0].Value
	if !name(s.Verb.Raw) {
		p.fail(s.Verb.Pos, "a statement is: verb operands key=value", "expected a verb, found %s", s.Verb.Raw)
		return nil
	}
	for i, a := range rest[1:] {
		if i == 0 && rest[0].Value.Pos == s.Pos {
			a.Gap = 1
		}
		if a, ok := p.arg(a); ok {
			s.Args = append(s.Args, a)
		}
	}
	return s
}

// operators are the words that compare in `expect`.
var operators = map[string]bool{"=": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true}

// Operator says whether the word is a lone `= != < <= > >=`.
func (w Word) Operator() bool { return operators[w.Raw] }

// arg finds out whether a word is an operand or `key=value`.
func (p *parser) arg(a Arg) (Arg, bool) {
	w := a.Value
	if w.Operator() {
		return a, true
	}
	parts := w.Split('=')
	key := parts[0].Raw
	if strings.ContainsAny(w.Raw[:1], "=!<>") || len(parts) > 1 && strings.ContainsAny(key[len(key)-1:], "!<>") {
		p.fail(w.Pos, "an operator has blanks on both sides, key=value has none", "cannot read %s", w.Raw)
		return a, false
	}
	if len(parts) == 1 {
		return a, true
	}
	a.Key = parts[0]
	a.Value = Word{Pos: parts[1].Pos, Raw: w.Raw[len(key)+1:]}
	switch {
	case !name(key) && !a.Key.Literal():
		p.fail(w.Pos, "quote the word if it is no key=value", "%s is no key", key)
		return a, false
	case a.Value.Raw == "":
		p.fail(w.Pos, "no blanks around =; an empty value is \"\"", "a value is missing after %s=", key)
		return a, false
	}
	return a, true
}

// name says whether s can be a verb or a bare key: a letter, then letters, digits, `_ . -`.
func name(s string) bool {
	for i, r := range s {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || !('0' <= r && r <= '9') && !strings.ContainsRune("_.-", r)) {
			return false
		}
	}
	return s != ""
}

// scan cuts a line into words, each returned as an operand, and its comment.
func (p *parser) scan(text string) (words []Arg, line Line, ok bool) {
	for i := 0; ; {
		start := i
		for i < len(text) && blank(text[i]) {
			i++
		}
		gap := i - start
		switch {
		case i == len(text):
			return words, line, true
		case text[i] == '#':
			line.Comment = strings.TrimRight(text[i:], " \t")
			if len(words) > 0 {
				line.Gap = gap
			}
			return words, line, true
		}
		end, err := wordEnd(text, i)
		if err != nil {
			err.File = p.file.Name
			err.Pos = Pos{p.lineNum, 1 + utf8.RuneCountInString(text[:end])}
			p.errs = append(p.errs, err)
			return nil, line, false
		}
		pos := Pos{p.lineNum, 1 + utf8.RuneCountInString(text[:i])}
		words = append(words, Arg{Gap: gap, Value: Word{Pos: pos, Raw: text[i:end]}})
		i = end
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// wordEnd is where the word that begins at i ends, or where it goes wrong.
func wordEnd(text string, i int) (end int, err *Error) {
	for i < len(text) && !blank(text[i]) {
		if text[i] != '"' {
			r, n := utf8.DecodeRuneInString(text[i:])
			if !unicode.IsPrint(r) {
				return i, &Error{Msg: fmt.Sprintf("invisible character %U", r), Hint: "quote it, or delete it"}
			}
			i += n
			continue
		}
		n := quoted(text[i:])
		if n < 0 {
			return i, &Error{Msg: "the quote is not closed", Hint: `a quoted string ends with " on the same line`}
		}
		if _, err := strconv.Unquote(text[i : i+n]); err != nil {
			return i, &Error{Msg: "bad escape in " + text[i:i+n], Hint: `escapes are those of Go: \" \\ \n \x00 \u00e9`}
		}
		i += n
	}
	return i, nil
}
