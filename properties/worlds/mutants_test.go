package worlds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/properties/worlds"
	"github.com/animastor/orchestra/scenarios"
)

// mutants are defects of the kind that two replicas trip over: a check that was made
// at the read and is not made again where it counts, or a step done by halves. Each
// breaks the twin of one script, of which it gets keys and arguments, and nothing else.
//
// Some checks are the second of two, and without them nothing else goes wrong: claim
// before a finish that happens once anyway, the fence in accept beside the dispatch id,
// ownership in admit beside receipt and generation, the age of the last renewal in
// adopt beside the fact that any replica may look after any dispatch. Such defects are
// not listed.
var mutants = []struct {
	defect string
	script string
	broken func(twin redis.Twin, db *redis.DB, keys, args []string) (any, error)
	tells  []string // the properties that may tell
}{
	{
		"begin takes a stage that a dispatch holds", "begin",
		func(twin redis.Twin, db *redis.DB, keys, args []string) (any, error) {
			reply, err := twin(db, keys, args)
			if says(reply, "duplicate") {
				db.HSet(keys[0], args[0]+".state", "pending", args[0]+".dispatch", "")
				reply, err = twin(db, keys, args)
			}
			return reply, err
		},
		[]string{"single-owner", "finish-once", "one-job"},
	},
	{
		"begin counts no slots", "begin",
		func(twin redis.Twin, db *redis.DB, keys, args []string) (any, error) {
			return twin(db, keys, with(args, 7, "1000"))
		},
		[]string{"slots"},
	},
	{
		"accept takes a result twice", "accept",
		func(twin redis.Twin, db *redis.DB, keys, args []string) (any, error) {
			if job, _ := db.HGet(keys[1], args[4]); strings.HasPrefix(job, "done|") {
				db.HSet(keys[1], args[4], "sent")
			}
			return twin(db, keys, args)
		},
		[]string{"one-job"},
	},
	{
		"finish does not ask whether its dispatch is live", "finish",
		func(twin redis.Twin, db *redis.DB, keys, args []string) (any, error) {
			reply, err := twin(db, keys, args)
			if says(reply, "finished") {
				db.HSet(keys[0], args[0]+".dispatch", args[1], args[0]+".holder", args[2])
				reply, err = twin(db, keys, args)
			}
			return reply, err
		},
		[]string{"finish-once", "single-owner"},
	},
	{
		"finish keeps the slot", "finish",
		func(twin redis.Twin, db *redis.DB, keys, args []string) (any, error) {
			deadline, held := db.ZScore(keys[4], args[1])
			reply, err := twin(db, keys, args)
			if held {
				db.ZAdd(keys[4], deadline, args[1])
			}
			return reply, err
		},
		[]string{"slots"},
	},
	{
		"finish writes no deferral", "finish",
		func(twin redis.Twin, db *redis.DB, keys, args []string) (any, error) {
			return twin(db, keys, with(args, 7, "0"))
		},
		[]string{"bounded-churn", "classification"},
	},
	{
		"renew revives what has ended", "renew",
		func(twin redis.Twin, db *redis.DB, keys, args []string) (any, error) {
			reply, err := twin(db, keys, args)
			if says(reply, "finished") {
				db.SetPX(keys[1], args[1], 60_000)
			}
			return reply, err
		},
		[]string{"single-owner", "bounded-store"},
	},
}

// says tells whether a script answered with a verdict.
func says(reply any, verdict string) bool {
	answer, ok := reply.([]string)
	return ok && answer[0] == verdict
}

// with is args with another argument i, counted from 0.
func with(args []string, i int, value string) []string {
	args = slices.Clone(args)
	args[i] = value
	return args
}

// Each of these defects, put into the engine by hand, is found within 200 worlds.
func TestRandomWorldsFindDefects(t *testing.T) {
	const seeds = 200
	for _, m := range mutants {
		t.Run(m.defect, func(t *testing.T) {
			t.Parallel()
			change := func(twins map[string]redis.Twin) {
				twin := twins[m.script]
				require.NotNil(t, twin, "no script %s", m.script)
				twins[m.script] = func(db *redis.DB, keys, args []string) (any, error) { return m.broken(twin, db, keys, args) }
			}
			for n := range uint64(seeds) {
				r := run(worlds.Seed(n), scenarios.RunOptions{Twins: change})
				told := slices.IndexFunc(r.Failures, func(f scenarios.Failure) bool {
					return slices.Contains(m.tells, strings.TrimPrefix(f.What, "property "))
				})
				if told >= 0 {
					t.Logf("world %d tells: %s", n, r.Failures[told])
					return
				}
			}
			t.Errorf("no property of %v told in %d worlds that %s: the worlds have become too tame, or a property too weak", m.tells, seeds, m.defect)
		})
	}
}
