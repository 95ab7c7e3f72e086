package redis

import (
	"cmp"
	"slices"
)

// Peek is a view of the database that disturbs nothing: no call, no draw, no
// expiry. It answers for the instant at which it is asked. Of a key of another type
// it answers what it would of no key.
type Peek struct{ s *Server }

// Member is one member of a sorted set.
type Member struct {
	Name  string
	Score float64
}

// Peek is the view for properties and expectations.
func (s *Server) Peek() Peek { return Peek{s} }

// Exists says whether there is a value under k.
func (p Peek) Exists(k string) bool { return p.Type(k) != "" }

// Type is string, hash, list, set, zset, stream, or "" without a key.
func (p Peek) Type(k string) string {
	if p.s.gone(k) {
		return ""
	}
	return p.s.db.Type(k)
}

// Get is the string under k, if there is one.
func (p Peek) Get(k string) (string, bool) {
	if p.s.gone(k) {
		return "", false
	}
	v, err := p.s.db.Get(k)
	return v, err == nil
}

// HGetAll is a whole hash; nil without one.
func (p Peek) HGetAll(k string) map[string]string {
	if p.Type(k) != "hash" {
		return nil
	}
	fields, _ := p.s.db.HKeys(k)
	hash := make(map[string]string, len(fields))
	for _, f := range fields {
		hash[f] = p.s.db.HGet(k, f)
	}
	return hash
}

// ZRange is a whole sorted set, by score and name.
func (p Peek) ZRange(k string) []Member {
	if p.Type(k) != "zset" {
		return nil
	}
	scores, _ := p.s.db.SortedSet(k)
	members := make([]Member, 0, len(scores))
	for name, score := range scores {
		members = append(members, Member{name, score})
	}
	slices.SortFunc(members, func(a, b Member) int { return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.Name, b.Name)) })
	return members
}

// SMembers is a whole set, sorted.
func (p Peek) SMembers(k string) []string {
	if p.Type(k) != "set" {
		return nil
	}
	members, _ := p.s.db.Members(k)
	return members
}

// LRange is a whole list.
func (p Peek) LRange(k string) []string {
	if p.Type(k) != "list" {
		return nil
	}
	list, _ := p.s.db.List(k)
	return slices.Clone(list)
}

// XLen is the number of entries of a stream.
func (p Peek) XLen(k string) int {
	if p.Type(k) != "stream" {
		return 0
	}
	entries, _ := p.s.db.Stream(k)
	return len(entries)
}

// PTTL is how many ms k has left: -1 without a TTL, -2 without a key.
func (p Peek) PTTL(k string) int64 {
	if !p.Exists(k) {
		return -2
	}
	at, ok := p.s.deadlines[k]
	if !ok {
		return -1
	}
	return at - p.s.w.Now().UnixMilli()
}

// Keys are the names of all keys, sorted.
func (p Peek) Keys() []string { return slices.DeleteFunc(p.s.db.Keys(), p.s.gone) }
