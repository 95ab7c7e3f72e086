package properties

import (
	"slices"
	"strconv"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// passAbort: a reconcile pass that could not read a source ends incomplete, and then it has
// begun and restored nothing, adopted no dispatch of which the hub never had a job, and, if
// the source was the hub, declared nothing lost; the next complete pass of its process repairs what it left. What a
// pass did is told by its task, from one pass to the next.
//
// That a pass repairs is held only against one that kept its lock to the end and met no
// trouble, and for stages in the index: that is where it looks.
//
// Proof: what the pass did, or both passes.
type passAbort struct {
	*watch
	passes map[string]*passing // by task
	posted map[string]bool     // dispatches of which the hub had a job
	lock   string              // the task that wrote the pass lock last
}

// passing is the pass of a task that is under way.
type passing struct {
	acts     []sim.Event // that only a complete pass may do
	lost     []sim.Event // dispatches that it declared lost: only the hub can tell
	troubled bool
	left     map[ports.StageID]string // by the last pass, if it was incomplete: see broke
	by       sim.Event                // that pass
}

// staleAfter is how long a dispatch is its holder's without a renewal (design 5.4.9).
const staleAfter = 90 * time.Second

var (
	_ eventer = (*passAbort)(nil)
	_ writer  = (*passAbort)(nil)
	_ loser   = (*passAbort)(nil)
)

func newPassAbort(w *watch) any {
	return &passAbort{watch: w, passes: map[string]*passing{}, posted: map[string]bool{}}
}

// lost forgets what incomplete passes left: what is broken now may be so since then.
func (p *passAbort) lost([]string) {
	for _, pass := range p.passes { //sim:unordered each on its own
		pass.left = nil
	}
}

func (p *passAbort) write(c *change) {
	for _, k := range c.Parts {
		if k.Family == keys.FamilyCleanupLock {
			p.lock = c.Task
			if p.passes[c.Task] == nil {
				p.passes[c.Task] = &passing{}
			}
		}
	}
	pass := p.passes[c.Task]
	if pass == nil {
		return
	}
	for _, m := range c.Rows {
		adopted := m.Before.Holder != "" && m.After.Holder != m.Before.Holder && m.After.Dispatch == m.Before.Dispatch
		if m.Begun != nil || adopted && !p.posted[m.After.Dispatch] {
			pass.acts = append(pass.acts, c.event())
		}
	}
}

func (p *passAbort) event(e *sim.Event) {
	if h, ok := e.Data.(hub.Event); ok && h.Kind == hub.Accepted {
		p.posted[h.Job.DispatchID] = true
	}
	if e.Kind == "evict" {
		p.lost(nil)
	}
	pass := p.passes[e.Process]
	if pass == nil {
		return
	}
	switch d := e.Data.(type) {
	case ports.Restored:
		pass.acts = append(pass.acts, *e)
	case ports.Finish:
		if d.Outcome == "lost" {
			pass.lost = append(pass.lost, *e)
		}
	case ports.Trouble:
		pass.troubled = true
	case ports.Pass:
		switch {
		case d.Skipped:
		case d.Cause != "":
			acts, done := pass.acts, d.Report.Restored
			if d.Cause == "hub" {
				acts, done = append(acts, pass.lost...), done+d.Report.Lost
			}
			if len(acts) > 0 || done > 0 {
				p.broken(e.Process, "could not read the "+d.Cause+" and acted as if it had", append(acts, *e)...)
			}
			pass.left, pass.by = p.broke(), *e
		case !pass.troubled && p.lock == e.Process:
			p.repaired(e, pass)
			pass.left = nil
		}
		pass.acts, pass.lost, pass.troubled = nil, nil, false
	}
}

// repaired demands of a complete pass that what an incomplete one left is not as it was.
func (p *passAbort) repaired(e *sim.Event, pass *passing) {
	now := p.broke()
	for _, id := range p.Wanted() {
		if was, left := pass.left[id]; left && was == now[id] {
			p.broken(id.String(), "is still "+was+" after the next complete pass", pass.by, *e)
		}
	}
}

// broke says what is wrong with the wanted stages of the index.
func (p *passAbort) broke() map[ports.StageID]string {
	wrong := map[ports.StageID]string{}
	index := p.Redis.SMembers(keys.ActiveScenes())
	for _, id := range p.Wanted() {
		r := p.row(id)
		if _, indexed := slices.BinarySearch(index, keys.SceneMember(id.SceneID)); !indexed || r.Status != "active" {
			continue
		}
		switch {
		case r.Dispatch == "" && (r.State == "" || r.State == asset.Generating):
			wrong[id] = "without a dispatch, generation " + strconv.FormatInt(r.Generation, 10)
		case r.Dispatch != "" && p.redisNow()-r.Renewed > staleAfter.Milliseconds():
			wrong[id] = "held by " + r.Holder + ", who does not renew it"
		}
	}
	return wrong
}

func (p *passAbort) broken(subject, problem string, events ...sim.Event) {
	p.fail(subject, events, "it %s", problem)
}
