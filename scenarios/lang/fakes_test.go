package lang_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/callbacks"
	"github.com/animastor/orchestra/fakes/content"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/fakes/pointers"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/properties"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/sim"
)

// TestEffectsAreThoseOfTheFakes: what vet lets through must mean something to the call.
func TestEffectsAreThoseOfTheFakes(t *testing.T) {
	got := map[string]sim.Effects{}
	for _, e := range lang.Effects() {
		if got[e.Service] == nil {
			got[e.Service] = sim.Effects{}
		}
		got[e.Service][e.Name] = e.Verbs
	}
	delete(got, "") // the kernel's
	require.Equal(t, map[string]sim.Effects{
		"redis": redis.Effects, "hub": hub.Effects, "callback": callbacks.Effects, "worker": workers.Effects,
		"content": content.Effects, "artifacts": artifacts.Effects, "media": media.Effects, "pg": pointers.Effects,
	}, got)
}

// TestPropertiesAreThoseOfThePackage: what can be switched off is what is watched.
func TestPropertiesAreThoseOfThePackage(t *testing.T) {
	require.Equal(t, strings.Join(properties.IDs(), "|"), lang.VerbNamed("property").Params[0].Type.Name)
}
