package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// Phase says where a verb may stand.
type Phase int

// The phases.
const (
	Setup  Phase = iota // before the first run or settle; takes no time before it
	Action              // anywhere; takes `at D` and `every D [until D]`
	Flow                // anywhere, done at its place; takes no time before it
)

// Verb is one verb of the language.
type Verb struct {
	Name     string
	Phase    Phase
	Once     bool    // at most one in a file
	Params   []Param // operands, in order
	Keys     []Param
	FreeKeys bool   // takes keys that are not declared; Args.Fields returns them
	Usage    string // what follows the verb, where it cannot be told from Params and Keys
	Summary  string
	Detail   string // for the manual
	Example  string // one statement a line; vets in a file with `scenario`, `engines 2`, `book b1 scenes=2` above it

	bind  func(*vetter, *Step, []syntax.Word) // instead of binding operands to Params
	check func(*vetter, *Step)                // what types do not say
}

// Param is an operand or a key.
type Param struct {
	Name     string
	Type     Type
	Doc      string
	Default  string // as it would be written
	Optional bool
	Repeated bool // any number of them, at least one unless Optional; Args.Texts returns them
}

func need(name string, t Type, doc string) Param { return Param{Name: name, Type: t, Doc: doc} }
func opt(name string, t Type, doc string) Param {
	return Param{Name: name, Type: t, Doc: doc, Optional: true}
}
func def(name string, t Type, value, doc string) Param {
	return Param{Name: name, Type: t, Doc: doc, Default: value, Optional: true}
}

// Verbs are all verbs, as the manual lists them.
func Verbs() []*Verb { return slices.Concat(setupVerbs, intentVerbs, faultVerbs, flowVerbs) }

// VerbNamed returns a verb, or nil.
func VerbNamed(name string) *Verb {
	for _, v := range Verbs() {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func verbNames() []string {
	var list []string
	for _, v := range Verbs() {
		list = append(list, v.Name)
	}
	return list
}

// declared finds an operand or a key.
func (v *Verb) declared(name string) *Param {
	for _, list := range [][]Param{v.Params, v.Keys} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func (v *Verb) mustDeclare(name string) {
	if v.declared(name) == nil {
		panic(fmt.Sprintf("lang: the verb %s declares no %s", v.Name, name))
	}
}

// UsageLine is the verb with its operands and keys.
func (v *Verb) UsageLine() string {
	if v.Usage != "" {
		return v.Name + " " + v.Usage
	}
	words := []string{v.Name}
	for _, p := range v.Params {
		word := strings.ToUpper(p.Name)
		if p.Type.Doc == "" {
			word = p.Type.Name
		}
		words = append(words, p.bracket(word))
	}
	for _, k := range v.Keys {
		words = append(words, k.bracket(k.Name+"="+k.Type.Name))
	}
	return strings.Join(words, " ")
}

func (p Param) bracket(word string) string {
	if p.Repeated {
		word += "..."
	}
	if p.Optional {
		return "[" + word + "]"
	}
	return word
}
