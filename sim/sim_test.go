package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/sim"
)

func TestTiesAreOrderedBySeed(t *testing.T) {
	order := func(seed uint64) string {
		w := sim.New(sim.Options{Seed: seed})
		defer w.Close()
		p := w.Process("p")
		var b strings.Builder
		for _, name := range []string{"a", "b", "c", "d"} {
			p.Go(p.Context(), name, func(ctx context.Context) {
				_ = p.Sleep(ctx, time.Second)
				b.WriteString(name)
			})
		}
		w.RunFor(time.Minute)
		require.Equal(t, time.Minute, w.Elapsed())
		return b.String()
	}
	seen := map[string]bool{}
	for seed := range uint64(64) {
		require.Equal(t, order(seed), order(seed))
		seen[order(seed)] = true
	}
	require.Greater(t, len(seen), 10, "64 seeds should show many of the 24 orders")
}

func TestCrashUnwindsAndMutes(t *testing.T) {
	w := sim.New(sim.Options{Latency: map[string]sim.Latency{"db": {Min: time.Second, Max: time.Second}}})
	p := w.Process("p")
	done, late, unwound := 0, 0, 0
	call := func(what *int) {
		_, _ = w.Do(&sim.Call{Service: "db", Verb: "inc", Do: func(*sim.Fired) (any, error) { *what++; return nil, nil }})
	}
	p.Go(p.Context(), "writer", func(context.Context) {
		defer func() { unwound++; call(&late) }()
		for {
			call(&done)
		}
	})
	w.At(2500*time.Millisecond, "killer", p.Crash)
	w.RunFor(time.Minute)
	// 1 s a call, or 20 s for one in 50: the request in flight at the crash is carried out.
	require.LessOrEqual(t, done, 3)
	require.Positive(t, done)
	require.Equal(t, 1, unwound)
	require.Zero(t, late, "a dead process did something")
	require.Empty(t, w.Failures())
	w.Close()
}

func TestPauseDelaysTasksAndNotTheWorld(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	p := w.Process("p")
	var woke time.Duration
	p.Go(p.Context(), "sleeper", func(ctx context.Context) {
		_ = p.Sleep(ctx, time.Second)
		woke = w.Elapsed()
	})
	w.At(500*time.Millisecond, "pause", p.Pause)
	w.At(10*time.Second, "resume", p.Resume)
	w.RunFor(time.Minute)
	require.Equal(t, 10*time.Second, woke)
}

func TestDeadlineEndsASlowCall(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	p := w.Process("p")
	w.Inject(sim.Rule{ID: "r", Match: func(n sim.CallName) bool { return n.Verb == "get" }, Effect: "hang"})
	w.Inject(sim.Rule{ID: "s", Match: func(n sim.CallName) bool { return n.Verb == "put" }, Effect: "late", Delay: time.Hour})
	puts := 0
	p.Go(p.Context(), "t", func(ctx context.Context) {
		c, cancel := p.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		dl, _ := c.Deadline()
		_, err := w.Do(&sim.Call{Service: "s", Verb: "get", Deadline: dl, Do: func(*sim.Fired) (any, error) { panic("a hanging call is not done") }})
		require.ErrorIs(t, err, sim.ErrDeadline)
		require.Equal(t, 3*time.Second, w.Elapsed())
		_, err = w.Do(&sim.Call{Service: "s", Verb: "put", Deadline: dl.Add(time.Second), Do: func(*sim.Fired) (any, error) { puts++; return nil, nil }})
		require.ErrorIs(t, err, sim.ErrDeadline)
		require.Equal(t, 4*time.Second, w.Elapsed())
	})
	w.RunFor(time.Minute)
	require.Equal(t, 1, puts)
	require.Len(t, w.Fired(), 2)
}

func TestContextsEndInVirtualTime(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	p := w.Process("p")
	goroutines := runtime.NumGoroutine()
	var log []string
	p.Go(p.Context(), "t", func(ctx context.Context) {
		outer, cancel := p.WithCancel(ctx)
		inner, stop := p.WithTimeout(outer, time.Hour)
		defer stop()
		std, stopStd := context.WithCancel(inner) // a library may derive its own
		defer stopStd()
		inner.(*sim.Context).AfterFunc(func() { log = append(log, "after") })
		g := p.Group()
		g.Go(inner, "child", func(ctx context.Context) {
			log = append(log, p.Sleep(ctx, 30*time.Minute).Error())
		})
		_ = p.Sleep(ctx, time.Minute)
		cancel()
		require.NoError(t, g.Wait(ctx))
		_ = p.Sleep(ctx, time.Second)
		require.ErrorIs(t, std.Err(), context.Canceled)
	})
	w.RunFor(2 * time.Hour)
	require.Empty(t, w.Failures())
	require.ElementsMatch(t, []string{"after", "context canceled"}, log)
	require.Equal(t, goroutines, runtime.NumGoroutine())
}

// A wait that ends by the wall clock fails the world, once for each task and what it does.
func TestADeadlineOfTheWallClockFails(t *testing.T) {
	call := func(ctx context.Context, p *sim.Process) {
		deadline, _ := ctx.Deadline()
		_, _ = p.World().Do(&sim.Call{Service: "far", Verb: "get", Deadline: deadline, Do: func(*sim.Fired) (any, error) { return nil, nil }})
	}
	sleep := func(ctx context.Context, p *sim.Process) { _ = p.Sleep(ctx, time.Second) }
	wait := func(ctx context.Context, p *sim.Process) { _ = p.Group().Wait(ctx) }
	derive := func(ctx context.Context, p *sim.Process) {
		ctx, cancel := p.WithCancel(ctx)
		cancel()
		ctx, cancel = p.WithTimeout(ctx, time.Second)
		cancel()
		_ = p.Sleep(ctx, time.Second)
	}
	timeout := func(ctx context.Context, p *sim.Process) (context.Context, func()) {
		return context.WithTimeout(ctx, time.Hour)
	}
	deadline := func(ctx context.Context, p *sim.Process) (context.Context, func()) {
		return context.WithDeadline(ctx, p.Now().Add(time.Minute))
	}
	type key struct{}
	kernel := func(ctx context.Context, p *sim.Process) (context.Context, func()) {
		ctx, cancel := p.WithTimeout(ctx, time.Minute)
		ctx, cancelToo := context.WithCancel(context.WithValue(ctx, key{}, "value")) // as a library may
		return ctx, func() { cancelToo(); cancel() }
	}
	for _, c := range []struct {
		name   string
		under  func(context.Context, *sim.Process) (context.Context, func())
		do     func(context.Context, *sim.Process)
		refers string // "": nothing is wrong
	}{
		{"a call", timeout, call, "far.get"},
		{"a sleep", timeout, sleep, "Process.Sleep"},
		{"a sleep to an instant", deadline, sleep, "Process.Sleep"},
		{"a wait", timeout, wait, "Group.Wait"},
		{"a derived context", timeout, derive, "Process.WithCancel"},
		{"a call under the kernel's", kernel, call, ""},
		{"a sleep under the kernel's", kernel, sleep, ""},
		{"a wait under the kernel's", kernel, wait, ""},
		{"a context derived from the kernel's", kernel, derive, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := sim.New(sim.Options{})
			defer w.Close()
			p := w.Process("p")
			p.Go(p.Context(), "t", func(ctx context.Context) {
				ctx, cancel := c.under(ctx, p)
				defer cancel()
				c.do(ctx, p)
				c.do(ctx, p)
			})
			w.RunFor(time.Hour)
			if c.refers == "" {
				require.Empty(t, w.Failures())
				return
			}
			require.Len(t, w.Failures(), 1)
			require.ErrorContains(t, w.Failures()[0], "p/t: clock: "+c.refers+" has a deadline of the wall clock; take it from Process.WithTimeout")
		})
	}
}

func TestGroupWaitIsBounded(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	p := w.Process("p")
	ended := false
	p.Go(p.Context(), "t", func(ctx context.Context) {
		g := p.Group()
		g.Go(ctx, "long", func(ctx context.Context) { _ = p.Sleep(ctx, time.Hour); ended = true })
		short, cancel := p.WithTimeout(ctx, 4*time.Second)
		defer cancel()
		require.ErrorIs(t, g.Wait(short), context.DeadlineExceeded)
		require.Equal(t, 4*time.Second, w.Elapsed())
	})
	w.RunFor(2 * time.Hour)
	require.True(t, ended)
}

func TestALeftGroupWakesNobody(t *testing.T) {
	for name, wait := range map[string]func(context.Context, *sim.World, *sim.Process) error{
		"a sleep": func(ctx context.Context, _ *sim.World, p *sim.Process) error { return p.Sleep(ctx, time.Minute) },
		"a call": func(_ context.Context, w *sim.World, _ *sim.Process) error {
			reply, err := w.Do(&sim.Call{Service: "far", Verb: "get", Do: func(*sim.Fired) (any, error) { return "answer", nil }})
			if err == nil && reply != "answer" {
				err = fmt.Errorf("the call was answered with %v", reply)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := sim.New(sim.Options{Latency: map[string]sim.Latency{"far": {Min: time.Minute, Max: time.Minute}}})
			defer w.Close()
			p := w.Process("p")
			var began, ended time.Duration
			p.Go(p.Context(), "t", func(ctx context.Context) {
				g := p.Group()
				g.Go(ctx, "short", func(ctx context.Context) { _ = p.Sleep(ctx, 10*time.Second) })
				soon, cancel := p.WithTimeout(ctx, time.Second)
				defer cancel()
				require.ErrorIs(t, g.Wait(soon), context.DeadlineExceeded)
				began = w.Elapsed()
				require.NoError(t, wait(ctx, w, p))
				ended = w.Elapsed()
			})
			w.RunFor(time.Hour)
			require.Empty(t, w.Failures())
			require.GreaterOrEqual(t, ended-began, time.Minute)
		})
	}
}

func TestPanicAndGoexitAreFailuresOfTheirTask(t *testing.T) {
	w := sim.New(sim.Options{})
	p := w.Process("p")
	p.Go(p.Context(), "bad", func(context.Context) { panic("boom") })
	p.Go(p.Context(), "exit", func(context.Context) { runtime.Goexit() })
	ran := false
	p.Go(p.Context(), "good", func(ctx context.Context) {
		_ = p.Sleep(ctx, time.Second)
		require.ErrorContains(t, p.Isolate(func() error { panic("kept") }), "kept")
		ran = true
	})
	w.RunFor(time.Minute)
	w.Close()
	require.True(t, ran)
	require.Len(t, w.Failures(), 2)
	kinds := []string{w.Failures()[0].Kind, w.Failures()[1].Kind}
	require.ElementsMatch(t, []string{"panic", "goexit"}, kinds)
}

func TestStepBudget(t *testing.T) {
	w := sim.New(sim.Options{Steps: 1000})
	defer w.Close()
	p := w.Process("p")
	p.Go(p.Context(), "spin", func(ctx context.Context) {
		for {
			_ = p.Sleep(ctx, 0)
		}
	})
	w.RunFor(time.Minute)
	require.Len(t, w.Failures(), 1)
	require.Equal(t, "steps", w.Failures()[0].Kind)
	require.Contains(t, w.Failures()[0].Error(), "p/spin")
}

func TestCrashAroundACall(t *testing.T) {
	for _, after := range []bool{false, true} {
		w := sim.New(sim.Options{Latency: map[string]sim.Latency{"db": {Min: time.Millisecond, Max: time.Second}}})
		p := w.Process("p")
		w.Inject(sim.Rule{ID: "r", Match: func(n sim.CallName) bool { return n.Verb == "put" }, Effect: "crash", After: after})
		puts, returned := 0, false
		p.Go(p.Context(), "t", func(context.Context) {
			_, _ = w.Do(&sim.Call{Service: "db", Verb: "put", Do: func(*sim.Fired) (any, error) { puts++; return nil, nil }})
			returned = true
		})
		w.RunFor(time.Minute)
		require.False(t, p.Alive())
		require.False(t, returned)
		require.Equal(t, after, puts == 1)
		p.Restart()
		require.Equal(t, "p.2", p.Incarnation())
		w.Close()
	}
}

// An effect that means nothing to the call that it hits would prove nothing.
func TestAnEffectThatMeansNothingFails(t *testing.T) {
	effects := sim.Effects{"cold": nil, "stale": {"get"}}
	for _, c := range []struct {
		effect, verb string
		want         []string
	}{
		{"cold", "get", nil}, {"cold", "put", nil}, {"stale", "get", nil},
		{"stale", "put", []string{"0.000000s: p/t: fault: a call of far.put has no effect stale, but crash, down, hang, late, lost, pause, refuse, slow, cold"}},
		{"odd", "get", []string{"0.000000s: p/t: fault: a call of far.get has no effect odd, but crash, down, hang, late, lost, pause, refuse, slow, cold, stale"}},
	} {
		t.Run(c.effect+" "+c.verb, func(t *testing.T) {
			w := sim.New(sim.Options{})
			defer w.Close()
			w.Inject(sim.Rule{Effect: c.effect, Match: func(sim.CallName) bool { return true }})
			p := w.Process("p")
			p.Go(p.Context(), "t", func(context.Context) {
				saw, err := w.Do(&sim.Call{Service: "far", Verb: c.verb, Effects: effects, Do: func(fx *sim.Fired) (any, error) { return fx != nil, nil }})
				require.NoError(t, err)
				require.Equal(t, c.want == nil, saw, "what means nothing is not handed on")
			})
			w.RunFor(time.Second)
			var failures []string
			for _, f := range w.Failures() {
				failures = append(failures, f.Error())
			}
			require.Equal(t, c.want, failures)
		})
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{{"*", "", true}, {"a*c", "abbc", true}, {"a*c", "abcd", false}, {"", "", true}, {"b1/*:image", "b1/c/s:image", true}, {"**x", "yx", true}, {"a", "b", false}} {
		require.Equal(t, c.want, sim.Glob(c.pattern, c.s), "%q %q", c.pattern, c.s)
	}
}
