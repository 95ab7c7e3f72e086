package lang

import (
	"fmt"
	"time"
)

// Args are the typed arguments of a step. An accessor returns the value given,
// else the default that the registry declares, else the zero value. Asking for a
// name that the verb does not declare, or for another type than it declares,
// panics: that is a mistake in the caller.
type Args struct {
	verb   *Verb
	values map[string]any
	given  []string
	fields []Field
}

// Field is a key that the registry does not declare, of a verb that takes any:
// `preload hash KEY f=v`.
type Field struct{ Name, Value string }

// Has says whether the scenario gives the argument.
func (a Args) Has(name string) bool {
	a.verb.mustDeclare(name)
	for _, g := range a.given {
		if g == name {
			return true
		}
	}
	return false
}

// Given are the names of the arguments that the scenario gives, operands first,
// each in the order of the file.
func (a Args) Given() []string { return a.given }

// Fields are the free keys, in the order of the file.
func (a Args) Fields() []Field { return a.fields }

// Duration returns a DURATION or an OFFSET.
func (a Args) Duration(name string) time.Duration { return get[time.Duration](a, name) }

// DurationRange returns DURATIONS.
func (a Args) DurationRange(name string) DurationRange { return get[DurationRange](a, name) }

// Count returns a COUNT.
func (a Args) Count(name string) int64 { return get[int64](a, name) }

// CountRange returns COUNTS.
func (a Args) CountRange(name string) CountRange { return get[CountRange](a, name) }

// Percent returns a PERCENT, from 0 to 1.
func (a Args) Percent(name string) float64 { return get[float64](a, name) }

// YesNo returns a yes|no.
func (a Args) YesNo(name string) bool { return get[bool](a, name) }

// Text returns a TEXT, a GLOB, an ID, a PROCESS or one of several words.
func (a Args) Text(name string) string { return get[string](a, name) }

// Texts returns the operands of a name that may come several times.
func (a Args) Texts(name string) []string { return get[[]string](a, name) }

// Names returns NAMES or STAGES.
func (a Args) Names(name string) []string { return get[[]string](a, name) }

// Seeds returns SEEDS.
func (a Args) Seeds(name string) []uint64 { return get[[]uint64](a, name) }

// Path returns a PATH.
func (a Args) Path(name string) Path { return get[Path](a, name) }

func get[T any](a Args, name string) T {
	a.verb.mustDeclare(name)
	v, found := a.values[name]
	t, ok := v.(T)
	if found && !ok {
		panic(fmt.Sprintf("lang: %s of %s is a %T", name, a.verb.Name, v))
	}
	return t
}
