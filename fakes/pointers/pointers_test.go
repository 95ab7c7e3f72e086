package pointers_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/pointers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/pointerstest"
	"github.com/animastor/orchestra/sim"
)

var scene = ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}

// live runs do in a process of a world of its own.
func live(t *testing.T, rule sim.Rule, do func(context.Context, ports.Runtime, *pointers.Store)) {
	t.Helper()
	w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"pg": {Min: 1, Max: time.Millisecond}}})
	defer w.Close()
	if rule.Effect != "" {
		if rule.Match == nil {
			rule.Match = func(n sim.CallName) bool { return n.Service == "pg" && n.Verb != "mark" && n.Verb != "publish" }
		}
		w.Inject(rule)
	}
	p, store, ended := w.Process("p"), pointers.New(w), false
	p.Go(p.Context(), "main", func(ctx context.Context) {
		ctx, cancel := p.WithTimeout(ctx, time.Hour)
		defer cancel()
		do(ctx, fakes.Runtime{Process: p}, store)
		ended = true
	})
	w.RunFor(2 * time.Hour)
	require.Empty(t, w.Failures())
	require.Empty(t, w.Unfired())
	require.True(t, ended)
}

func TestConformance(t *testing.T) {
	for _, c := range pointerstest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			live(t, sim.Rule{}, func(ctx context.Context, rt ports.Runtime, s *pointers.Store) { require.NoError(t, c.Run(ctx, rt, s)) })
		})
	}
}

// Whatever it is that keeps it from being read, it is unreadable.
func TestOutage(t *testing.T) {
	everything := func(n sim.CallName) bool { return n.Service == "pg" }
	for _, effect := range []string{"unreadable", "refuse", "lost", "hang"} {
		t.Run(effect, func(t *testing.T) {
			live(t, sim.Rule{Effect: effect, Match: everything}, func(ctx context.Context, rt ports.Runtime, s *pointers.Store) {
				for _, method := range pointerstest.Methods() { // each with its own deadline
					ctx, cancel := rt.WithTimeout(ctx, time.Minute)
					require.NoError(t, pointerstest.Outage(ctx, s, method))
					cancel()
				}
			})
		})
	}
	meant := func(effect string) sim.Rule {
		return sim.Rule{Effect: effect, Match: func(n sim.CallName) bool { return pointers.Effects.Of(effect, n.Verb) }}
	}
	live(t, meant("empty"), func(ctx context.Context, _ ports.Runtime, s *pointers.Store) {
		err := pointerstest.Outage(ctx, s)
		for _, method := range pointerstest.Methods() {
			require.ErrorContains(t, err, method+" in an outage must answer ErrUnreadable, not")
		}
	})
	live(t, meant("undecodable"), func(ctx context.Context, _ ports.Runtime, s *pointers.Store) {
		require.NoError(t, pointerstest.Undecodable(ctx, s, scene))
		require.Error(t, pointerstest.Outage(ctx, s))
	})
}

// What each fault makes of reading two pointers, or two hundred, of which one was published
// after all others.
func TestFaults(t *testing.T) {
	tests := []struct {
		effect string
		rows   int
		want   int
		err    error
	}{
		{"unreadable", 2, 0, ports.ErrUnreadable},
		{"refuse", 2, 0, ports.ErrUnreadable},
		{"hang", 2, 0, ports.ErrUnreadable},
		{"undecodable", 2, 0, ports.ErrUndecodable},
		{"partial", 2, 0, ports.ErrUnreadable},
		{"partial", 200, 0, ports.ErrUnreadable},
		{"partial", 0, 0, ports.ErrUnreadable},
		{"empty", 2, 0, nil},
		{"stale", 2, 1, nil},
		{"stale", 200, 199, nil},
	}
	for _, test := range tests {
		t.Run(test.effect+" "+strconv.Itoa(test.rows), func(t *testing.T) {
			live(t, sim.Rule{Effect: test.effect}, func(ctx context.Context, _ ports.Runtime, s *pointers.Store) {
				for i := range test.rows {
					_, err := s.Publish(ctx, scene, ports.Pointer{Unit: "u" + strconv.Itoa(i)})
					require.NoError(t, err)
				}
				got, err := ports.AllPublished(ctx, s, scene)
				require.ErrorIs(t, err, test.err)
				if err == nil {
					require.Len(t, got, test.want)
				}
			})
		})
	}
}

// A write whose answer is lost was carried out.
func TestLostCommit(t *testing.T) {
	live(t, sim.Rule{Effect: "lost"}, func(ctx context.Context, _ ports.Runtime, s *pointers.Store) {
		n, err := s.Mark(ctx, scene, []string{"u1"})
		require.NoError(t, err)
		require.ErrorIs(t, s.Settle(ctx, scene, "u1", n), ports.ErrUnreadable)
		require.Empty(t, s.MarksOf(scene))
	})
}

func TestTombstoneUnknown(t *testing.T) {
	live(t, sim.Rule{Effect: "unreadable"}, func(ctx context.Context, _ ports.Runtime, s *pointers.Store) {
		got, err := s.Buried(ctx, "b1")
		require.Equal(t, ports.Unknown, got)
		require.ErrorIs(t, err, ports.ErrUnreadable)
	})
}
