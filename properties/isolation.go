package properties

import (
	"slices"
	"strings"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// isolation: all keys that one call writes, and the members that it adds to or removes
// from collections of many, are about one stage, scene or book, and about the one that
// the call names. Four things are about many by nature: draining the outbox, lending scenes
// whose events wait, trimming members whose time is over, and taking slots from dispatches
// that are.
//
// Proof: the write.
type isolation struct {
	*watch
	members map[string]map[string]float64 // of the shared collections, as the last write left them
}

var (
	_ writer   = (*isolation)(nil)
	_ eventer  = (*isolation)(nil)
	_ reloader = (*isolation)(nil)
	_ loser    = (*isolation)(nil)
)

func newIsolation(w *watch) any { return &isolation{w, map[string]map[string]float64{}} }

// reload notes what was written past the calls.
func (p *isolation) reload() {
	for _, key := range p.Redis.Keys() {
		if shared(p.parse(key).Family) {
			p.members[key] = p.now(key)
		}
	}
}

func (p *isolation) lost([]string) {
	clear(p.members)
	p.reload()
}

// shared says whether keys of the family are collections of many.
func shared(f keys.Family) bool {
	switch f {
	case keys.FamilySlots, keys.FamilyPurges, keys.FamilyDeferredOf, keys.FamilyActiveScenes, keys.FamilyScenesOf, keys.FamilyUndelivered,
		keys.FamilyOpenScopes:
		return true
	}
	return false
}

// now are the members of a collection, with their scores.
func (p *isolation) now(key string) map[string]float64 {
	now := map[string]float64{}
	for _, m := range p.Redis.ZRange(key) {
		now[m.Name] = m.Score
	}
	for _, m := range p.Redis.SMembers(key) {
		now[m] = 0
	}
	return now
}

func (p *isolation) event(e *sim.Event) {
	if e.Kind == "evict" {
		delete(p.members, e.Subject)
	}
}

func (p *isolation) write(c *change) {
	if c.Verb == "drain" || c.Verb == "due" {
		for i, k := range c.Parts {
			if shared(k.Family) {
				p.members[c.Keys[i]] = p.now(c.Keys[i])
			}
		}
		return
	}
	about := c.Subject
	for i, k := range c.Parts {
		for _, subject := range p.subjects(c.Keys[i], k) {
			if !related(subject, about) {
				p.fail(about, []sim.Event{c.event()}, "%s touched %s, which is about %s", c.Verb, c.Keys[i], subject)
				return
			}
			if c.Verb != "undefer" && len(subject) > len(about) { // a clear is about a whole scene or book
				about = subject
			}
		}
	}
}

// subjects are what a written key, or the members of it that changed, are about, as
// traces write it.
func (p *isolation) subjects(key string, k keys.Key) []string {
	switch {
	case k.Family == keys.FamilyDispatchJobs:
		return p.ofDispatches(k.Dispatch)
	case shared(k.Family):
		return p.ofMembers(key, k)
	case k.Unit != "":
		return []string{k.StageID.String()} // a finish is about all jobs of its stage
	}
	if s := keys.Subject(key); s != "" {
		return []string{s}
	}
	return nil
}

func (p *isolation) ofDispatches(ids ...string) (subjects []string) {
	for _, id := range ids {
		if d := p.dispatches[id]; d != nil { // a foreign holder is about nothing that we know
			subjects = append(subjects, d.Stage.String())
		}
	}
	return subjects
}

// ofMembers are the subjects of the members that came or went, but for those that went
// because their time is over.
func (p *isolation) ofMembers(key string, k keys.Key) (subjects []string) {
	before, now := p.members[key], p.now(key)
	p.members[key] = now
	for _, m := range changed(before, now) {
		if score, was := before[m]; was && score > 0 && score <= float64(p.redisNow()) {
			continue
		}
		switch k.Family {
		case keys.FamilySlots, keys.FamilyPurges:
			if d := p.dispatches[m]; d != nil && d.Ended {
				continue
			}
			subjects = append(subjects, p.ofDispatches(m)...)
		case keys.FamilyDeferredOf:
			s, _ := keys.ParseBookStageMember(k.Book, m)
			subjects = append(subjects, s.String())
		case keys.FamilyScenesOf:
			s, _ := keys.ParseBookSceneMember(k.Book, m)
			subjects = append(subjects, s.String())
		case keys.FamilyOpenScopes:
			book, _ := keys.ParseBookMember(m)
			subjects = append(subjects, ports.Quote(book))
		default:
			s, _ := keys.ParseSceneMember(m)
			subjects = append(subjects, s.String())
		}
	}
	return subjects
}

// changed lists the members that are in one of the two only, or have another score.
func changed(before, now map[string]float64) (members []string) {
	for m, score := range before { //sim:unordered sorted below
		if s, stays := now[m]; !stays || s != score {
			members = append(members, m)
		}
	}
	for m := range now { //sim:unordered sorted below
		if _, was := before[m]; !was {
			members = append(members, m)
		}
	}
	slices.Sort(members)
	return members
}

// related says whether one of two subjects is the other, or within it: b1 and
// b1/c1/s1:image/u2 are.
func related(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, within := strings.CutPrefix(b, a)
	return within && (a == "" || rest == "" || rest[0] == '/' || rest[0] == ':')
}
