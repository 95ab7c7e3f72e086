package worlds_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/properties/worlds"
	"github.com/animastor/orchestra/scenarios"
)

// A world has one trace (design 1): alone on one core, or in another order and beside
// others on two, with the twins as with the scripts themselves.
func TestWorldsAreDeterministic(t *testing.T) {
	const first, last = 1000, 1007 // not those of the sweep
	procs := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(procs) })
	alone := map[int]*scenarios.Result{}
	for n := first; n <= last; n++ {
		alone[n] = run(worlds.Seed(uint64(n)), scenarios.RunOptions{})
	}

	runtime.GOMAXPROCS(2)
	for n := last; n >= first; n-- {
		for _, lua := range []bool{false, true} {
			t.Run(fmt.Sprintf("world %d, lua=%t", n, lua), func(t *testing.T) {
				t.Parallel()
				beside := run(worlds.Seed(uint64(n)), scenarios.RunOptions{Lua: lua})
				require.Equal(t, summary(alone[n]), summary(beside))
			})
		}
	}
}

// summary is what of a result must not depend on the machine.
func summary(r *scenarios.Result) string {
	return fmt.Sprintf("%s after %s and %d calls, %d failures, digest %s", r.Outcome, r.Virtual, r.Calls, len(r.Failures), r.Digest)
}
