package artifacts_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

const path = "b1/c1/s1/image/u1.png"

var file = ports.Artifact{Path: path, Generation: 2, Version: 3, Size: 10}

func TestStat(t *testing.T) {
	tests := []struct {
		name, effect string
		file         ports.Artifact
		want         ports.Presence
		err          error
	}{
		{"whole", "", file, ports.Present, nil},
		{"unfinished", "", ports.Artifact{Path: path}, ports.Absent, nil},
		{"elsewhere", "", ports.Artifact{Path: path + "x", Size: 1}, ports.Absent, nil},
		{"missing", "missing", file, ports.Absent, nil},
		{"unreadable", "unreadable", file, ports.Unknown, artifacts.ErrUnreadable},
		{"refused", "refuse", file, ports.Unknown, sim.ErrRefused},
		{"hung", "hang", file, ports.Unknown, sim.ErrDeadline},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"artifacts": {Min: 1, Max: time.Millisecond}}})
			defer w.Close()
			tree := artifacts.New(w, func(string) string { return "b1/c1/s1:image/u1" })
			tree.Set(test.file)
			if test.effect != "" {
				w.Inject(sim.Rule{Effect: test.effect, Match: func(n sim.CallName) bool {
					return n.Service == "artifacts" && n.Verb == "stat" && n.Subject == "b1/c1/s1:image/u1"
				}})
			}
			p, ended := w.Process("p"), false
			p.Go(p.Context(), "main", func(ctx context.Context) {
				ctx, cancel := p.WithTimeout(ctx, time.Second)
				defer cancel()
				got, presence, err := tree.Stat(ctx, path)
				require.Equal(t, test.want, presence)
				require.ErrorIs(t, err, test.err)
				if presence == ports.Present {
					require.Equal(t, test.file, got)
				}
				ended = true
			})
			w.RunFor(time.Minute)
			require.Empty(t, w.Failures())
			require.Empty(t, w.Unfired())
			require.True(t, ended)
		})
	}
}

func TestListAndRemove(t *testing.T) {
	tree := artifacts.New(sim.New(sim.Options{}), nil)
	for _, p := range []string{"c", "a", "b"} {
		tree.Set(ports.Artifact{Path: p, Size: 1})
	}
	require.True(t, tree.Remove("b"))
	require.False(t, tree.Remove("b"))
	require.Equal(t, []ports.Artifact{{Path: "a", Size: 1}, {Path: "c", Size: 1}}, tree.List())
}
