package worlds_test

import (
	"flag"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/properties/worlds"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// shrinking is a worlds.Source that draws from rapid.
type shrinking struct{ t *rapid.T }

var _ worlds.Source = (*shrinking)(nil)

func (s *shrinking) Intn(n int) int { return rapid.IntRange(0, n-1).Draw(s.t, "choice") }

// Repeat lets each call draw from a T of its own: rapid can then leave it out.
func (s *shrinking) Repeat(most int, one func()) {
	group := rapid.Custom(func(t *rapid.T) struct{} {
		outer := s.t
		s.t = t
		defer func() { s.t = outer }()
		one()
		return struct{}{}
	})
	rapid.SliceOfN(group, 0, most).Draw(s.t, "statements")
}

// drawn is a world that rapid logs as its text.
type drawn struct{ *syntax.File }

func (d drawn) GoString() string { return "\n" + string(syntax.Format(d.File)) }

var anyWorld = rapid.Custom(func(t *rapid.T) drawn { return drawn{worlds.Draw(&shrinking{t}, worlds.Default)} })

// theSame has rapid draw so many worlds, and the same ones in every run, unless -rapid.checks
// and -rapid.seed say otherwise: a test that draws others each time fails one day for whoever
// changed something else. `make worlds` draws others.
func theSame(t *testing.T, checks int) {
	set := map[string]string{"rapid.checks": strconv.Itoa(checks), "rapid.seed": "1"}
	flag.Visit(func(f *flag.Flag) { delete(set, f.Name) })
	for name, value := range set {
		old := flag.Lookup(name).Value.String()
		require.NoError(t, flag.Set(name, value))
		t.Cleanup(func() { require.NoError(t, flag.Set(name, old)) })
	}
}

func TestEveryWorldIsAScenario(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { requireScenario(t, anyWorld.Draw(t, "world").File) })
	for n := range uint64(1000) {
		requireScenario(t, worlds.Seed(n))
	}
}

// requireScenario demands that a file is canonical text that vets.
func requireScenario(t require.TestingT, f *syntax.File) {
	text := syntax.Format(f)
	again, err := syntax.Parse(f.Name, text)
	require.NoError(t, err, "%s", text)
	require.Equal(t, string(text), string(syntax.Format(again)), "the text is not in canonical form")
	_, err = lang.Vet(again)
	require.NoError(t, err, "%s", text)
}
