package redis

import (
	"container/heap"
	"time"
)

// expiry holds the absolute deadlines of keys, in ms since 1970. A key is in
// miniredis' table of TTLs if and only if it is here; what that table says is
// brought up to date only for the keys that a command names. So the clock can
// advance without a pass over keys.
type expiry struct {
	deadlines map[string]int64
	due       deadlineHeap // may hold entries that deadlines no longer knows
}

type deadline struct {
	at  int64
	key string
}

type deadlineHeap []deadline

var _ heap.Interface = (*deadlineHeap)(nil)

func (h deadlineHeap) Len() int           { return len(h) }
func (h deadlineHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h deadlineHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *deadlineHeap) Push(x any)        { *h = append(*h, x.(deadline)) }
func (h *deadlineHeap) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	(*h)[last] = deadline{}
	*h = (*h)[:last]
	return d
}

// advance brings the server to the world's time and removes the keys whose
// deadline is over. A key lives through the millisecond of its deadline.
func (s *Server) advance() {
	now := s.w.Now().Truncate(time.Millisecond)
	if ms := now.UnixMilli(); ms != s.nowMs {
		s.nowMs = ms
		s.mini.SetTime(now)
	}
	for len(s.due) > 0 && s.due[0].at < s.nowMs {
		d := heap.Pop(&s.due).(deadline)
		if s.deadlines[d.key] == d.at {
			s.remove(d.key)
		}
	}
}

// expireAt gives an existing key a deadline.
func (s *Server) expireAt(k string, at int64) {
	s.note(k, at)
	s.db.SetTTL(k, s.ttl(at))
}

// note enters a deadline. Renewals leave stale entries behind; when most are
// stale, the heap is made anew.
func (s *Server) note(k string, at int64) {
	if s.deadlines[k] == at {
		return
	}
	s.deadlines[k] = at
	heap.Push(&s.due, deadline{at, k})
	if len(s.due) < 64+2*len(s.deadlines) {
		return
	}
	s.due = s.due[:0]
	for key, at := range s.deadlines { //sim:unordered a heap; keys due together are removed together
		s.due = append(s.due, deadline{at, key})
	}
	heap.Init(&s.due)
}

// ttl is the time left until a deadline as miniredis holds it. Its table cannot tell
// a TTL of 0 from none, so there is 1 ns more; no command answers in ns.
func (s *Server) ttl(at int64) time.Duration {
	return time.Duration(at-s.nowMs)*time.Millisecond + 1
}

// prepare brings miniredis' TTLs of these keys up to date.
func (s *Server) prepare(keys []string) {
	for _, k := range keys {
		if at, ok := s.deadlines[k]; ok {
			s.db.SetTTL(k, s.ttl(at))
		}
	}
}

// settle reads back what a command made of the TTLs of its keys; they have been
// prepared.
func (s *Server) settle(keys []string) {
	for _, k := range keys {
		if ttl := s.db.TTL(k); ttl > 0 {
			s.note(k, s.nowMs+int64(ttl/time.Millisecond))
		} else {
			delete(s.deadlines, k)
		}
	}
}

// remove deletes a key and its deadline, and says whether it was there.
func (s *Server) remove(k string) bool {
	delete(s.deadlines, k)
	return s.db.Del(k)
}

// forget drops the deadline of a key that a command may have emptied.
func (s *Server) forget(k string) {
	if _, ok := s.deadlines[k]; ok && !s.db.Exists(k) {
		delete(s.deadlines, k)
	}
}

// pttl is how many ms an existing key has left, or -1.
func (s *Server) pttl(k string) int64 {
	at, ok := s.deadlines[k]
	if !ok {
		return -1
	}
	return at - s.nowMs
}

// gone says whether a key's deadline is over, although it may not be removed yet.
func (s *Server) gone(k string) bool {
	at, ok := s.deadlines[k]
	return ok && at < s.w.Now().UnixMilli()
}
