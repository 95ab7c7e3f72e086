package lang

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// Program is a vetted scenario.
type Program struct {
	File         *syntax.File
	Name, Origin string
	Seeds        []uint64 // from 1 to SeedsMax of them
	Books        []Book   // in the order of their statements, which are steps, too
	Steps        []Step   // all statements but `scenario`
}

// Step is one statement, typed.
type Step struct {
	Stmt         *syntax.Statement
	Verb         *Verb
	Name         string         // its text, and which of its like it is: no comment and no other statement changes it
	At           *time.Duration // virtual time; nil: at its place in the file
	Every, Until time.Duration  // 0: not given
	Args         Args
	Expect       *Expect      // of expect, and of show METRIC
	Effect       *FaultEffect // of fault

	words map[string]syntax.Word // by name of the argument
}

// Vet types a scenario. The error is a syntax.ErrorList with everything that is
// wrong; the program is nil then.
func Vet(f *syntax.File) (*Program, error) {
	v := &vetter{file: f, prog: &Program{File: f}, scope: scope{engines: 1}, clock: clock{known: true}, seen: map[string]syntax.Pos{}, like: map[string]int{}}
	statements := f.Statements()
	switch {
	case len(statements) == 0:
		v.add(&syntax.Error{Msg: "no scenario: there is no statement in it", Hint: `begin with scenario "what it shows"`})
	case statements[0].Verb.Raw != "scenario":
		v.fail(statements[0].Verb, `as in scenario "what it shows"`, "the first statement must be scenario")
	}
	for _, s := range statements {
		v.statement(s)
	}
	v.unreached()
	v.tooOften()
	v.prog.Books = v.books
	if err := v.errs.Err(); err != nil {
		return nil, err
	}
	return v.prog, nil
}

// vetter is the state of one Vet.
type vetter struct {
	scope
	clock
	file *syntax.File
	prog *Program
	errs syntax.ErrorList
	seen map[string]syntax.Pos // verbs so far
	like map[string]int        // statements so far, by their text
}

func (v *vetter) add(err *syntax.Error) {
	err.File = v.file.Name
	v.errs = append(v.errs, err)
}

func (v *vetter) fail(w syntax.Word, hint, format string, args ...any) {
	v.add(fail(w, hint, format, args...))
}

func (v *vetter) leftOver(rest []syntax.Word, hint string) {
	v.fail(rest[0], hint, "left-over argument %s", rest[0].Raw)
}

func (v *vetter) statement(stmt *syntax.Statement) {
	verb := VerbNamed(stmt.Verb.Raw)
	if verb == nil {
		v.fail(stmt.Verb, suggestOr(stmt.Verb.Raw, verbNames(), "sim help lists the verbs"), "unknown verb %s", stmt.Verb.Raw)
		v.unsure = true
		return
	}
	v.place(verb, stmt)
	s := &Step{Stmt: stmt, Verb: verb, Name: v.name(stmt), words: map[string]syntax.Word{}}
	s.Args = Args{verb: verb, values: map[string]any{}}
	before := len(v.errs)
	v.times(s)
	v.args(s)
	if len(v.errs) == before && verb.check != nil {
		verb.check(v, s)
	}
	if len(v.errs) > before && verb.Phase == Setup {
		v.unsure = true
	}
	if verb.Name != "scenario" {
		v.prog.Steps = append(v.prog.Steps, *s)
	}
}

// name makes the name of a step. Blanks between words are layout.
func (v *vetter) name(stmt *syntax.Statement) string {
	text := strings.Join(strings.Fields(stmt.String()), " ")
	v.like[text]++
	if n := v.like[text]; n > 1 {
		return fmt.Sprintf("%s (%d)", text, n)
	}
	return text
}

// place checks where a statement stands.
func (v *vetter) place(verb *Verb, stmt *syntax.Statement) {
	first, again := v.seen[verb.Name]
	switch {
	case verb.Once && again:
		v.fail(stmt.Verb, fmt.Sprintf("the first is in line %d", first.Line), "a second %s", verb.Name)
	case verb.Phase == Setup && v.ran:
		v.fail(stmt.Verb, "move it up", "%s comes before the first run or settle", verb.Name)
	case verb.Name == "scenario" && len(v.seen) > 0:
		v.fail(stmt.Verb, "move it up", "scenario is the first statement")
	}
	if !again {
		v.seen[verb.Name] = stmt.Pos
	}
	if stmt.Golden != nil && verb.Name != "show" {
		v.add(&syntax.Error{Pos: stmt.Golden.Pos, Msg: "a golden block after " + verb.Name, Hint: "only show prints something"})
	}
}

// args binds operands and keys to what the verb declares.
func (v *vetter) args(s *Step) {
	var operands []syntax.Word
	before := len(v.errs)
	for _, a := range s.Stmt.Args {
		if a.Key.Raw == "" {
			operands = append(operands, a.Value)
		}
	}
	bind := s.Verb.bind
	if bind == nil {
		bind = (*vetter).operands
	}
	bind(v, s, operands)
	for _, a := range s.Stmt.Args {
		if a.Key.Raw != "" {
			v.key(s, a)
		}
	}
	for _, p := range slices.Concat(s.Verb.Params, s.Verb.Keys) {
		_, given := s.words[p.Name]
		switch {
		case given:
		case p.Default != "":
			value, err := p.Type.parse(&v.scope, syntax.Word{Raw: p.Default})
			if err != nil {
				panic("lang: bad default of " + p.Name + " of " + s.Verb.Name + ": " + err.Error())
			}
			s.Args.values[p.Name] = value
		case !p.Optional && len(v.errs) == before: // a misspelt one is not missing
			v.fail(s.Stmt.Verb, "usage: "+s.Verb.UsageLine(), "%s is missing after %s", p.Name, s.Verb.Name)
		}
	}
}

// operands binds operands to Params in order. Those that are there beyond the
// needed ones go to the optional Params from the left.
func (v *vetter) operands(s *Step, operands []syntax.Word) {
	spare := len(operands)
	for _, p := range s.Verb.Params {
		if !p.Optional {
			spare--
		}
	}
	rest := operands
	for _, p := range s.Verb.Params {
		take := 1
		switch {
		case p.Repeated:
			take = len(rest)
		case p.Optional && spare <= 0:
			take = 0
		case p.Optional:
			spare--
		}
		for ; take > 0 && len(rest) > 0; take-- {
			if rest[0].Operator() {
				v.fail(rest[0], "key=value has no blanks around =", "only expect takes the operator %s", rest[0].Raw)
				return
			}
			v.bind(s, p, rest[0])
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		v.leftOver(rest, "usage: "+s.Verb.UsageLine())
	}
}

// key binds `key=value`. A quoted key is data and never a declared one.
func (v *vetter) key(s *Step, a syntax.Arg) {
	name := a.Key.Text()
	i := slices.IndexFunc(s.Verb.Keys, func(p Param) bool { return p.Name == a.Key.Raw })
	switch {
	case i >= 0:
		v.bind(s, s.Verb.Keys[i], a.Value)
	case s.Verb.FreeKeys:
		if slices.ContainsFunc(s.Args.fields, func(f Field) bool { return f.Name == name }) {
			v.fail(a.Key, "", "%s is there twice", a.Key.Raw)
		}
		s.Args.fields = append(s.Args.fields, Field{name, a.Value.Text()})
	case s.Verb.Name == "workers" && asset.ValidStage(name):
		v.fail(a.Key, "", "stage %s is not built yet; use image", name)
	default:
		var names []string
		for _, k := range s.Verb.Keys {
			names = append(names, k.Name)
		}
		other := s.Verb.Name + " takes no key"
		if len(names) > 0 {
			other = "the keys of " + s.Verb.Name + " are " + strings.Join(names, ", ")
		}
		v.fail(a.Key, suggestOr(name, names, other), "unknown key %s", a.Key.Raw)
	}
}

// bind gives one argument its typed value.
func (v *vetter) bind(s *Step, p Param, w syntax.Word) {
	_, again := s.words[p.Name]
	if again && !p.Repeated {
		v.fail(w, "", "%s is there twice", p.Name)
		return
	}
	if !again {
		s.words[p.Name] = w
		s.Args.given = append(s.Args.given, p.Name)
	}
	value, err := p.Type.parse(&v.scope, w)
	switch {
	case err != nil:
		v.add(err)
	case p.Repeated:
		list, _ := s.Args.values[p.Name].([]string)
		s.Args.values[p.Name] = append(list, value.(string))
	default:
		s.Args.values[p.Name] = value
	}
}

func (v *vetter) header(s *Step) {
	v.prog.Name, v.prog.Origin, v.prog.Seeds = s.Args.Text("name"), s.Args.Text("origin"), s.Args.Seeds("seed")
	if strings.TrimSpace(v.prog.Name) == "" {
		v.fail(s.arg("name"), "say in a sentence what it shows", "the scenario has no name")
	}
}
