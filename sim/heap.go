package sim

import "math/bits"

// event is one entry of the clock: a task to wake, or a function to run.
// Exactly one of task and timer is set.
type event struct {
	at    int64 // virtual ns, never negative
	tie   uint64
	task  *Task
	timer *timer
	gen   uint32 // the task's generation when it was scheduled; stale if they differ
}

// before is 1 if a is due before b, else 0. It has no branch, because there is
// nothing to predict: ties are random.
func (a *event) before(b *event) int {
	_, borrow := bits.Sub64(a.tie, b.tie, 0)
	_, borrow = bits.Sub64(uint64(a.at), uint64(b.at), borrow)
	return int(borrow)
}

// timer is a function due at an instant. stopped makes its event stale.
type timer struct {
	fn      func()
	stopped bool
}

// eventHeap is a 4-ary heap: half the depth of a binary one, and a node's
// children share a cache line or three. Two events equal in time and tie come out
// in an order that depends on what went in before, and on nothing else.
type eventHeap []event

// open makes room for an event that is due at an instant and returns its place, for the
// caller to fill with the rest: an event copied right after it was written waits for its own bytes.
func (h *eventHeap) open(at int64, tie uint64) *event {
	*h = append(*h, event{})
	due := event{at: at, tie: tie}
	e := &(*h)[h.rise(len(*h)-1, &due)]
	e.at, e.tie = at, tie
	return e
}

// rise moves the hole towards the root until e fits in, and returns where it is then.
func (h eventHeap) rise(hole int, e *event) int {
	for hole > 0 {
		parent := (hole - 1) / 4
		if e.before(&h[parent]) == 0 {
			break
		}
		h[hole] = h[parent]
		hole = parent
	}
	return hole
}

// drop removes the first event. The hole that it leaves goes all the way down, and
// the last event, which most often belongs there, fills it from below.
func (h *eventHeap) drop() {
	n := len(*h) - 1
	last := &(*h)[n]
	s := (*h)[:n]
	*h = s
	hole := 0
	for 4*hole+4 < n { // all four children are there
		c := s[4*hole+1 : 4*hole+5 : 4*hole+5]
		left, right := c[1].before(&c[0]), 2+c[3].before(&c[2])
		least := left + (right-left)*c[right&3].before(&c[left&3])
		s[hole] = c[least&3]
		hole = 4*hole + 1 + least
	}
	if first := 4*hole + 1; first < n {
		least := first
		for child := first + 1; child < n; child++ {
			least += (child - least) * s[child].before(&s[least])
		}
		s[hole] = s[least]
		hole = least
	}
	if n > 0 {
		s[s.rise(hole, last)] = *last
	}
	last.task, last.timer = nil, nil // for the garbage collector
}
