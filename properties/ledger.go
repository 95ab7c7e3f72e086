package properties

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// row is what Redis says of one stage.
type row struct {
	Stage      ports.StageID
	State      asset.State
	Dispatch   string // the live one
	Holder     string // of the live one
	Renewed    int64  // ms; the live one
	Next       int64  // ms; backoff
	Generation int64  // of the intent
	Status     string // of the intent; "" without one
	Deferral   deferral
	Since      time.Duration // when the intent got its generation, or had it before it was gone
	Cleared    int           // deferrals of this generation that were taken away before their time
	Budget     tokens
}

// tokens is a retry budget; the zero one is full.
type tokens struct{ Left, At string }

// deferral is an open backoff window; the zero deferral is none.
type deferral struct {
	Reason            string
	Generation, Until int64 // ms
}

// holds says whether the deferral keeps a stage of that generation from being begun.
func (d deferral) holds(generation, nowMs int64) bool {
	return d.Generation == generation && d.Until > nowMs
}

// dispatch is one that Redis has named as live.
type dispatch struct {
	ID         string
	Stage      ports.StageID
	Generation int64
	Jobs       []string          // ids, sorted
	Done       int               // jobs with a result that was good
	Executed   bool              // one of these was no artifact that stood already
	Failed     map[string]string // jobs with a result that was bad: their codes
	FailedAt   time.Duration     // the last of Failed
	Ended      bool
	EndedAt    time.Duration
	EndedBy    string // verb of the call; "" if no call did it
	Event      sim.Event
}

// change is a call that wrote to Redis, and what it made of the stages.
type change struct {
	redis.WriteInfo
	At    time.Duration
	Parts []keys.Key // of Keys, in their order; the zero Key for what does not parse

	Rows     []move // stages whose row may differ
	Circuits []turn // kinds of stage whose circuit may differ
}

// move is a stage before and after a write.
type move struct {
	Before, After row
	Ended         *dispatch // the dispatch that was live before and is not any more
	Begun         *dispatch // the dispatch that is live now and was not before
	Again         bool      // Begun had ended before
}

// event is the write as the evidence of a violation.
func (c *change) event() sim.Event {
	return sim.Event{At: c.At, Process: c.Task, Kind: "write", Subject: c.Subject, Detail: c.Verb + " " + strings.Join(c.Keys, " ")}
}

// ledger mirrors what Redis says of the stages. It is brought up to date after each
// write, so it knows in which order things happened.
type ledger struct {
	view       *View
	rows       map[ports.StageID]*row
	dispatches map[string]*dispatch
	circuits   map[string]circuit // by kind of stage
	jobs       map[string]bool    // every job id that a dispatch held
	cancelled  map[string]bool    // books
	foreign    map[string]bool    // keys that no call wrote
	parsed     map[string]keys.Key
}

func newLedger(v *View) *ledger {
	return &ledger{view: v, rows: map[ports.StageID]*row{}, dispatches: map[string]*dispatch{}, circuits: map[string]circuit{},
		jobs: map[string]bool{}, cancelled: map[string]bool{}, foreign: map[string]bool{}, parsed: map[string]keys.Key{}}
}

// reload takes over what was written past the calls. A key that no call has written
// before is foreign.
func (l *ledger) reload() {
	for _, k := range l.view.Redis.Keys() {
		if _, seen := l.parsed[k]; !seen {
			l.foreign[k] = true
		}
		l.apply(redis.WriteInfo{Keys: []string{k}})
	}
}

// parse takes a key apart, and remembers how.
func (l *ledger) parse(key string) keys.Key {
	k, ok := l.parsed[key]
	if !ok {
		k, _ = keys.Parse(key) // the zero Key is of no family
		l.parsed[key] = k
	}
	return k
}

// apply brings the ledger up to date after a write and says what it changed.
func (l *ledger) apply(w redis.WriteInfo) *change {
	c := &change{WriteInfo: w, At: l.view.World.Elapsed()}
	var stages []ports.StageID
	add := func(s ports.StageID) {
		if !slices.Contains(stages, s) {
			stages = append(stages, s)
		}
	}
	for _, key := range w.Keys {
		k := l.parse(key)
		c.Parts = append(c.Parts, k)
		switch k.Family {
		case keys.FamilyAssetState:
			for _, s := range asset.Stages() {
				add(k.SceneID.Of(s))
			}
		case keys.FamilyIntent, keys.FamilyDeferred, keys.FamilyBudget:
			add(k.StageID)
		case keys.FamilyBreaker, keys.FamilyBreakerFailures, keys.FamilyBreakerPermits:
			l.turn(k.Stage, c)
		case keys.FamilyCancel:
			l.cancelled[k.Book] = l.view.Redis.Exists(key)
		case keys.FamilyDispatchJobs:
			l.results(k.Dispatch, key, c)
		}
	}
	var scene ports.SceneID
	var hash map[string]string
	for _, s := range stages {
		if s.SceneID != scene || hash == nil {
			scene, hash = s.SceneID, l.view.Redis.HGetAll(keys.AssetState(s.SceneID))
		}
		if l.rows[s] == nil && hash[s.Stage+".state"] == "" && !slices.Contains(w.Keys, keys.Intent(s)) && !slices.Contains(w.Keys, keys.Budget(s)) {
			continue // nothing is known of this stage, and nothing to know
		}
		c.Rows = append(c.Rows, l.update(s, hash, c))
	}
	return c
}

// update reads one stage anew.
func (l *ledger) update(s ports.StageID, hash map[string]string, c *change) move {
	r := l.row(s)
	m := move{Before: *r}
	intent := l.view.Redis.HGetAll(keys.Intent(s))
	r.State = asset.State(hash[s.Stage+".state"])
	r.Dispatch, r.Holder = hash[s.Stage+".dispatch"], hash[s.Stage+".holder"]
	r.Renewed = number(hash[s.Stage+".renewed"])
	r.Next = number(hash[s.Stage+".next"])
	r.Status = intent["status"]
	r.Deferral = l.deferral(s)
	budget := l.view.Redis.HGetAll(keys.Budget(s))
	r.Budget = tokens{budget["tokens"], budget["at"]}
	if g := number(intent["generation"]); g != r.Generation {
		r.Generation, r.Cleared = g, 0
		if g != 0 {
			r.Since = c.At
		}
	} else if m.Before.Deferral != (deferral{}) && r.Deferral == (deferral{}) && (c.Verb == "" || c.Verb == "undefer") {
		r.Cleared++
	}
	m.After = *r
	if m.Before.Dispatch != r.Dispatch {
		if d := l.dispatches[m.Before.Dispatch]; d != nil {
			d.Ended, d.EndedAt, d.EndedBy = true, c.At, c.Verb
			if c.Verb != "" && !slices.Contains(c.Keys, keys.DispatchJobs(d.ID)) {
				d.Failed = nil // nobody renewed it, its jobs lapsed, and who ended it could not know
			}
			m.Ended = d
		}
		if r.Dispatch != "" {
			m.Begun, m.Again = l.begin(r, hash, c)
		}
	}
	return m
}

// row returns the row of a stage, an empty one if nothing is known of it.
func (l *ledger) row(s ports.StageID) *row {
	r, ok := l.rows[s]
	if !ok {
		r = &row{Stage: s}
		l.rows[s] = r
	}
	return r
}

// begin enters the dispatch that a stage names now.
func (l *ledger) begin(r *row, hash map[string]string, c *change) (d *dispatch, again bool) {
	if d, again = l.dispatches[r.Dispatch]; again {
		d.Ended = false
		return d, true
	}
	d = &dispatch{ID: r.Dispatch, Stage: r.Stage, Generation: number(hash[r.Stage.Stage+".generation"]), Event: c.event()}
	for job := range l.view.Redis.HGetAll(keys.DispatchJobs(d.ID)) { //sim:unordered sorted below
		d.Jobs = append(d.Jobs, job)
		l.jobs[job] = true
	}
	slices.Sort(d.Jobs)
	l.dispatches[d.ID] = d
	return d, false
}

// results takes over the results of a dispatch. A job whose result was evicted has none,
// until the hub has told it again.
func (l *ledger) results(id, key string, c *change) {
	d, states := l.dispatches[id], l.view.Redis.HGetAll(key)
	if d == nil || len(states) == 0 && c.Verb != "" {
		return // what it had when it ended
	}
	n, failed := 0, map[string]string{}
	d.Executed = false
	for job, state := range states { //sim:unordered counts and a set
		switch kind, result, _ := strings.Cut(state, "|"); kind {
		case "done":
			n++
			d.Executed = d.Executed || result != "cached"
		case "failed":
			failed[job] = result
		}
	}
	if len(failed) > len(d.Failed) {
		d.FailedAt = c.At
	}
	d.Done, d.Failed = max(d.Done, n), failed
}

// deferral reads the deferral of a stage, `reason|bucket|generation|dispatch|since|until`.
func (l *ledger) deferral(s ports.StageID) deferral {
	text, _ := l.view.Redis.Get(keys.Deferred(s))
	parts := strings.Split(text, "|")
	if len(parts) != 6 {
		return deferral{}
	}
	return deferral{Reason: parts[0], Generation: number(parts[2]), Until: number(parts[5])}
}

// live says whether Redis names the dispatch as live.
func (l *ledger) live(id string) bool {
	d := l.dispatches[id]
	return d != nil && !d.Ended
}

// number reads a decimal; 0 for what is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// sorted lists all dispatches by id.
func (l *ledger) sorted() []*dispatch {
	out := make([]*dispatch, 0, len(l.dispatches))
	for _, id := range slices.Sorted(maps.Keys(l.dispatches)) {
		out = append(out, l.dispatches[id])
	}
	return out
}
