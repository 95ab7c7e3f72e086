package sim_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/animastor/orchestra/sim"
)

// BenchmarkWakeUp compares a wake-up of a sleeping task with what it cannot do
// without, a pair of iter.Pull switches: at most 2 at 100 tasks and 8 at 10,000,
// where no cache holds all stacks. There, cold-ratio compares it with switches to
// as many coroutines in turn. All are the best of many rounds, so that what else the
// machine does disturbs none.
func BenchmarkWakeUp(b *testing.B) {
	for _, tasks := range []int{100, 10_000} {
		b.Run(fmt.Sprint(tasks), func(b *testing.B) {
			w := sleepers(tasks)
			defer w.Close()
			pair, coldPair := switcher(b, 1), switcher(b, tasks)
			const n = 1000 // short, or the machine always does something else too
			wakeUp, hot, cold := time.Hour, time.Hour, time.Hour
			for b.Loop() {
				best := func(of time.Duration, fn func()) time.Duration {
					for range 20 {
						of = min(of, timed(fn))
					}
					return of
				}
				// One after the other, so that none finds its memory thrown out by another.
				wakeUp = best(wakeUp, func() { w.RunFor(n * time.Second / time.Duration(tasks)) })
				hot = best(hot, func() { pair(n) })
				cold = best(cold, func() { coldPair(n) })
			}
			b.ReportMetric(float64(wakeUp)/float64(hot), "ratio")
			b.ReportMetric(float64(wakeUp)/float64(cold), "cold-ratio")
			b.ReportMetric(float64(wakeUp.Nanoseconds())/float64(n), "ns/wake-up")
		})
	}
}

// sleepers is a world of tasks that sleep for a second, again and again, each from
// an instant of its own, in no order.
func sleepers(tasks int) *sim.World {
	w := sim.New(sim.Options{Steps: 1 << 62})
	p := w.Process("p")
	for i := range tasks {
		p.Go(p.Context(), "t", func(ctx context.Context) {
			_ = p.Sleep(ctx, time.Duration(i*7919%tasks)*time.Second/time.Duration(tasks))
			for {
				_ = p.Sleep(ctx, time.Second)
			}
		})
	}
	w.RunFor(time.Second)
	return w
}

// switcher switches to coroutines and back, n times, to each in turn and in an order
// that no prefetcher foresees.
func switcher(b *testing.B, coroutines int) func(n int) {
	var nexts []func() (int, bool)
	for range coroutines {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for yield(0) {
			}
		})
		b.Cleanup(stop)
		nexts = append(nexts, next)
	}
	rand.Shuffle(coroutines, func(i, j int) { nexts[i], nexts[j] = nexts[j], nexts[i] })
	i := 0
	return func(n int) {
		for range n {
			nexts[i]()
			if i++; i == coroutines {
				i = 0
			}
		}
	}
}

func timed(fn func()) time.Duration {
	start := time.Now()
	fn()
	return time.Since(start)
}
