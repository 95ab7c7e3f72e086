package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/engine/window"
	"github.com/animastor/orchestra/ports"
)

const (
	lockTTL    = 120 * time.Second
	holdEvery  = 30 * time.Second // in a row of repairs
	staleAfter = 90 * time.Second // without a renewal (design 5.4.9)
	indexEvery = time.Hour        // between two checks of the index against all states, at the latest
	purgesMax  = 20               // dispatches whose jobs a pass clears
)

// ErrPassIncomplete is what Pass's error wraps when a source could not be read.
var ErrPassIncomplete = errors.New("pass_incomplete")

// ErrLockLost is what Pass returns if its lock lapsed, or went to another replica: what it
// had read may be over, and it has repaired nothing since.
var ErrLockLost = errors.New("pass_lock_lost: the pass slept past its lock; the next one looks anew")

// ErrPassSuspicious is what Pass returns if it would make more than half of all ready
// scenes again, and more than 10, and has not found the same three times in a row. It has
// made none of them again; Force does.
var ErrPassSuspicious = errors.New("pass_suspicious: most of what is ready seems to lack its artifacts; it is made again when three passes in a row say so, or when one is forced")

// ErrPassSkipped is what Pass returns if another pass is under way: nothing was looked at.
var ErrPassSkipped = errors.New("pass_skipped: another pass is under way; the next one looks")

// IncompleteError says which source could not be read. It wraps ErrPassIncomplete
// and the first answer that failed.
type IncompleteError struct {
	Cause string // hub, pg, artifacts, content: the first of them
	Err   error
}

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("%v: the %s could not be read, so nothing is started, deleted or declared lost: %v", ErrPassIncomplete, e.Cause, e.Err)
}

// Unwrap implements the errors package's convention.
func (e *IncompleteError) Unwrap() []error { return []error{ErrPassIncomplete, e.Err} }

// Reconciler makes the passes of one process.
type Reconciler struct {
	d       *dispatch.Dispatcher
	stages  []string
	window  *window.Window
	token   string
	busy    atomic.Bool // a pass is under way here; what follows is its own
	number  int64
	indexed time.Time // the last check of the index, by Redis' clock; at the first pass of a process, too

	known []ports.SceneID // scenes with a state, as that check found them
	next  ports.SceneID   // which of them the next pass looks for first
}

// New returns a reconciler. token identifies the process in the pass lock.
func New(d *dispatch.Dispatcher, stages []string, token string, w *window.Window) *Reconciler {
	return &Reconciler{d: d, stages: stages, token: token, window: w}
}

// Pass looks at everything once and repairs what it can prove broken. Its error
// wraps ErrPassIncomplete if the hub, the pointer store, the artifacts or the content could
// not be read, and is Redis' own if Redis could not; the report counts what was done all the same.
func (r *Reconciler) Pass(ctx context.Context) (ports.Reconciled, error) { return r.pass(ctx, false) }

// Force is a Pass that does what it would find suspicious.
func (r *Reconciler) Force(ctx context.Context) (ports.Reconciled, error) { return r.pass(ctx, true) }

func (r *Reconciler) pass(ctx context.Context, forced bool) (ports.Reconciled, error) {
	if !r.busy.CompareAndSwap(false, true) { // the lock is of the process, and keeps off the others
		return ports.Reconciled{}, ErrPassSkipped
	}
	defer r.busy.Store(false)
	r.number++
	p := &pass{r: r, d: r.d, forced: forced, answers: map[string][]ports.JobStatus{}}
	err := p.run(ctx)
	if err == nil && p.incomplete != nil {
		err = p.incomplete
	}
	if err == nil && p.suspicious {
		err = ErrPassSuspicious
	}
	e := ports.Pass{Number: r.number, Skipped: p.skipped, Fence: p.lock.Fence, Suspicious: p.suspicious, Report: p.report}
	if p.incomplete != nil {
		e.Cause = p.incomplete.Cause
	}
	if err != nil {
		r.d.Observer.Observe(ports.Trouble{Op: "reconcile", Err: err})
	}
	r.d.Observer.Observe(e)
	if err == nil && p.skipped {
		err = ErrPassSkipped
	}
	return p.report, err
}

// pass is one run: what was read, and what is to be repaired.
type pass struct {
	r          *Reconciler
	d          *dispatch.Dispatcher
	report     ports.Reconciled
	skipped    bool
	forced     bool
	massLoss   bool // of what is ready so much is gone that it may be a lie
	suspicious bool // what is gone is withheld
	lock       store.Lock
	held       time.Time // when the lock was renewed, by this process' clock
	incomplete *IncompleteError
	deaf       bool // the hub could not be read

	now     time.Time                    // by Redis' clock, as the pass began
	holders map[string][]string          // of the slots, by stage
	strays  map[string][]string          // those of them that are live in no scene
	live    []store.StageView            // stages with a live dispatch
	orphans []store.StageView            // wanted, not done, and nothing under way, or not in the index
	answers map[string][]ports.JobStatus // of the hub, by dispatch
	ready   []store.StageView            // what is done, whose artifacts must stand
	gone    []store.StageView            // those of them whose artifacts do not
	scene   ports.Scene                  // the content that was read last
}

func (p *pass) run(ctx context.Context) error {
	// The slots come first: a dispatch that holds one then, and is live in no state read
	// later, is over.
	if err := p.slots(ctx); err != nil {
		return err
	}
	turn, err := p.d.Store.TakeTurn(ctx, keys.CleanupLock(), p.r.token, lockTTL)
	if err != nil {
		return err
	}
	if !turn.Locked {
		p.skipped = true
		return nil
	}
	p.now, p.lock = turn.Now, turn.Lock
	defer func() {
		if _, err := p.d.Store.Unlock(ctx, turn.Lock); err != nil {
			p.d.Observer.Observe(ports.Trouble{Op: "unlock pass", Err: err}) // it lapses by itself
		}
	}()
	next, err := p.read(ctx, turn.Scenes)
	if err != nil {
		return err
	}
	if err := p.prove(ctx); err != nil {
		return err
	}
	p.ask(ctx)
	if err := p.agree(ctx); err != nil {
		return err
	}
	if p.incomplete == nil && !p.suspicious {
		p.r.next = next
	}
	for _, repair := range []func(context.Context) error{p.purge, p.feed, p.takeOver, p.release, p.restore, p.regenerate, p.follow} {
		p.held = time.Time{}
		if err := p.hold(ctx); err != nil {
			return err
		}
		if err := repair(ctx); err != nil {
			return err
		}
	}
	return nil
}

// hold renews the lock, before each kind of repair and from time to time within a row of
// them: a pass that has slept finds out before its next repair.
func (p *pass) hold(ctx context.Context) error {
	now := p.d.Runtime.Now()
	if since := now.Sub(p.held); since >= 0 && since < holdEvery {
		return nil
	}
	held, err := p.d.Store.Hold(ctx, p.lock, lockTTL)
	if err == nil && !held {
		err = ErrLockLost
	}
	p.held = now
	return err
}

// abort makes the pass incomplete. The first cause is the one that is told.
func (p *pass) abort(cause string, err error) {
	p.deaf = p.deaf || cause == "hub"
	if p.incomplete == nil {
		p.incomplete = &IncompleteError{Cause: cause, Err: err}
	}
}

// slots reads who holds the slots of each stage. Corrupt ones spoil their stage alone.
func (p *pass) slots(ctx context.Context) (err error) {
	p.holders, err = p.d.Store.SlotHolders(ctx, p.r.stages)
	var corrupt *store.CorruptError
	if errors.As(err, &corrupt) {
		p.report.Errors++
		p.d.Observer.Observe(ports.Trouble{Op: "read slots", Err: err})
		return nil
	}
	return err
}

// survey reads the scenes in the index and some that are done; all that have a state once
// an hour, and whenever somebody holds a slot who is live in none of those: he is over, or the
// index has lost his scene, and only all states tell. next is where the next pass goes on.
func (p *pass) survey(ctx context.Context, active []ports.SceneID) (views []store.SceneView, next ports.SceneID, err error) {
	if p.now.Sub(p.r.indexed) < indexEvery {
		scenes, next := p.r.round(active)
		views, err := p.d.Store.ReadScenes(ctx, scenes, p.r.stages)
		if err != nil || !p.stray(views) {
			return views, next, err
		}
		if err := p.slots(ctx); err != nil || !p.stray(views) { // who ended meanwhile holds none any more
			return views, next, err
		}
	}
	scenes, err := p.d.Store.KnownScenes(ctx, active)
	if err != nil {
		return nil, next, err
	}
	p.r.indexed, p.r.known, p.r.next = p.now, scenes, ports.SceneID{}
	_, next = p.r.round(nil)
	views, err = p.d.Store.ReadScenes(ctx, scenes, p.r.stages)
	p.stray(views)
	return views, next, err
}

// stray notes which holders of slots are live in none of the scenes, and says whether any is.
func (p *pass) stray(views []store.SceneView) bool {
	live := map[string]bool{}
	for _, v := range views {
		for _, s := range v.Stages {
			live[s.Dispatch] = s.Dispatch != ""
		}
	}
	p.strays = map[string][]string{}
	for _, stage := range p.r.stages {
		for _, holder := range p.holders[stage] {
			if !live[holder] {
				p.strays[stage] = append(p.strays[stage], holder)
			}
		}
	}
	return len(p.strays) > 0
}

// read takes stock of what the scenes of a survey say.
func (p *pass) read(ctx context.Context, active []ports.SceneID) (next ports.SceneID, err error) {
	views, next, err := p.survey(ctx, active)
	if err != nil {
		return next, err
	}
	proved := map[ports.SceneID]bool{}
	for _, v := range views {
		p.report.Scenes++
		if v.Err != nil {
			p.report.Errors++
			p.d.Observer.Observe(ports.Trouble{Scene: v.Scene, Op: "read scene", Err: v.Err})
			continue
		}
		for _, s := range v.Stages {
			switch {
			case s.Dispatch != "":
				p.live = append(p.live, s)
				if _, indexed := slices.BinarySearchFunc(active, v.Scene, ports.SceneID.Compare); !indexed {
					p.orphans = append(p.orphans, s)
				}
			case s.Intent.Active() && !asset.Done(s.State, true):
				p.orphans = append(p.orphans, s)
			case settled(s) && !v.Cancelled && (proved[v.Scene] || len(proved) < proveMax):
				p.ready, proved[v.Scene] = append(p.ready, s), true
			}
		}
	}
	p.report.Live = len(p.live)
	return next, nil
}

// ask asks the hub about every live dispatch, until it does not answer.
func (p *pass) ask(ctx context.Context) {
	for _, v := range p.live {
		statuses, err := p.d.Hub.Dispatch(ctx, v.Dispatch)
		if err != nil {
			p.abort("hub", err)
			return
		}
		p.answers[v.Dispatch] = statuses
	}
}

// feed hands in the results whose callback may have been lost. A result is no
// verdict of this pass, so an incomplete one feeds those that it has read.
func (p *pass) feed(ctx context.Context) error {
	for _, v := range p.live {
		for _, s := range p.answers[v.Dispatch] {
			if s.Result == nil {
				continue
			}
			if err := p.hold(ctx); err != nil {
				return err
			}
			if err := p.d.CompleteStatus(ctx, s); err != nil {
				p.report.Errors++
				p.d.Observer.Observe(ports.Trouble{Scene: v.Stage.SceneID, Op: "complete", Err: err})
				continue
			}
			p.report.Fed++
		}
	}
	return nil
}

// takeOver adopts the dispatches that nobody renews and the hub knows, and ends as
// lost those that it does not know.
func (p *pass) takeOver(ctx context.Context) error {
	for _, v := range p.live {
		if p.now.Sub(v.Renewed) <= staleAfter {
			continue
		}
		if err := p.hold(ctx); err != nil {
			return err
		}
		statuses, asked := p.answers[v.Dispatch]
		switch {
		case asked && len(statuses) > 0:
			adopted, err := p.d.Adopt(ctx, v)
			p.repaired(&p.report.Adopted, adopted, v, "adopt", err)
		case p.deaf:
			p.report.Withheld++
		default:
			lost, err := p.d.Lose(ctx, v)
			p.repaired(&p.report.Lost, lost, v, "adopt", err)
		}
	}
	return nil
}

// repaired counts what became of a repair.
func (p *pass) repaired(count *int, done bool, v store.StageView, op string, err error) {
	switch {
	case err != nil:
		p.report.Errors++
		p.d.Observer.Observe(ports.Trouble{Scene: v.Stage.SceneID, Op: op, Err: err})
	case done:
		*count++
	default:
		p.report.Moot++
	}
}

// release takes back the slots of dispatches that are over. Redis alone proves it.
func (p *pass) release(ctx context.Context) error {
	for _, stage := range p.r.stages {
		n, err := p.d.Store.ReleaseSlots(ctx, stage, p.strays[stage])
		if err != nil {
			return err
		}
		p.report.Released += n
	}
	return nil
}

// purge clears what ended dispatches have left at the hub: their own clear failed, or
// their process died before it. A hub that cannot be asked leaves the rest, and makes the
// pass incomplete. Each pass begins with another one, so that none can hold up all others.
func (p *pass) purge(ctx context.Context) error {
	ids, err := p.d.Store.Purges(ctx, purgesMax)
	if err != nil {
		return err
	}
	for i := range ids {
		if p.deaf {
			p.report.Withheld += len(ids) - i
			return nil
		}
		if err := p.hold(ctx); err != nil {
			return err
		}
		cleared, err := p.d.Purge(ctx, ids[(int(p.r.number)+i)%len(ids)])
		switch {
		case cleared:
			p.report.Purged++
		case err != nil:
			p.abort("hub", err)
			fallthrough
		default:
			p.report.Withheld++
		}
	}
	return nil
}

// restore puts back what lost its state or its place in the index.
func (p *pass) restore(ctx context.Context) error {
	for _, v := range p.orphans {
		if p.incomplete != nil {
			p.report.Withheld++
			continue
		}
		if err := p.hold(ctx); err != nil {
			return err
		}
		verdict, err := p.d.Store.Restore(ctx, v.Stage)
		p.restored(ctx, v, verdict, err)
	}
	return nil
}

// follow leads the scopes on whose window nobody has moved: who should have died, or could
// not read something.
func (p *pass) follow(ctx context.Context) error {
	if p.incomplete != nil {
		return nil // the next pass starts what it may
	}
	_, failed, err := p.r.window.Recover(ctx)
	p.report.Errors += failed
	return err
}
