package sim_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/animastor/orchestra/sim"
)

// BenchmarkWakeUp compares a wake-up of a sleeping task with what it cannot do
// without: a pair of iter.Pull switches. At most 2 at 100 tasks, 8 at 10,000, where
// each wake-up touches a stack that no cache holds.
func BenchmarkWakeUp(b *testing.B) {
	for _, tasks := range []int{100, 10_000} {
		b.Run(fmt.Sprint(tasks), func(b *testing.B) {
			w := sleepers(tasks)
			defer w.Close()
			next, stop := iter.Pull(func(yield func(int) bool) {
				for yield(0) {
				}
			})
			defer stop()
			const rounds = 11
			n := max(tasks, 10_000)
			var ratios []float64
			var wakeUps, pairs time.Duration
			for b.Loop() {
				for range rounds {
					wakeUp := timed(func() { w.RunFor(time.Duration(n/tasks) * time.Second) })
					pair := timed(func() {
						for range n {
							next()
						}
					})
					wakeUps, pairs = wakeUps+wakeUp, pairs+pair
					ratios = append(ratios, float64(wakeUp)/float64(pair))
				}
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(float64(wakeUps.Nanoseconds())/float64(n*len(ratios)), "ns/wake-up")
			b.ReportMetric(float64(pairs.Nanoseconds())/float64(n*len(ratios)), "ns/pair")
		})
	}
}

// sleepers is a world of tasks that sleep for a second, again and again.
func sleepers(tasks int) *sim.World {
	w := sim.New(sim.Options{Steps: 1 << 62})
	p := w.Process("p")
	for i := range tasks {
		p.Go(p.Context(), fmt.Sprint("t", i), func(ctx context.Context) {
			for {
				_ = p.Sleep(ctx, time.Second)
			}
		})
	}
	w.RunFor(time.Second)
	return w
}

func timed(fn func()) time.Duration {
	start := time.Now()
	fn()
	return time.Since(start)
}
