package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/scenarios"
)

// TestRerun: the command that is shown repeats the run, and with it the failure.
func TestRerun(t *testing.T) {
	for _, c := range []struct {
		run  scenarios.Result
		want string
	}{
		{scenarios.Result{Seed: 3}, "go run ./cmd/sim run x.sim --seed 3"},
		{scenarios.Result{Seed: 3, Lua: true}, "go run ./cmd/sim run x.sim --seed 3 --lua"},
		{scenarios.Result{Seed: 3, Lua: true, Diverged: true}, "go run ./cmd/sim run x.sim --seed 3 --lua --twice"},
		{scenarios.Result{Live: true}, "go run ./cmd/sim run --live x.sim"},
	} {
		c.run.File = "x.sim"
		require.Equal(t, c.want, scenarios.Rerun(&c.run))
	}
}
