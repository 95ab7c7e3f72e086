package dispatch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// Deps are the parts of the world that a dispatch needs.
type Deps struct {
	Runtime  ports.Runtime
	Store    *store.Store
	Hub      ports.Hub
	Content  ports.Content
	Pointers ports.Pointers // nil: versions are not published
	Observer ports.Observer
	Stages   []stage.Stage
	// Profile returns the limits of a stage; asset.ProfileOf unless configured.
	Profile func(stage string) asset.Profile
}

// Dispatcher runs the dispatches of one process.
type Dispatcher struct {
	Deps
	holder string // this process, as it stands in Redis
	// settling are the dispatches that a task of this process is settling, by id: all
	// tasks of a process claim in one name, so claim alone lets each of them in.
	settling sync.Map //sim:allow nobody waits for it: who finds an id in it goes away
}

// How often a dispatch looks after itself.
const (
	roundEvery    = 5 * time.Second  // between two questions about a job that may have been posted
	retryEvery    = 15 * time.Second // between two tries to post what the hub would not take
	pollEvery     = 60 * time.Second // between two looks at the hub for results whose callback was lost
	askAtMost     = 60 * time.Second // for one that may have been posted (schema 4, ambiguous_post)
	giveUpAfter   = 4                // tries to post the rest, once nothing else of the dispatch is under way
	finishWaitMax = 30 * time.Second // between two tries to finish
)

// New returns the dispatcher of a process. holder must be unique to the process's
// incarnation.
func New(d Deps, holder string) *Dispatcher {
	if d.Profile == nil {
		d.Profile = asset.ProfileOf
	}
	return &Dispatcher{Deps: d, holder: holder}
}

// StageOf returns the executor of a stage.
func (d *Dispatcher) StageOf(name string) (stage.Stage, bool) {
	for _, s := range d.Stages {
		if s.Name() == name {
			return s, true
		}
	}
	return nil, false
}

// The states of a job, by their short names.
const (
	outstanding = store.JobOutstanding
	posting     = store.JobPosting
	unknown     = store.JobUnknown
	sent        = store.JobSent
	done        = store.JobDone
	failed      = store.JobFailed
)

// cached is the result of a job whose artifact stood already.
const cached = "cached"

// job is one unit of work of a live dispatch.
type job struct {
	id, unit string
	state    string
	reason   string // why it is outstanding
	posts    int
	err      error // with which its last post failed, where reason and state do not say it
	artifact bool  // done without a post: its artifact stood already
}

// live is a dispatch that this process holds.
type live struct {
	stage      ports.StageID
	scene      ports.Scene // as the content was read last; zero until then
	dispatch   string
	generation int64
	fence      int64
	version    int64
	floor      int64
	mark       int64  // the highest dirty mark that it was planned for
	holder     string // in whose name it is renewed; each adoption has its own
	started    time.Time
	jobs       []*job
	ended      atomic.Bool // it is not ours any more, or finished; renew and watch share it

	told bool // the observer has heard the error of a post

	supervision
}

// supervision is what watch keeps of a dispatch from one look to the next.
type supervision struct {
	polled time.Time // when the hub was asked last
	tries  int       // rounds in a row in which nothing was under way, and nothing was taken

	// progress is the newest that the hub told, by the hub's clock; seen is when it
	// was new, by ours: two clocks are never compared (WM2).
	progress int64
	seen     time.Time

	taken    bool      // another task was settling it when this one last would have
	unmerged time.Time // since when its file cannot be put together; zero: it was not tried, or stands
}

func (l *live) job(id string) *job {
	for _, j := range l.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (l *live) jobIDs() []string {
	ids := make([]string, len(l.jobs))
	for i, j := range l.jobs {
		ids[i] = j.id
	}
	return ids
}

// tally counts the jobs of a dispatch by where they are.
type tally struct {
	outstanding int // not at the hub
	unsure      int // posted, and no answer came
	atHub       int
	ended       int // done or failed
	done        int // of those
}

func (l *live) tally() (t tally) {
	for _, j := range l.jobs {
		switch j.state {
		case outstanding:
			t.outstanding++
		case posting, unknown:
			t.unsure++
		case sent:
			t.atHub++
		case done:
			t.done++
			t.ended++
		case failed:
			t.ended++
		}
	}
	return t
}

// merge takes over what Redis knows of the jobs' results.
func (l *live) merge(jobs []store.Job) {
	for _, s := range jobs {
		if j := l.job(s.ID); j != nil && (s.State == done || s.State == failed) {
			j.state = s.State
		}
	}
}

// trouble reports what went wrong without ending anything.
func (d *Dispatcher) trouble(scene ports.SceneID, op string, err error) {
	d.Observer.Observe(ports.Trouble{Scene: scene, Op: op, Err: err})
}

// isolate runs fn, and reports a panic of it; it returns false if there was one. Whatever
// looks after a dispatch runs in it: else each replica in turn would adopt the dispatch of
// which another has died, and die of it, too.
func (d *Dispatcher) isolate(scene ports.SceneID, op string, fn func()) bool {
	panicked := d.Runtime.Isolate(func() error {
		fn()
		return nil
	})
	if panicked != nil {
		d.trouble(scene, op, panicked)
	}
	return panicked == nil
}

// Note leaves a line in the outbox that belongs to no step of its own, as well as it can:
// observability never fails the work (design 5.4.16).
func (d *Dispatcher) Note(ctx context.Context, l store.Line) {
	if err := d.Store.Tell(ctx, l); err != nil {
		d.trouble(l.Stage.SceneID, "journal", err)
	}
}

// lease is how long what belongs to the dispatch lives without a renewal.
func (d *Dispatcher) lease(l *live) time.Duration { return d.Profile(l.stage.Stage).RenewedLease }
