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
	over  bool
}

func newPace(seed uint64) *pace {
	return &pace{world: sim.New(sim.Options{Seed: seed, Keep: 1000, Steps: math.MaxInt}), began: time.Now()}
}

// do brings the world up to now and does something in it. It says whether there still is one.
func (p *pace) do(fn func()) bool {
	p.one.Lock()
	defer p.one.Unlock()
	if p.over {
		return false
	}
	p.world.RunUntil(time.Since(p.began))
	fn()
	return true
}

// run keeps the world going until ctx ends, or something goes wrong in it.
func (p *pace) run(ctx context.Context) error {
	beat := time.NewTicker(paceEvery)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
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

// end ends the world. A request that comes later finds none.
func (p *pace) end() {
	p.one.Lock()
	defer p.one.Unlock()
	p.over = true
	p.world.Close()
}
