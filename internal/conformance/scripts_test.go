package conformance

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/internal/universe"
)

// TestScripts: scripts and reads of the engine, as package store calls them, on states of
// all kinds; on a server that forgot its scripts, is short of memory, or is a replica, too.
func TestScripts(t *testing.T) {
	needServer(t)
	seen := map[string]int{}
	for round := 0; round < 3 && (round == 0 || len(idle(seen)) > 0); round++ {
		rapid.Check(t, func(t *rapid.T) { count(seen, scriptsProperty(t).trips) })
	}
	require.Empty(t, idle(seen), "these scripts never did anything: more checks are needed (-rapid.checks); seen: %v", seen)
	for _, class := range []string{"CORRUPT", "NOSCRIPT", "OOM", "READONLY"} {
		require.Positive(t, seen["error "+class], "no error %s: more checks are needed (-rapid.checks); seen: %v", class, seen)
	}
}

// count counts what the scripts answered, as `script verdict` and `error CLASS`.
func count(seen map[string]int, trips []trip) {
	for _, trip := range trips {
		for i, request := range trip.requests {
			name, script, _ := strings.Cut(request, " ")
			if !strings.HasPrefix(name, "eval") {
				continue
			}
			script, _, _ = strings.Cut(script, " ")
			verdict, _, _ := strings.Cut(strings.Trim(trip.replies[i], "[]"), " ")
			if strings.HasPrefix(trip.replies[i], "error ") {
				verdict = strings.Fields(trip.replies[i])[1]
				seen["error "+verdict]++
			}
			seen[script+" "+verdict]++
		}
	}
}

// idle lists the scripts that have refused whatever was asked.
func idle(seen map[string]int) (names []string) {
	for _, script := range store.Scripts() {
		did := 0
		for _, verdict := range []string{"ok", "1", "2", "released", "restored", "indexed", "dirty", "accepted", "last"} {
			did += seen[script.Name+" "+verdict]
		}
		if did == 0 {
			names = append(names, script.Name)
		}
	}
	return names
}

// scriptsProperty plays a few rounds: a state, and calls on it.
func scriptsProperty(t *rapid.T) *play {
	u := universe.OneOf(t, universe.All...)
	round := rapid.Custom(func(t *rapid.T) []step {
		fault := universe.OneOf(t, "", "", "", "", "", "noscript", "oom", "readonly")
		call := rapid.Custom(func(t *rapid.T) step {
			s := do(fault, u.Call(t))
			s.restMs = int64(universe.Evenly(t, 2))
			return s
		})
		return append([]step{{commands: u.State(t)}}, rapid.SliceOfN(call, 1, 6).Draw(t, "calls")...)
	})
	steps := slices.Concat(rapid.SliceOfN(round, 1, 6).Draw(t, "rounds")...)
	return check(t, append(steps, dump(u.Keys())))
}

// do is a step that calls the store.
func do(fault string, call universe.Call) step {
	return step{fault: fault, call: func(p *play) { _ = call(ctx, store.New(p.client)) }} // the play writes down what it was told
}

// TestTroubleOfADispatch: on a server short of memory begin is refused whole and finish
// runs whole (schema 3); a replica refuses both whole; forgotten scripts are sent again.
func TestTroubleOfADispatch(t *testing.T) {
	needServer(t)
	u := universe.All[0]
	begin := func(ctx context.Context, s *store.Store) error {
		_, err := s.Begin(ctx, store.BeginArgs{Stage: u.Stage, Dispatch: universe.NewDispatch, Holder: "h1", Generation: 1,
			Lease: time.Minute, Breaker: guard.Published(), Permit: time.Minute, Slots: 1, Jobs: u.Jobs})
		return err
	}
	finish := func(ctx context.Context, s *store.Store) error {
		_, err := s.Finish(ctx, store.FinishArgs{Stage: u.Stage, Dispatch: universe.NewDispatch, Caller: "h1", Outcome: "nothing", State: asset.Pending,
			Reason: "no_worker_available", Bucket: "capacity", Window: time.Minute, Idle: store.Increase, Budget: store.Charge, BudgetLimit: 10,
			Refill: time.Minute, Breaker: guard.Published(), Jobs: u.Jobs})
		return err
	}
	request := do("", func(ctx context.Context, s *store.Store) error {
		_, err := s.Intent(ctx, store.OpRequest, u.Stage, false)
		return err
	})
	for fault, want := range map[string]struct{ begin, finish string }{
		"oom": {"error OOM", "[ok "}, "readonly": {"error READONLY", "error READONLY"}, "noscript": {"error NOSCRIPT", "error NOSCRIPT"},
	} {
		t.Run(fault, func(t *testing.T) {
			p := check(t, []step{request, do(fault, begin), do("", begin), do(fault, finish), dump(u.Keys())})
			answers := map[string]string{}
			for _, trip := range p.trips {
				name := strings.Fields(trip.requests[0])
				if _, known := answers[name[1]]; name[0] == "evalsha" && (!known || name[1] == "finish") {
					answers[name[1]] = trip.replies[0]
				}
			}
			require.Equal(t, want.begin, answers["begin"])
			require.Equal(t, want.finish, answers["finish"][:len(want.finish)], answers["finish"])
		})
	}
}
