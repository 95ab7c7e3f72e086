package reconcile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

func sceneN(n int) ports.SceneID {
	return ports.SceneID{Book: "b", Chapter: "c", Scene: fmt.Sprintf("s%04d", n)}
}

// TestRound: pass after pass looks at each scene that is known, 250 at a time, and at those
// of the index every time.
func TestRound(t *testing.T) {
	r := &Reconciler{}
	for n := range 600 {
		r.known = append(r.known, sceneN(n))
	}
	seen := map[ports.SceneID]int{}
	for range 3 {
		scenes, next := r.round([]ports.SceneID{sceneN(1)})
		require.LessOrEqual(t, len(scenes), proveMax+1)
		require.Contains(t, scenes, sceneN(1))
		for _, s := range scenes {
			seen[s]++
		}
		r.next = next
	}
	require.Len(t, seen, 600)
	require.Equal(t, 3, seen[sceneN(1)])
	require.Equal(t, ports.SceneID{}, r.next, "the next pass begins anew")

	r.next = sceneN(250)
	r.known = r.known[:100] // fewer are known by now
	scenes, next := r.round(nil)
	require.Empty(t, scenes)
	require.Equal(t, ports.SceneID{}, next)
}

// TestSuspect: only passes in a row that find the same are believed.
func TestSuspect(t *testing.T) {
	row := store.Suspicion{}
	next := func(massLoss bool, numbers ...int) int {
		var gone []store.StageView
		for _, n := range numbers {
			gone = append(gone, store.StageView{Stage: sceneN(n).Of("image")})
		}
		row = suspect(row, gone, massLoss)
		return row.Agreed
	}
	require.Equal(t, 1, next(true, 1, 2))
	require.Equal(t, 2, next(true, 1, 2))
	require.Equal(t, 3, next(true, 1, 2), "the third agrees")
	require.Equal(t, 1, next(true, 1, 3), "another finding begins anew")
	require.Equal(t, 2, next(true, 1, 3))
	require.Equal(t, 0, next(false, 1, 3), "it is no mass loss, or not known")
	require.Zero(t, row)
	require.Equal(t, 1, next(true, 1, 3), "and the row is broken")
}
