package fakes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/sim"
)

// Code that waits through ports.Runtime lives through hours in no time.
func Example() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	rt := fakes.Runtime{Process: w.Process("p")}
	rt.Go(rt.Context(), "main", func(ctx context.Context) {
		g := rt.Group()
		for hours := range 3 {
			g.Go(ctx, "nap", func(ctx context.Context) { _ = rt.Sleep(ctx, time.Duration(hours)*time.Hour) })
		}
		impatient, cancel := rt.WithTimeout(ctx, 90*time.Minute)
		defer cancel()
		fmt.Println(g.Wait(impatient), "after", w.Elapsed())
		fmt.Println(g.Wait(ctx), "after", w.Elapsed())
	})
	w.RunFor(24 * time.Hour)
	// Output:
	// context deadline exceeded after 1h30m0s
	// <nil> after 2h0m0s
}
