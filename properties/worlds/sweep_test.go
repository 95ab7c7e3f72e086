package worlds_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/properties/worlds"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

var sweeps = flag.Uint64("worlds.sweeps", 4, "run the sweeps of the seeds from 0 up to this one; `make sweep` runs 200")

// A whole book, two replicas, six workers, faults of every service for 30 minutes: it
// settles once it is healed, and every property holds.
func TestPropertiesHoldInSweeps(t *testing.T) {
	hold(t, *sweeps, worlds.Sweep)
}

// Every sweep has a fault of every service that a scenario can have one of.
func TestEverySweepIsAScenario(t *testing.T) {
	services := map[string]bool{}
	for _, e := range lang.Effects() {
		if e.Service != "" {
			services[e.Service] = true
		}
	}
	require.GreaterOrEqual(t, len(services), 7)
	for n := range uint64(300) {
		f := worlds.Sweep(n)
		requireScenario(t, f)
		text := string(syntax.Format(f))
		for service := range services {
			require.Contains(t, text, "fault "+service+" ", "sweep %d", n)
		}
	}
}
