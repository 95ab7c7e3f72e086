package properties

import (
	"maps"
	"slices"
	"strings"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// oneJob: at the hub at most one job for a unit and generation is queued or running,
// whatever its id; and a good result of a job is accepted again only after its
// completion marker was released, or what Redis knew of it was lost.
//
// That a dispatch takes a finished artifact for the result of its job (`cached`) is no
// second result.
//
// Proof: the two jobs at the hub, or the two writes of accept.
type oneJob struct {
	*watch
	jobs map[unit]atHub
	done map[string]sim.Event // by job id: the accept whose marker stands
}

// unit is what a job is for.
type unit struct {
	stage      ports.StageID
	id         string
	generation int64
}

type atHub struct {
	id    string
	event sim.Event
}

var (
	_ eventer = (*oneJob)(nil)
	_ writer  = (*oneJob)(nil)
	_ loser   = (*oneJob)(nil)
)

func newOneJob(w *watch) any {
	return &oneJob{watch: w, jobs: map[unit]atHub{}, done: map[string]sim.Event{}}
}

func (p *oneJob) event(e *sim.Event) {
	if e.Kind == "evict" {
		delete(p.done, strings.TrimPrefix(e.Subject, keys.TaskDone("")))
	}
	h, ok := e.Data.(hub.Event)
	if !ok {
		return
	}
	u := unit{h.Job.StageID(), h.Job.UnitID, h.Job.Generation}
	switch h.Kind {
	case hub.Accepted:
		if first, stands := p.jobs[u]; stands {
			p.broken(e.Subject, "the hub has two live jobs for it", first.event, *e)
		}
		p.jobs[u] = atHub{h.Job.JobID, *e}
	case hub.Done, hub.Failed, hub.Cleared, hub.Lost, hub.Expired:
		if p.jobs[u].id == h.Job.JobID {
			delete(p.jobs, u)
		}
	}
}

func (p *oneJob) write(c *change) {
	if c.Verb == "renew" {
		p.forget(c.Keys)
	}
	at := slices.IndexFunc(c.Parts, func(k keys.Key) bool { return k.Family == keys.FamilyTaskDone })
	if at < 0 {
		return
	}
	k := c.Parts[at]
	job := keys.Job(k.StageID, k.Unit, k.Generation)
	if !p.Redis.Exists(c.Keys[at]) {
		delete(p.done, job) // released
		return
	}
	if c.Verb != "accept" || p.cached(c, job) {
		return
	}
	if first, stands := p.done[job]; stands {
		p.broken(keys.Subject(c.Keys[at]), "its result was accepted twice", first, c.event())
	}
	p.done[job] = c.event()
}

// forget gives up results of jobs that are to be asked for once more, since they are
// written as unknown: by a renewal, if the set of jobs was evicted or its time was over, or by
// a failover that took back what a renewal was told since.
func (p *oneJob) forget(written []string) {
	for _, key := range written {
		if k, err := keys.Parse(key); err != nil || k.Family != keys.FamilyDispatchJobs {
			continue
		}
		for job, state := range p.Redis.HGetAll(key) { //sim:unordered each on its own
			if state == "unknown" {
				delete(p.done, job)
			}
		}
	}
}

// lost gives up results whose acceptance is undone.
func (p *oneJob) lost(restored []string) {
	maps.DeleteFunc(p.done, func(job string, _ sim.Event) bool { return !p.Redis.Exists(keys.TaskDone(job)) })
	p.forget(restored)
}

// cached says whether the result that was accepted is an artifact that stood already.
func (p *oneJob) cached(c *change, job string) bool {
	for i, k := range c.Parts {
		if k.Family == keys.FamilyDispatchJobs && p.Redis.HGetAll(c.Keys[i])[job] == "done|cached" {
			return true
		}
	}
	return false
}

func (p *oneJob) broken(subject, problem string, events ...sim.Event) {
	p.fail(subject, events, "%s", problem)
}
