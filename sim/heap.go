package sim

// event is one entry of the clock: a task to wake, or a function to run.
// Exactly one of task and timer is set.
type event struct {
	at    int64 // virtual ns
	tie   uint64
	seq   uint64 // order of scheduling; decides only if two ties are equal
	task  *Task
	timer *timer
	gen   uint32 // the task's generation when it was scheduled; stale if they differ
}

func (a *event) before(b *event) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.tie != b.tie {
		return a.tie < b.tie
	}
	return a.seq < b.seq
}

// timer is a function due at an instant. stopped makes its event stale.
type timer struct {
	fn      func()
	stopped bool
}

// eventHeap is a 4-ary heap: half the depth of a binary one, and a node's
// children share a cache line or two.
type eventHeap []event

func (h *eventHeap) push(e event) {
	s := append(*h, e)
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) / 4
		if !e.before(&s[p]) {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = e
	*h = s
}

func (h *eventHeap) pop() event {
	s := *h
	top := s[0]
	n := len(s) - 1
	last := s[n]
	s[n] = event{} // release the pointers
	s = s[:n]
	if n > 0 {
		i := 0
		for {
			first := 4*i + 1
			if first >= n {
				break
			}
			least := first
			for c := first + 1; c < min(first+4, n); c++ {
				if s[c].before(&s[least]) {
					least = c
				}
			}
			if !s[least].before(&last) {
				break
			}
			s[i] = s[least]
			i = least
		}
		s[i] = last
	}
	*h = s
	return top
}
