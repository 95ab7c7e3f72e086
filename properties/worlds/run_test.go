package worlds_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/properties/worlds"
	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// Bounded churn, and every other property, holds in random worlds under random
// workloads and faults. Others, and more of them: -rapid.seed=0 -rapid.checks=1000.
func TestPropertiesHoldInRandomWorlds(t *testing.T) {
	theSame(t, 60)
	rapid.Check(t, func(t *rapid.T) {
		f := anyWorld.Draw(t, "world").File
		if r := run(f, scenarios.RunOptions{}); r.Outcome != scenarios.Passed {
			// One line for all failures, so that rapid shrinks the world and not the
			// property; with the digest in it rapid checks determinism as well.
			t.Fatal(report(t, "random", f, r))
		}
	})
}

var seeds = flag.Uint64("worlds.seeds", 120, "run the worlds of the seeds from 0 up to this one")

// The worlds of the first seeds, and more of them with -worlds.seeds=10000.
func TestPropertiesHoldInWorldsBySeed(t *testing.T) {
	hold(t, *seeds, worlds.Seed)
}

// hold runs the worlds of the numbers from 0 up to end, in parallel.
func hold(t *testing.T, end uint64, world func(n uint64) *syntax.File) {
	const shards = 8
	for shard := range uint64(shards) {
		t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
			t.Parallel()
			for n := shard; n < end; n += shards {
				f := world(n)
				if r := run(f, scenarios.RunOptions{}); r.Outcome != scenarios.Passed {
					t.Error(report(t, strings.TrimSuffix(f.Name, lang.Ext), f, r))
				}
			}
		})
	}
}

// run runs a world with the seed that its text names.
func run(f *syntax.File, o scenarios.RunOptions) *scenarios.Result {
	p := worlds.Program(f)
	o.Keep = 400
	return scenarios.RunProgram(p, p.Seeds[0], o)
}

// report writes a failing world as a scenario file and says how to run it. The
// last one of a name wins: of what rapid finds, the one that it shrank.
func report(t require.TestingT, name string, f *syntax.File, r *scenarios.Result) string {
	dir := filepath.Join("testdata", "failures")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	file := filepath.Join(dir, name+lang.Ext)
	require.NoError(t, os.WriteFile(file, syntax.Format(f), 0o644))

	var b strings.Builder
	for _, failure := range r.Failures {
		fmt.Fprintf(&b, "%s\n", failure)
		for _, e := range failure.Events {
			fmt.Fprintf(&b, "      | %s\n", e)
		}
	}
	fmt.Fprintf(&b, "digest %s\nrerun: go run ./cmd/sim run %s --seed %d",
		r.Digest, filepath.ToSlash(filepath.Join("properties", "worlds", file)), r.Seed)
	return b.String()
}
