package media_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/media"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/mediatest"
	"github.com/animastor/orchestra/sim"
)

// TestCases: the rules that the directory of production keeps, too.
func TestCases(t *testing.T) {
	for _, c := range mediatest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			w := sim.New(sim.Options{Seed: 1})
			defer w.Close()
			tree := artifacts.New(w, nil)
			m, p := media.New(w, tree), w.Process("e1")
			p.Go(p.Context(), "case", func(ctx context.Context) {
				require.NoError(t, c.Run(ctx, mediatest.Tree{Media: m, Placeholders: m, Artifacts: tree, Put: tree.Put}))
			})
			w.RunFor(time.Minute)
			require.Empty(t, w.Failures())
		})
	}
}

// Silence goes where nothing stands, or an upload that was not finished; a merge takes its
// place, and cuts the silence at the end of the last part.
func TestPlace(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	tree := artifacts.New(w, nil)
	m := media.New(w, tree)
	real := ports.Artifact{Path: "real", Size: 7, Duration: 3 * time.Second, Trimmed: 2 * time.Second}
	tree.Set(real)
	tree.Set(ports.Artifact{Path: "half"})
	p := w.Process("e1")
	p.Go(p.Context(), "test", func(ctx context.Context) {
		for _, path := range []string{"real", "half", "none", "none"} {
			require.NoError(t, m.Place(ctx, path))
		}
		got, _ := tree.Get("real")
		require.Equal(t, real, got)
		for _, path := range []string{"half", "none"} {
			got, _ = tree.Get(path)
			require.True(t, got.Placeholder, path)
		}
		require.NoError(t, m.Merge(ctx, ports.Merge{Whole: ports.Artifact{Path: "none", Generation: 1}, Parts: []string{"real", "real"}}))
		got, _ = tree.Get("none")
		require.Equal(t, ports.Artifact{Path: "none", Generation: 1, Size: 14, Duration: 5 * time.Second, Trimmed: 5 * time.Second}, got)
	})
	w.RunFor(time.Minute)
	require.Empty(t, w.Failures())
}
