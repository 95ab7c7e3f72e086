package worlds_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/animastor/orchestra/properties/worlds"
	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
)

var replicas = flag.Uint64("worlds.replicas", 40, "run the worlds of two replicas of the seeds from 0 up to this one; `make worlds` runs 500")

// Two replicas that crash, stand still and have clocks of their own, beside a Redis that
// fails over, evicts, runs out of memory and loses answers.
func TestPropertiesHoldInWorldsOfTwoReplicas(t *testing.T) {
	const shards = 8
	for shard := range uint64(shards) {
		t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
			t.Parallel()
			for n := shard; n < *replicas; n += shards {
				f := worlds.Replicas(n)
				if r := run(f, scenarios.RunOptions{}); r.Outcome != scenarios.Passed {
					t.Error(report(t, strings.TrimSuffix(f.Name, lang.Ext), f, r))
				}
			}
		})
	}
}

func TestEveryWorldOfTwoReplicasIsAScenario(t *testing.T) {
	for n := range uint64(1000) {
		requireScenario(t, worlds.Replicas(n))
	}
}
