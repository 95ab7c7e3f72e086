package window

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// ErrScopeLost is reported when the scope of a book is gone without having ended, as an
// evicted key is: its scenes that were not started yet must be asked for again.
var ErrScopeLost = errors.New("scope_lost: what was asked for of the book is gone; ask again for what is missing")

// ErrBookEmpty is reported when the content lists no scene of a book of which something was
// asked for. It listed some then, so this is taken for unknown, and the scope stays open.
var ErrBookEmpty = errors.New("book_empty: the content lists no scene of what was asked for; delete the book if that is so")

// ErrSceneDenied is reported when the content lists a scene and says that it does not have
// it. One of both is wrong, so nothing is known of the scene, and it stays where it is.
var ErrSceneDenied = errors.New("scene_denied: the content lists a scene that it says it does not have")

// Window leads scopes on, for one process.
type Window struct {
	d      *dispatch.Dispatcher
	size   int
	stages []string
}

// New returns a window that lets size scenes of a book be under way at once; 0: all.
func New(d *dispatch.Dispatcher, size int) *Window {
	w := &Window{d: d, size: size}
	for _, s := range d.Stages {
		w.stages = append(w.stages, s.Name())
	}
	return w
}

// Order writes down what was asked for of a book. An order to start takes effect with the
// next Look; one to stop keeps later Looks from what it is about.
func (w *Window) Order(ctx context.Context, book string, o store.Order) error {
	return w.d.Store.Order(ctx, book, o, "scope-"+w.d.Runtime.Token(), w.size)
}

// Report is what a Look did.
type Report struct {
	Stages   int      // started
	Replaced []string // live dispatches that this ended, whose jobs must be purged

	found bool // a scope was open
}

// Look does what is due in the scope of a book. Its error joins those of single scenes,
// which have not kept it from the others; the next Look tries again.
func (w *Window) Look(ctx context.Context, book string) (Report, error) {
	l := &look{Window: w, book: book}
	again, err := true, error(nil)
	for again && err == nil {
		again, err = l.round(ctx)
	}
	return l.report, err
}

// Follow looks at the scope of a book on behalf of nobody who waits: it purges what it
// replaced, and reports what went wrong.
func (w *Window) Follow(ctx context.Context, book string) (ok bool) {
	report, err := w.Look(ctx, book)
	if len(report.Replaced) > 0 {
		w.d.ClearUntilDone(ctx, dispatch.Sweep{Dispatches: report.Replaced})
	}
	if err == nil && !report.found {
		err = w.forget(ctx, book)
	}
	if err != nil {
		w.trouble(book, err)
	}
	return err == nil
}

// forget unlists a book that has no open scope, if it is listed.
func (w *Window) forget(ctx context.Context, book string) error {
	lost, err := w.d.Store.ForgetScope(ctx, book)
	if lost {
		return ErrScopeLost
	}
	return err
}

// Recover follows every open scope, as who takes up what others have left. It returns how
// many there were, and how many could not be followed.
func (w *Window) Recover(ctx context.Context) (scopes, failed int, err error) {
	books, bad, err := w.d.Store.OpenScopes(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, member := range bad {
		w.trouble(member, errors.New("window: a member of the list of open scopes is no book; remove it"))
	}
	failed = len(bad)
	for _, book := range books {
		if !w.Follow(ctx, book) {
			failed++
		}
	}
	return len(books), failed, nil
}

func (w *Window) trouble(book string, err error) {
	w.d.Observer.Observe(ports.Trouble{Scene: ports.SceneID{Book: book}, Op: "window", Err: err})
}

// look is one Look.
type look struct {
	*Window
	book   string
	report Report
}

// plan is what one round makes of a scope.
type plan struct {
	scope   store.Scope
	claims  []ports.SceneID // in the window and not started, in reading order as far as that is known
	fresh   []ports.SceneID // those of claims that were just taken
	settled []ports.SceneID
	busy    int             // scenes in the window
	unknown int             // of which it cannot be told
	waiting bool            // scenes wait for a place
	listed  []ports.SceneID // of the book; nil: the window has no place free
}

// round reads the scope, moves its window and starts what is in it. again says that there
// may be more to do at once.
func (l *look) round(ctx context.Context) (again bool, err error) {
	scope, err := l.d.Store.ReadScope(ctx, l.book)
	if err != nil || scope.ID == "" {
		return false, err
	}
	l.report.found = true
	p := &plan{scope: scope}
	if err := l.plan(ctx, p); err != nil {
		return false, err
	}
	if moved, err := l.slide(ctx, p); moved || err != nil {
		return moved, err
	}
	if len(p.claims) > 0 {
		return l.startAll(ctx, p)
	}
	if p.busy+p.unknown > 0 || p.waiting {
		return false, nil
	}
	return l.conclude(ctx, p)
}

// plan decides what has settled and who takes the free places.
func (l *look) plan(ctx context.Context, p *plan) error {
	var inside []ports.SceneID
	for scene, place := range p.scope.Places {
		if place.Phase != store.Past {
			inside = append(inside, scene)
		}
	}
	slices.SortFunc(inside, ports.SceneID.Compare)
	views, err := l.d.Store.ReadScenes(ctx, inside, l.stages)
	if err != nil {
		return err
	}
	for _, v := range views {
		place := p.scope.Places[v.Scene]
		switch {
		case v.Err != nil:
			p.unknown++
			l.d.Observer.Observe(ports.Trouble{Scene: v.Scene, Op: "window", Err: v.Err})
		case l.due(p.scope, v.Scene) > place.Number:
			p.claim(v.Scene)
		case place.Phase == store.Claimed, l.lost(p.scope, v):
			p.claims = append(p.claims, v.Scene)
			p.busy++
		case l.settled(p.scope, v):
			p.settled = append(p.settled, v.Scene)
		default:
			p.busy++
		}
	}
	return l.fill(ctx, p)
}

// claim takes a scene into the window.
func (p *plan) claim(scene ports.SceneID) {
	p.claims = append(p.claims, scene)
	p.fresh = append(p.fresh, scene)
	p.busy++
}

// fill takes scenes into the free places of the window, in reading order: one that an edit
// has put before those that are under way comes first, too.
func (l *look) fill(ctx context.Context, p *plan) (err error) {
	size := p.scope.Window
	if size == 0 {
		size = math.MaxInt
	}
	if p.busy >= size {
		return nil
	}
	if p.listed, err = l.d.Content.Scenes(ctx, l.book, ""); err != nil {
		return err
	}
	if len(p.listed) == 0 {
		return fmt.Errorf("%w: %q", ErrBookEmpty, l.book)
	}
	for _, scene := range p.listed {
		place, known := p.scope.Places[scene]
		switch inside := known && place.Phase != store.Past; {
		case inside || l.due(p.scope, scene) <= place.Number:
		case p.busy < size:
			p.claim(scene)
		default:
			p.waiting = true
		}
	}
	return nil
}

// due is the number of the last order that asks for a stage of a scene; 0: none does.
func (l *look) due(scope store.Scope, scene ports.SceneID) (last int64) {
	for _, name := range l.stages {
		if o, wanted := scope.Wants(scene.Of(name)); wanted {
			last = max(last, o.Number)
		}
	}
	return last
}

// lost says whether a stage that was started for the scope is as if it never was: a failover
// took back what started it.
func (l *look) lost(scope store.Scope, v store.SceneView) bool {
	return slices.ContainsFunc(v.Stages, func(s store.StageView) bool {
		_, wanted := scope.Wants(s.Stage)
		return wanted && !s.Intent.Present && fresh(s) && slices.Contains(scope.Places[v.Scene].Started, s.Stage.Stage)
	})
}

// settled says whether nothing is left to do for what the scope wants of a scene.
func (l *look) settled(scope store.Scope, v store.SceneView) bool {
	return !slices.ContainsFunc(v.Stages, func(s store.StageView) bool {
		_, wanted := scope.Wants(s.Stage)
		return wanted && underWay(s)
	})
}

// underWay says whether something is left to do for a stage. What was cancelled is settled,
// and what was never started, since its layer is disabled. Of one whose intent was evicted
// nobody can tell: it must be asked for again, and until then the scope stays open.
func underWay(s store.StageView) bool {
	switch {
	case asset.Done(s.State, true):
		return false
	case s.Intent.Present:
		return !s.Intent.Stopped()
	}
	return !fresh(s)
}

// fresh says whether nothing has been done about a stage.
func fresh(s store.StageView) bool { return s.State == "" || s.State == asset.New }

// slide writes what was planned; moved says that another was first.
func (l *look) slide(ctx context.Context, p *plan) (moved bool, err error) {
	changed := slices.Concat(p.settled, p.fresh)
	if len(changed) == 0 {
		return false, nil
	}
	scope, verdict, err := l.d.Store.Slide(ctx, p.scope, changed, func(scene ports.SceneID) store.Place {
		if slices.Contains(p.settled, scene) {
			place := p.scope.Places[scene]
			place.Phase = store.Past
			return place
		}
		return store.Place{Number: p.scope.Last(), Phase: store.Claimed}
	})
	if err != nil || verdict != store.OK {
		return verdict == store.Moved, err
	}
	p.scope = scope
	l.d.Observer.Observe(ports.Slid{Book: l.book, Scope: scope.ID, Claimed: p.fresh, Settled: p.settled})
	return false, nil
}

// conclude ends the scope, if everything that it wants is settled.
func (l *look) conclude(ctx context.Context, p *plan) (again bool, err error) {
	var wanted []ports.SceneID
	for _, scene := range p.listed {
		if l.due(p.scope, scene) > 0 {
			wanted = append(wanted, scene)
		}
	}
	views, err := l.d.Store.ReadScenes(ctx, wanted, l.stages)
	if err != nil {
		return false, err
	}
	f := store.Finale{Book: l.book, Scope: p.scope.ID}
	for _, v := range views {
		if v.Err != nil || !l.settled(p.scope, v) {
			return false, nil // it is under way again, and will be looked at when it is done
		}
		l.count(&f, p.scope, v)
	}
	verdict, err := l.d.Store.Conclude(ctx, p.scope, f)
	return verdict == store.Moved, err
}

// count counts a scene by what the scope wanted of it and nobody stopped. What is done
// counts even if its intent was evicted, as underWay has it.
func (l *look) count(f *store.Finale, scope store.Scope, v store.SceneView) {
	ready, failed := 0, 0
	for _, s := range v.Stages {
		if _, wanted := scope.Wants(s.Stage); wanted && !s.Intent.Stopped() {
			switch s.State {
			case asset.Ready:
				ready++
			case asset.Failed:
				failed++
			}
		}
	}
	switch {
	case failed > 0:
		f.Failed++
	case ready > 0:
		f.Ready++
	}
}
