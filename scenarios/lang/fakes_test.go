package lang_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/callbacks"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/properties"
	"github.com/animastor/orchestra/scenarios/lang"
)

// TestEffectsAreThoseOfTheFakes: a word that vet lets through must mean something.
func TestEffectsAreThoseOfTheFakes(t *testing.T) {
	for service, want := range map[string][]string{
		"redis": redis.Effects, "hub": hub.Effects[:], "callback": callbacks.Effects[:],
		"content": content.Effects[:], "artifacts": artifacts.Effects[:], "worker": workers.Effects[:], "media": media.Effects[:],
	} {
		var got []string
		for _, e := range lang.Effects() {
			if e.Service == service {
				got = append(got, e.Name)
			}
		}
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
		require.Equal(t, want, got, service)
	}
}

// TestPropertiesAreThoseOfThePackage: what can be switched off is what is watched.
func TestPropertiesAreThoseOfThePackage(t *testing.T) {
	require.Equal(t, strings.Join(properties.IDs(), "|"), lang.VerbNamed("property").Params[0].Type.Name)
}
