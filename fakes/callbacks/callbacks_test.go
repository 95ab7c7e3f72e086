package callbacks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/callbacks"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

type rig struct {
	w     *sim.World
	hub   *sim.Process
	queue *callbacks.Queue
	got   []string // "replica unit"
	at    []time.Duration
}

func newRig(t *testing.T, seed uint64, replicas ...string) *rig {
	w := sim.New(sim.Options{Seed: seed, Latency: map[string]sim.Latency{"callback": {Min: time.Millisecond, Max: time.Second}}})
	t.Cleanup(w.Close)
	r := &rig{w: w, hub: w.Process("hub")}
	r.queue = callbacks.New(w, r.hub)
	for _, name := range replicas {
		r.queue.Register(name, w.Process(name).Alive, func(res ports.JobResult) {
			r.got, r.at = append(r.got, name+" "+res.UnitID), append(r.at, w.Elapsed())
		})
	}
	return r
}

func (r *rig) push(n int) {
	for i := range n {
		unit := fmt.Sprintf("u%02d", i)
		r.queue.Push(ports.JobResult{JobID: "image:b:c:s:" + unit + ":1", BookID: "b", ChapterID: "c", SceneID: "s", Stage: "image", UnitID: unit})
	}
}

func (r *rig) inject(effect, verb, unit string, delay time.Duration) {
	r.w.Inject(sim.Rule{ID: effect, Effect: effect, Delay: delay, Match: func(n sim.CallName) bool {
		return n.Service == "callback" && sim.Glob(verb, n.Verb) && sim.Glob("b/c/s:image/"+unit, n.Subject)
	}})
}

func TestOrderIsKeptAndReplicasShare(t *testing.T) {
	r := newRig(t, 1, "e1", "e2")
	r.push(40)
	r.w.RunFor(time.Hour)
	require.Len(t, r.got, 40)
	by := map[string]int{}
	for i, got := range r.got {
		name, unit, _ := strings.Cut(got, " ")
		require.Equal(t, fmt.Sprintf("u%02d", i), unit)
		by[name]++
	}
	require.Greater(t, by["e1"], 5)
	require.Greater(t, by["e2"], 5)
	r.push(1) // the task has ended, and begins again
	r.w.RunFor(time.Hour)
	require.Equal(t, callbacks.Counts{Pushed: 41, Delivered: 41}, r.queue.Counts())
}

func TestEffects(t *testing.T) {
	t.Run("drop", func(t *testing.T) {
		r := newRig(t, 1, "e1")
		r.inject("drop", "deliver", "u01", 0)
		r.push(3)
		r.w.RunFor(time.Hour)
		require.Equal(t, []string{"e1 u00", "e1 u02"}, r.got)
		require.Equal(t, callbacks.Counts{Pushed: 3, Delivered: 2, Dropped: 1}, r.queue.Counts())
	})
	t.Run("duplicate", func(t *testing.T) {
		r := newRig(t, 1, "e1")
		r.inject("duplicate", "deliver", "u00", 0)
		r.push(1)
		r.w.RunFor(time.Hour)
		require.Equal(t, []string{"e1 u00", "e1 u00"}, r.got)
		require.Less(t, r.at[1]-r.at[0], 51*time.Second, "30 s, and the slowest call")
	})
	t.Run("reorder", func(t *testing.T) {
		r := newRig(t, 1, "e1")
		r.inject("reorder", "deliver", "u00", 0)
		r.push(3)
		r.w.RunFor(time.Hour)
		require.Equal(t, []string{"e1 u01", "e1 u02", "e1 u00"}, r.got)
	})
	t.Run("delay", func(t *testing.T) {
		r := newRig(t, 1, "e1")
		r.inject("delay", "*", "u00", time.Hour)
		r.push(2)
		r.w.RunFor(59 * time.Minute)
		require.Equal(t, []string{"e1 u01"}, r.got)
		r.w.Heal(nil)
		r.w.RunFor(2 * time.Minute)
		require.Equal(t, []string{"e1 u01", "e1 u00"}, r.got)
	})
	t.Run("lost", func(t *testing.T) {
		r := newRig(t, 1, "e1")
		r.inject("lost", "deliver", "u00", 0)
		r.push(2)
		r.w.RunFor(time.Hour)
		require.Equal(t, []string{"e1 u00", "e1 u01"}, r.got, "it arrived; the hub does not ask")
	})
	t.Run("unknown", func(t *testing.T) {
		r := newRig(t, 1, "e1")
		r.inject("melt", "deliver", "*", 0)
		r.push(1)
		r.w.RunFor(time.Hour)
		require.Len(t, r.w.Failures(), 1)
	})
}

func TestRefusedDeliveryIsRetriedAndThenDropped(t *testing.T) {
	r := newRig(t, 1, "e1", "e2")
	r.w.Process("e1").Crash()
	r.w.Process("e2").Crash()
	r.push(1)
	r.w.RunFor(time.Hour)
	require.Equal(t, callbacks.Counts{Pushed: 1, Dropped: 1}, r.queue.Counts())
	calls := slices.DeleteFunc(r.w.Trace().Last(1000), func(e sim.Event) bool { return e.Kind != "call" })
	require.Len(t, calls, 4, "the first one and three more")
	require.GreaterOrEqual(t, calls[3].At-calls[0].At, 15*time.Second)

	r.push(1)
	r.w.RunFor(time.Second)
	r.w.Process("e2").Restart()
	r.w.RunFor(time.Hour)
	require.Equal(t, []string{"e2 u00"}, r.got, "only the live one is given it")
}

func TestWhatWaitsDiesWithTheHub(t *testing.T) {
	r := newRig(t, 1, "e1")
	r.inject("delay", "deliver", "*", time.Minute)
	r.push(2)
	r.w.RunFor(30 * time.Second)
	r.hub.Restart()
	r.w.Heal(nil)
	r.w.RunFor(time.Hour)
	require.Empty(t, r.got)
	r.push(1)
	r.w.RunFor(time.Hour)
	require.Equal(t, []string{"e1 u00"}, r.got)
}

func TestSameSeedSameTrace(t *testing.T) {
	run := func(seed uint64) string {
		r := newRig(t, seed, "e1", "e2", "e3")
		for _, effect := range []string{"drop", "duplicate", "reorder"} {
			r.w.Inject(sim.Rule{ID: effect, Effect: effect, Rate: 0.2, Match: func(sim.CallName) bool { return true }})
		}
		r.push(50)
		r.w.RunFor(time.Hour)
		return r.w.Trace().Digest()
	}
	for seed := range uint64(5) {
		require.Equal(t, run(seed), run(seed))
	}
	require.NotEqual(t, run(1), run(2))
}
