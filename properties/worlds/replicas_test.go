package worlds_test

import (
	"flag"
	"testing"

	"github.com/animastor/orchestra/properties/worlds"
)

var replicas = flag.Uint64("worlds.replicas", 40, "run the worlds of two replicas of the seeds from 0 up to this one; `make worlds` runs 500")

// Two replicas that crash, stand still and have clocks of their own, beside a Redis that
// fails over, evicts, runs out of memory and loses answers.
func TestPropertiesHoldInWorldsOfTwoReplicas(t *testing.T) {
	hold(t, *replicas, worlds.Replicas)
}

func TestEveryWorldOfTwoReplicasIsAScenario(t *testing.T) {
	for n := range uint64(1000) {
		requireScenario(t, worlds.Replicas(n))
	}
}
