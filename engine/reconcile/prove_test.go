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

// TestSuspects: only passes in a row that find the same are believed.
func TestSuspects(t *testing.T) {
	gone := func(numbers ...int) (list []store.StageView) {
		for _, n := range numbers {
			list = append(list, store.StageView{Stage: sceneN(n).Of("image")})
		}
		return list
	}
	r := &Reconciler{}
	require.True(t, r.suspects(gone(1, 2), true))
	require.True(t, r.suspects(gone(1, 2), true))
	require.False(t, r.suspects(gone(1, 2), true), "the third agrees")
	require.True(t, r.suspects(gone(1, 3), true), "another finding begins anew")
	require.True(t, r.suspects(gone(1, 3), true))
	require.False(t, r.suspects(nil, false), "nothing is missing")
	require.True(t, r.suspects(gone(1, 3), true), "and the row is broken")
}
