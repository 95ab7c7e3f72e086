package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/animastor/orchestra/sim"
)

// paceEvery is how far the world may lag behind: far less than anything in it takes.
const paceEvery = 10 * time.Millisecond

// pace lets a world go by in real time. Whoever touches the world does it in do.
type pace struct {
	one   sync.Mutex
	world *sim.World
	began time.Time
}

func newPace(seed uint64) *pace {
	return &pace{world: sim.New(sim.Options{Seed: seed, Keep: 1000, Steps: math.MaxInt}), began: time.Now()}
}

// do brings the world up to now and does something in it.
func (p *pace) do(fn func()) {
	p.one.Lock()
	defer p.one.Unlock()
	p.world.RunUntil(time.Since(p.began))
	fn()
}

// run keeps the world going until ctx ends. What goes wrong in the world ends it, too.
func (p *pace) run(ctx context.Context) error {
	beat := time.NewTicker(paceEvery)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			p.do(p.world.Close)
			return nil
		case <-beat.C:
		}
		var failures []sim.Failure
		p.do(func() { failures = p.world.Failures() })
		if len(failures) > 0 {
			return fmt.Errorf("the loopback hub broke: %w", failures[0])
		}
	}
}
