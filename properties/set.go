package properties

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// violationsMax is how many violations of one property are kept: what comes after
// the first few follows from them.
const violationsMax = 3

// Violation is one breach of a property.
type Violation struct {
	Property string
	At       time.Duration
	Subject  string // stage, scene, book, key, …; as the trace writes it
	Message  string
	Events   []sim.Event // that prove it, oldest first; writes have the kind "write"
}

func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s", v.Property, v.Subject, v.Message)
	for _, e := range v.Events {
		b.WriteString("\n  " + e.String())
	}
	return b.String()
}

// What a property may want to be told. Each implements at least one of these.
type (
	// eventer sees each event of the trace that the engine, the hub or the kernel wrote.
	eventer interface{ event(*sim.Event) }
	// writer sees each call that wrote to Redis, at the instant of the write.
	writer interface{ write(*change) }
	// rester is asked when every stage is done and no call is under way.
	rester interface{ rest() }
	// ender is asked at the end of a run.
	ender interface{ end() }
	// reloader is told that Redis was written past the calls.
	reloader interface{ reload() }
	// loser is told that a failover has undone the last writes, and what keys they were
	// to. What was seen of these may come again.
	loser interface{ lost(keys []string) }
	// settler is asked when a deadline for all work has passed.
	settler interface{ late(within time.Duration) }
)

// watch is what every property works with.
type watch struct {
	*View
	*ledger
	id  string
	set *Set
}

// evidenceMax is how many events prove a violation; of more, the last are kept.
const evidenceMax = 6

// fail reports a violation. events prove it.
func (w *watch) fail(subject string, events []sim.Event, format string, args ...any) {
	events = events[max(0, len(events)-evidenceMax):]
	w.set.report(Violation{Property: w.id, At: w.World.Elapsed(), Subject: subject,
		Message: fmt.Sprintf(format, args...), Events: slices.Clone(events)})
}

// Set is all the properties of one run. Feed it with Event and Write, and ask it with
// Rest, Late and End.
type Set struct {
	view       View
	ledger     *ledger
	started    bool
	failedOver bool // at some time
	off        map[string]string
	properties []named
	violations []Violation
	count      map[string]int
}

type named struct {
	id string
	is any
}

// New returns a set with every property on.
func New(v View) *Set {
	if v.Tick == 0 {
		v.Tick = 5 * time.Second // as the engine has it
	}
	if v.Pass == 0 {
		v.Pass = 60 * time.Second // likewise
	}
	s := &Set{view: v, off: map[string]string{}, count: map[string]int{}}
	s.ledger = newLedger(&s.view)
	for _, p := range list {
		if p.make != nil {
			s.properties = append(s.properties, named{p.ID, p.make(&watch{&s.view, s.ledger, p.ID, s})})
		}
	}
	return s
}

// Off switches a property off, with the reason. An unknown id panics: the scenario
// was vetted.
func (s *Set) Off(id, reason string) {
	if _, ok := Doc(id); !ok {
		panic(fmt.Sprintf("properties: no property %q; there are %s", id, strings.Join(IDs(), ", ")))
	}
	s.off[id] = reason
}

// On switches a property on again.
func (s *Set) On(id string) { delete(s.off, id) }

// Reload takes over what was written into Redis past the calls: a preload. Without
// it the set would take those values for the engine's work.
func (s *Set) Reload() {
	s.started = true
	s.ledger.reload()
	each(s, func(p reloader) { p.reload() })
}

// Failover takes over what a failover has left under the keys whose last writes it has
// undone.
func (s *Set) Failover(keys []string) {
	s.failedOver = true
	s.ledger.apply(redis.WriteInfo{Keys: keys})
	each(s, func(p loser) { p.lost(keys) })
}

// start takes over what stands in Redis before the first event.
func (s *Set) start() {
	if !s.started {
		s.Reload()
	}
}

// Event feeds one event of the trace: Trace().Watch(set.Event).
func (s *Set) Event(e *sim.Event) {
	if e.Data == nil && e.Kind == "call" {
		return // writes come by Write, and the rest as typed events
	}
	if _, engine := e.Data.(ports.Started); engine && e.At == 0 {
		s.Reload() // what was set up
	}
	s.start()
	if e.Kind == "evict" {
		s.ledger.apply(redis.WriteInfo{Keys: []string{e.Subject}})
	}
	if lost, ok := e.Data.(redis.Failover); ok {
		s.Failover(lost.Keys)
	}
	each(s, func(p eventer) { p.event(e) })
}

// Write feeds one write to Redis: Server.OnWrite(set.Write).
func (s *Set) Write(w redis.WriteInfo) {
	s.start()
	c := s.ledger.apply(w)
	each(s, func(p writer) { p.write(c) })
}

// Rest is to be called when every stage is done and no call is under way.
func (s *Set) Rest() {
	s.start()
	each(s, func(p rester) { p.rest() })
}

// End is to be called at the end of a run.
func (s *Set) End() {
	s.start()
	each(s, func(p ender) { p.end() })
}

// Late is to be called when `settle within` has passed and work is left.
func (s *Set) Late(within time.Duration) {
	s.start()
	each(s, func(p settler) { p.late(within) })
}

// Violations lists what was found so far: of each property the first few.
func (s *Set) Violations() []Violation { return s.violations }

// report takes a violation over, unless the same was found before: at rest, say, and at the end.
func (s *Set) report(v Violation) {
	said := func(o Violation) bool {
		return o.Property == v.Property && o.Subject == v.Subject && o.Message == v.Message
	}
	if slices.ContainsFunc(s.violations, said) {
		return
	}
	if s.count[v.Property]++; s.count[v.Property] <= violationsMax {
		s.violations = append(s.violations, v)
	}
}

// each calls fn for every property that is on and implements I.
func each[I any](s *Set, fn func(I)) {
	for _, p := range s.properties {
		if _, off := s.off[p.id]; off {
			continue
		}
		if i, ok := p.is.(I); ok {
			fn(i)
		}
	}
}
