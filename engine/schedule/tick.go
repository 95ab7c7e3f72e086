package schedule

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

const (
	lockTTL     = 30 * time.Second
	waitAtMost  = 4 * time.Second  // for the dispatches of a tick; what runs on is counted as running
	callAtMost  = 10 * time.Second // the reads of a tick
	outboxBatch = 100
)

// Scheduler ticks for one process.
type Scheduler struct {
	d        *dispatch.Dispatcher
	stages   []string
	tells    bool // somebody wants result events
	token    string
	settled  func(ctx context.Context, book string)
	number   int64
	refusals map[ports.StageID]string    // rows of refusals under way: the reason, as of the last tick
	unread   map[ports.StageID]time.Time // of candidates: when one could last not be begun because something could not be read
}

// New returns a scheduler for the given stages, in the order in which a scene goes
// through them. tells says whether somebody wants result events; token identifies the
// process in the tick lock. settled is told of each book of which a scene left the active
// index in a tick; it must not block.
func New(d *dispatch.Dispatcher, stages []string, tells bool, token string, settled func(ctx context.Context, book string)) *Scheduler {
	return &Scheduler{d: d, stages: stages, tells: tells, token: token, settled: settled, refusals: map[ports.StageID]string{}, unread: map[ports.StageID]time.Time{}}
}

// Tick looks at every active scene once. It returns the summary, and an error if
// Redis could not be read; the summary then counts what was done before.
func (s *Scheduler) Tick(ctx context.Context) (ports.Summary, error) {
	s.number++
	t := &tick{s: s, d: s.d, rows: map[ports.StageID]string{}}
	err := t.run(ctx)
	if err != nil {
		t.sum.Errors++
		s.d.Observer.Observe(ports.Trouble{Op: "tick", Err: err})
	}
	s.d.Observer.Observe(ports.Tick{Number: s.number, Skipped: t.skipped, Summary: t.sum})
	return t.sum, err
}

// tick is one run.
type tick struct {
	s          *Scheduler
	d          *dispatch.Dispatcher
	now        time.Time // by Redis' clock, as the tick began: what it reads is dated by that
	sum        ports.Summary
	skipped    bool
	candidates []store.StageView
	retiring   []ports.SceneID
	books      []string                 // of which a scene was retired
	rows       map[ports.StageID]string // of refusals, as of this tick
}

func (t *tick) run(ctx context.Context) error {
	call, cancel := t.d.Runtime.WithTimeout(ctx, callAtMost)
	defer cancel()
	turn, err := t.d.Store.TakeTurn(call, keys.SchedulerLock(), t.s.token, lockTTL)
	if err != nil {
		return err
	}
	if !turn.Locked {
		t.skipped = true
		return nil
	}
	defer t.unlock(ctx, turn.Lock)
	t.now = turn.Now
	t.sum.Active = len(turn.Scenes)
	t.sum.Errors += len(turn.Bad)
	views, err := t.d.Store.ReadScenes(call, turn.Scenes, t.s.stages)
	if err != nil {
		return err
	}
	for _, v := range views {
		t.look(v)
	}
	t.retire(ctx)
	for _, book := range t.books {
		t.s.settled(ctx, book)
	}
	t.start(ctx)
	t.journal(ctx)
	return nil
}

func (t *tick) unlock(ctx context.Context, lock store.Lock) {
	if _, err := t.d.Store.Unlock(ctx, lock); err != nil {
		t.d.Observer.Observe(ports.Trouble{Op: "unlock", Err: err}) // it lapses by itself
	}
}

// look decides from the batch what to do with a scene. It writes nothing.
func (t *tick) look(v store.SceneView) {
	t.sum.Processed++
	if v.Err != nil {
		t.sum.Errors++
		t.d.Observer.Observe(ports.Trouble{Scene: v.Scene, Op: "read scene", Err: v.Err})
		for _, stage := range t.s.stages {
			t.unknown(v.Scene.Of(stage))
		}
		return
	}
	wanted := false
	for _, sv := range v.Stages {
		if !sv.Intent.Active() && !sv.Intent.Corrupt || asset.Done(sv.State, true) {
			continue
		}
		wanted = true
		if sv.Stage.Stage == asset.Video && asset.Awaited(v.State(asset.Image)) && sv.Dispatch == "" {
			t.sum.Skipped++ // it waits for its pictures, which is no refusal
			continue
		}
		t.lookAt(v, sv)
	}
	if !wanted {
		t.retiring = append(t.retiring, v.Scene)
	}
}

// lookAt decides what to do with a stage that is wanted and not done.
func (t *tick) lookAt(v store.SceneView, sv store.StageView) {
	now := t.now
	switch {
	case v.Cancelled:
		t.refuse(sv, outcome.Cancelled, "")
	case sv.Intent.Corrupt:
		t.refuse(sv, outcome.IntentCorrupt, "")
	case sv.Dispatch != "":
		t.refuse(sv, outcome.Duplicate, "")
	case !asset.Dispatchable(sv.State):
		t.refuse(sv, outcome.NotDispatchable, "")
	case sv.Deferral.Holds(sv.Intent.Generation, now):
		t.refuse(sv, outcome.DeferredCapacity, sv.Deferral.Reason)
	case now.Before(sv.Next):
		t.refuse(sv, outcome.InBackoff, "")
	default:
		t.candidates = append(t.candidates, sv)
	}
}

// retire takes scenes without unfinished work from the index. The script looks
// again, so that a request in between is not lost (SC4).
func (t *tick) retire(ctx context.Context) {
	last := ""
	for _, scene := range t.retiring { // a book's stand together
		gone, err := t.d.Store.Retire(ctx, scene, t.s.stages)
		switch {
		case err != nil:
			t.sum.Errors++
			t.d.Observer.Observe(ports.Trouble{Scene: scene, Op: "retire", Err: err})
		case gone:
			t.sum.Completed++
			t.d.Observer.Observe(ports.Retired{Scene: scene})
			if scene.Book != last {
				t.books = append(t.books, scene.Book)
				last = scene.Book
			}
		}
	}
}

// start begins as many candidates as there are free slots, those first that were
// begun longest ago, and waits a little for their jobs to go out. A slot that a
// candidate did not take after all goes to the next one, so that scenes that cannot
// be read keep no others waiting.
func (t *tick) start(ctx context.Context) {
	t.forget()
	if len(t.candidates) == 0 {
		return
	}
	slices.SortFunc(t.candidates, func(a, b store.StageView) int {
		return cmp.Or(t.turn(a).Compare(t.turn(b)), a.Stage.Compare(b.Stage))
	})
	used, err := t.d.Store.SlotsUsed(ctx, t.s.stages, t.now)
	if err != nil {
		t.sum.Errors++
		t.d.Observer.Observe(ports.Trouble{Op: "read slots", Err: err})
	}
	free := map[string]int{}
	for stage, n := range used { //sim:unordered each on its own
		free[stage] = t.d.Profile(stage).Slots - n
	}
	t.candidates = slices.DeleteFunc(t.candidates, func(v store.StageView) bool {
		_, told := used[v.Stage.Stage]
		if !told {
			t.unknown(v.Stage)
		}
		return !told
	})
	wait, cancel := t.d.Runtime.WithTimeout(ctx, waitAtMost)
	defer cancel()
	for wait.Err() == nil && len(t.candidates) > 0 {
		tries := t.launch(free)
		if len(tries) == 0 {
			break
		}
		g := t.d.Runtime.Group()
		for _, try := range tries {
			g.Go(ctx, "dispatch", try.run)
		}
		_ = g.Wait(wait) // what still runs is counted as running
		for _, try := range tries {
			t.count(try, free)
		}
	}
	for _, v := range t.candidates {
		t.refuse(v, outcome.Backpressure, "")
	}
}

// forget drops what is known of stages that are no candidates any more: they may never be
// tried again.
func (t *tick) forget() {
	unread := map[ports.StageID]time.Time{}
	for _, v := range t.candidates {
		if at, is := t.s.unread[v.Stage]; is {
			unread[v.Stage] = at
		}
	}
	t.s.unread = unread
}

// turn is what candidates are ordered by: when a stage was last begun, or last
// could not be.
func (t *tick) turn(v store.StageView) time.Time {
	if tried := t.s.unread[v.Stage]; tried.After(v.Started) {
		return tried
	}
	return v.Started
}

// launch takes from the candidates as many as there are free slots for.
func (t *tick) launch(free map[string]int) []*try {
	var tries []*try
	var rest []store.StageView
	for _, v := range t.candidates {
		if free[v.Stage.Stage] <= 0 {
			rest = append(rest, v)
			continue
		}
		free[v.Stage.Stage]--
		tries = append(tries, &try{d: t.d, view: v, before: t.s.refusals[v.Stage]})
	}
	t.candidates = rest
	return tries
}

// try is one candidate that is being started.
type try struct {
	d      *dispatch.Dispatcher
	view   store.StageView
	before string                           // why the last tick refused it
	got    atomic.Pointer[dispatch.Started] // nil while it runs: it may outlast the tick
}

func (y *try) run(ctx context.Context) {
	var got dispatch.Started
	err := y.d.Runtime.Isolate(func() error {
		got = y.d.Start(ctx, y.view)
		return nil
	})
	if err != nil {
		got = dispatch.Started{Answer: dispatch.Unread}
		y.d.Observer.Observe(ports.Trouble{Scene: y.view.Stage.SceneID, Op: "dispatch", Err: err})
	}
	if got.Answer == dispatch.Refused {
		y.d.Observer.Observe(ports.Refusal{Stage: y.view.Stage, Reason: got.Reason, Stored: got.Stored, Edge: begins(got.Reason, y.before)})
	}
	y.got.Store(&got)
}

// count counts what became of a try, and gives the slot back that it did not take.
func (t *tick) count(y *try, free map[string]int) {
	stage := y.view.Stage
	delete(t.s.unread, stage)
	got := y.got.Load()
	if got == nil {
		t.sum.Running++
		t.unknown(stage)
		return
	}
	switch got.Answer {
	case dispatch.Pending:
		t.sum.Running++
	case dispatch.Sent:
		t.sum.Dispatched++
	case dispatch.Completed:
		t.sum.Completed++
		free[stage.Stage]++
	case dispatch.Nothing:
		free[stage.Stage]++
		if got.Deferred {
			t.sum.Deferred++
		} else {
			t.sum.Errors++
		}
	case dispatch.Refused:
		if got.Reason != outcome.Backpressure {
			free[stage.Stage]++
		}
		t.refused(stage, got.Reason)
	default:
		free[stage.Stage]++
		t.unknown(stage)
		t.s.unread[stage] = t.now
		t.sum.Errors++
	}
}

// tally counts a refusal by its reason. A deferral is not an error (audit 117 M9),
// and neither is a live dispatch.
func (t *tick) tally(reason string) {
	switch reason {
	case outcome.DeferredCapacity:
		t.sum.Deferred++
	case outcome.Backpressure, outcome.InBackoff, outcome.CircuitOpen, outcome.HalfOpenLimit:
		t.sum.Throttled++
	case outcome.IntentCorrupt:
		t.sum.Errors++
	default:
		t.sum.Skipped++
	}
}
