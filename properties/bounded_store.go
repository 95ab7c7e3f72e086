package properties

import (
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/sim"
)

// boundedStore: at rest and at the end no lease, record, set of jobs or slot stands for
// a dispatch that is not live, but for the length of a lease for one whose state was
// evicted; every key of a family that schema 2 gives a time to live has one; and there are
// no more keys than the scenes, the jobs and the dispatches of the last day account for.
// Keys that a scenario preloads are not counted.
//
// Proof: the key, which the message names, and the begin of its dispatch.
type boundedStore struct{ *watch }

var (
	_ rester = (*boundedStore)(nil)
	_ ender  = (*boundedStore)(nil)
)

func newBoundedStore(w *watch) any { return &boundedStore{w} }

// markerTTL is how long the marker of a finished dispatch is kept (schema 2).
const markerTTL = 24 * time.Hour

// forever holds the families without a time to live (schema 2).
var forever = map[keys.Family]bool{
	keys.FamilyAssetState: true, keys.FamilyIntent: true, keys.FamilySlots: true, keys.FamilyDeferredOf: true, keys.FamilyBreaker: true,
	keys.FamilyActiveScenes: true, keys.FamilyScenesOf: true, keys.FamilyCancel: true, keys.FamilyOutbox: true, keys.FamilyPurges: true, keys.FamilyUndelivered: true,
	keys.FamilyScope: true, keys.FamilyOpenScopes: true,
}

func (p *boundedStore) rest() { p.look() }
func (p *boundedStore) end()  { p.look() }

func (p *boundedStore) look() {
	n := 0
	for _, key := range p.Redis.Keys() {
		if p.foreign[key] {
			continue
		}
		n++
		k := p.parse(key)
		for _, id := range p.owners(key, k) {
			if d := p.dispatches[id]; d != nil && d.Ended && !p.lapses(d) {
				p.broken(key, []sim.Event{d.Event}, "is left of dispatch %s, which has ended", id)
			}
		}
		if k.Family != "" && !forever[k.Family] && p.Redis.PTTL(key) == -1 {
			p.broken(key, nil, "has no time to live")
		}
	}
	if most := p.most(); n > most {
		p.broken("all keys", nil, "are %d; %d scenes, %d jobs and the dispatches of a day account for %d", n, len(p.Scenes()), len(p.ledger.jobs), most)
	}
}

// lapses says whether what is left of an ended dispatch may yet go by itself: no call
// ended it, but Redis lost the state that named it, so nobody could remove the rest, nor
// renew it since.
func (p *boundedStore) lapses(d *dispatch) bool {
	return d.EndedBy == "" && p.World.Elapsed()-d.EndedAt <= p.Profile(d.Stage.Stage).RenewedLease
}

// owners are the dispatches that a key stands for.
func (p *boundedStore) owners(key string, k keys.Key) (ids []string) {
	switch k.Family {
	case keys.FamilyLease:
		id, _ := p.Redis.Get(key)
		return []string{id}
	case keys.FamilyDispatch:
		return []string{p.Redis.HGetAll(key)["dispatch_id"]}
	case keys.FamilyDispatchJobs:
		return []string{k.Dispatch}
	case keys.FamilySlots:
		for _, m := range p.Redis.ZRange(key) {
			ids = append(ids, m.Name)
		}
	}
	return ids
}

// most is how many keys may exist.
func (p *boundedStore) most() int {
	const (
		global    = 8 // active-scenes, open-scopes, the two locks, the outbox, the purges, the suspicion, the undelivered
		ofAStage  = 4 // slots, and three of the breaker
		ofABook   = 7 // deferred-of, scenes-of, cancel, force, scope, journal, result events
		ofAScene  = 4 // asset-state, journal, result events, progress
		perStage  = 5 // intent, lease, record, deferral, budget
		ofAJob    = 2 // receipt, task-done
		ofALiving = 1 // jobs
	)
	stages := len(asset.Stages())
	books := map[string]bool{}
	for _, s := range p.Scenes() {
		books[s.Book] = true
	}
	most := global + ofAStage*stages + ofABook*len(books) + (ofAScene+perStage*stages)*len(p.Scenes()) + ofAJob*len(p.ledger.jobs)
	for _, d := range p.dispatches { //sim:unordered a sum
		if !d.Ended {
			most += ofALiving
		} else if p.World.Elapsed()-d.EndedAt <= markerTTL {
			most++
		}
	}
	return most
}

func (p *boundedStore) broken(key string, events []sim.Event, format string, args ...any) {
	p.fail(key, events, format, args...)
}
