package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/sim"
)

// lockService is a user's own service: a lock with a lease, and a file that the
// holder of the lock writes.
type lockService struct {
	w      *sim.World
	holder string
	until  time.Duration
	writes []string
}

func (s *lockService) do(verb string, fn func() any) any {
	reply, _ := s.w.Do(&sim.Call{Service: "lock", Verb: verb, Do: func(*sim.Fired) (any, error) { return fn(), nil }})
	return reply
}

func (s *lockService) acquire(who string) bool {
	return s.do("acquire", func() any {
		if s.holder != "" && s.w.Elapsed() < s.until {
			return false
		}
		s.holder, s.until = who, s.w.Elapsed()+10*time.Second
		return true
	}).(bool)
}

func (s *lockService) write(who string) {
	s.do("write", func() any { s.writes = append(s.writes, who+" while "+s.holder+" holds the lock"); return nil })
}

// A lock with a lease does not protect a write that carries no fence: a process
// that is paused between the two writes after somebody else took the lock.
func Example() {
	w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"lock": {Min: time.Millisecond, Max: 5 * time.Millisecond}}})
	defer w.Close()
	s := &lockService{w: w}
	for _, name := range []string{"a", "b"} {
		p := w.Process(name)
		p.Go(p.Context(), "main", func(ctx context.Context) {
			for !s.acquire(name) {
				_ = p.Sleep(ctx, time.Second)
			}
			s.write(name)
		})
	}
	w.Inject(sim.Rule{ID: "pause the first writer", Effect: "pause", Delay: time.Minute, Count: 1,
		Match: func(c sim.CallName) bool { return c.Verb == "write" }})
	w.RunFor(5 * time.Minute)
	for _, f := range w.Failures() { // none: a misspelt effect is one, and a deadline of the wall clock
		fmt.Println(f)
	}
	for _, f := range w.Fired() {
		fmt.Println(f.Effect, f.Call)
	}
	for _, line := range s.writes {
		fmt.Println(line)
	}
	// Output:
	// pause b/main lock.write #1
	// a while a holds the lock
	// b while a holds the lock
}
