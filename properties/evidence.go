package properties

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// evidence: a stage that is generating has a dispatch, and that has its lease and its
// record. Where one is missing it is back, or the stage is not generating any more, within a
// reconcile period and its grace (a tick and 10 s).
//
// The time runs while an engine ticks and Redis and hub answer it: it begins anew with an
// incomplete pass, and after a fault or a stop of an engine, as soon as the pass lock has
// lapsed and a renewal was due. A pass that takes longer than the grace waits for a hub that
// is slow. Only stages in the index count, and of those without a dispatch only such as are
// asked for: that is where a pass looks.
//
// Proof: the tick that found it first, and the last.
type evidence struct {
	*watch
	generating map[ports.StageID]bool
	missing    map[ports.StageID]sim.Event     // ticks that found it first
	passes     map[string]time.Duration        // under way, by task: since when
	engines    map[string]bool                 // incarnations that have started
	calm       time.Duration                   // nothing has disturbed an engine since
	trouble    map[ports.SceneID]time.Duration // the last of a scene
}

const (
	passSpread = 5 * time.Second // what each process adds to its period
	hubGrace   = 10 * time.Second
	lockTTL    = 120 * time.Second // of the pass lock: a crashed pass holds up the next ones
)

var (
	_ eventer  = (*evidence)(nil)
	_ writer   = (*evidence)(nil)
	_ reloader = (*evidence)(nil)
	_ loser    = (*evidence)(nil)
)

func newEvidence(w *watch) any {
	return &evidence{watch: w, generating: map[ports.StageID]bool{}, missing: map[ports.StageID]sim.Event{}, passes: map[string]time.Duration{},
		engines: map[string]bool{}, trouble: map[ports.SceneID]time.Duration{}}
}

func (p *evidence) reload() {
	for id, r := range p.rows { //sim:unordered a set
		if r.State == asset.Generating {
			p.generating[id] = true
		}
	}
}

func (p *evidence) lost([]string) {
	p.reload()
	p.disturbed(p.World.Elapsed())
}

func (p *evidence) write(c *change) {
	for _, m := range c.Rows {
		if p.generating[m.After.Stage] = true; m.After.State != asset.Generating {
			delete(p.generating, m.After.Stage)
		}
	}
	for _, k := range c.Parts {
		if _, known := p.passes[c.Task]; !known && k.Family == keys.FamilyCleanupLock && c.Verb != "unlock" {
			p.passes[c.Task] = c.At
		}
	}
}

func (p *evidence) event(e *sim.Event) {
	switch d := e.Data.(type) {
	case ports.Started:
		p.engines[incarnation(e.Process)] = true
		p.calm = max(p.calm, e.At)
	case ports.Trouble:
		if p.trouble[d.Scene] = e.At; d.Scene == (ports.SceneID{}) {
			p.disturbed(e.At)
		}
	case ports.Pass:
		if d.Cause != "" {
			p.calm = max(p.calm, e.At)
		}
		delete(p.passes, e.Process)
	case ports.Tick:
		p.look(e)
	default:
		p.befell(e)
	}
}

// befell takes in what befalls a process.
func (p *evidence) befell(e *sim.Event) {
	switch e.Kind {
	case "crash", "pause", "resume", "restart", "clock":
		if p.engines[e.Subject] {
			p.disturbed(e.At)
		}
		if e.Kind == "crash" {
			maps.DeleteFunc(p.passes, func(task string, _ time.Duration) bool { return incarnation(task) == e.Subject })
		}
	case "fault": // e1/dispatch redis.begin b1/c1/s1:image #1
		task, call, _ := strings.Cut(e.Subject, " ")
		if p.engines[incarnation(task)] && (strings.HasPrefix(call, "redis.") || strings.HasPrefix(call, "hub.")) {
			p.disturbed(e.At)
		}
	}
}

// disturbed begins the time anew when what was under way can be over.
func (p *evidence) disturbed(at time.Duration) { p.calm = max(p.calm, at+lockTTL) }

// look finds the stages whose evidence is missing for too long.
func (p *evidence) look(e *sim.Event) {
	grace := p.View.Tick + hubGrace
	for _, since := range p.passes { //sim:unordered a maximum
		if e.At-since > grace {
			p.calm = max(p.calm, e.At)
		}
	}
	limit := p.Pass + passSpread + grace
	for _, id := range slices.SortedFunc(maps.Keys(p.generating), ports.StageID.Compare) {
		lacks := p.lacks(p.row(id))
		if lacks == "" {
			delete(p.missing, id)
			continue
		}
		first, known := p.missing[id]
		if !known {
			p.missing[id], first = *e, *e
		}
		calm := p.calm
		if at, troubled := p.trouble[id.SceneID]; troubled {
			calm = max(calm, at+lockTTL)
		}
		if e.At-max(first.At, calm+p.Profile(id.Stage).RenewEvery) <= limit {
			continue
		}
		p.missing[id] = *e
		if slices.Contains(p.Redis.SMembers(keys.ActiveScenes()), keys.SceneMember(id.SceneID)) {
			p.fail(id.String(), []sim.Event{first, *e}, "it is generating without a %s for longer than %s", lacks, limit)
		}
	}
}

// lacks is what a stage that is generating is without.
func (p *evidence) lacks(r *row) string {
	lease, _ := p.Redis.Get(keys.Lease(r.Stage))
	switch {
	case r.State != asset.Generating:
		return ""
	case r.Dispatch == "" && r.Status == "active":
		return "dispatch"
	case r.Dispatch == "":
		return ""
	case lease != r.Dispatch:
		return "lease"
	case p.Redis.HGetAll(keys.Dispatch(r.Stage))["dispatch_id"] != r.Dispatch:
		return "record"
	}
	return ""
}
