package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// ErrNothingEnabled says that nothing can be asked for of a target, as its content stands.
var ErrNothingEnabled = errors.New("no such scene, or no layer of it is enabled")

// Target is what an explicit intent is about. Empty fields stand for all: a book,
// a chapter of it, a scene, or one stage of any of these. One that makes no sense is
// ports.ErrInvalid, and nothing is done.
type Target struct {
	Book, Chapter, Scene string
	Stage                string
	Force                bool // recorded with the intent; it never bypasses a deferral (audit 117 M2)
}

// Report is what an explicit intent did.
type Report struct {
	Stages   int      // stages whose generation was raised; those that wait for a place in the window follow
	Replaced []string // live dispatches that it ended
	Swept    dispatch.Swept
}

// Request asks for what a target still lacks.
func (e *Engine) Request(ctx context.Context, t Target) (Report, error) {
	return e.intend(ctx, store.OpRequest, t)
}

// Regenerate asks for a target anew, whatever it has.
func (e *Engine) Regenerate(ctx context.Context, t Target) (Report, error) {
	return e.intend(ctx, store.OpRegenerate, t)
}

// Reset puts a target back to its beginning and asks for it.
func (e *Engine) Reset(ctx context.Context, t Target) (Report, error) {
	return e.intend(ctx, store.OpReset, t)
}

// Edit says that the content of a target has changed, and asks for what it lacks now:
// what was made of what has not changed is kept (ports.Unit.Version). Image units that it
// names are made anew in any case; they must be of one scene, and the engine versioned.
func (e *Engine) Edit(ctx context.Context, t Target, units ...string) (Report, error) {
	if err := t.validate(e.stages); err != nil {
		return Report{}, err
	}
	if len(units) > 0 {
		if err := e.mark(ctx, t, units); err != nil {
			return Report{}, err
		}
	}
	report, err := e.turn(ctx, store.OpEdit, t)
	report.Swept = e.dispatch.ClearUntilDone(ctx, dispatch.Sweep{Dispatches: report.Replaced})
	return report, err
}

// mark marks units dirty, before the intent that restarts their stage: one that gets lost
// in between is found by the next plan or pass.
func (e *Engine) mark(ctx context.Context, t Target, units []string) error {
	for _, unit := range units {
		if err := ports.ValidateID("unit", unit); err != nil {
			return err
		}
	}
	switch {
	case t.Scene == "":
		return fmt.Errorf("engine: %w edit of units %q: they need their scene", ports.ErrInvalid, units)
	case !e.cfg.Versioned:
		return fmt.Errorf("engine: %w edit of units %q: an engine that is not versioned has no dirty marks; raise the version of the units in the content", ports.ErrInvalid, units)
	}
	id := ports.SceneID{Book: t.Book, Chapter: t.Chapter, Scene: t.Scene}
	scene, err := e.deps.Content.Scene(ctx, id)
	if err != nil {
		return err
	}
	for _, unit := range units {
		if !slices.ContainsFunc(scene.Units, func(u ports.Unit) bool { return u.ID == unit }) {
			return fmt.Errorf("engine: %w edit of %s: the content has no unit %q of it, so nobody would ever settle its mark", ports.ErrInvalid, id, unit)
		}
	}
	_, err = e.deps.Pointers.Mark(ctx, id, units)
	return err
}

// Cancel stops all work on a target and purges its jobs. A cancelled book stays
// cancelled, also for a tick that is under way, until something of it is asked for.
func (e *Engine) Cancel(ctx context.Context, t Target) (Report, error) {
	return e.intend(ctx, store.OpCancel, t)
}

// Delete forgets a target and purges its jobs.
func (e *Engine) Delete(ctx context.Context, t Target) (Report, error) {
	return e.intend(ctx, store.OpDelete, t)
}

// ClearDeferralsForBook ends every backoff window of a book and returns how many
// there were; with an error, how many were cleared before it.
func (e *Engine) ClearDeferralsForBook(ctx context.Context, book string) (int, error) {
	if err := ports.ValidateID("book", book); err != nil {
		return 0, err
	}
	return e.store.ClearDeferralsForBook(ctx, book)
}

// ClearDeferralsForScene ends every backoff window of a scene.
func (e *Engine) ClearDeferralsForScene(ctx context.Context, scene ports.SceneID) (int, error) {
	if err := scene.Validate(); err != nil {
		return 0, err
	}
	return e.store.ClearDeferralsForScene(ctx, scene)
}

// intend applies an explicit intent: validated first, then one order for the whole of it,
// then one atomic step a stage, then the purge of what these replaced. An error of one
// stage does not keep the others from it.
func (e *Engine) intend(ctx context.Context, op store.IntentOp, t Target) (Report, error) {
	if err := t.validate(e.stages); err != nil {
		return Report{}, err
	}
	stops := op == store.OpCancel || op == store.OpDelete
	if !stops {
		if err := e.asksForSomething(ctx, op, t); err != nil {
			return Report{}, err
		}
		if err := e.tomb(ctx, op, t); err != nil {
			return Report{}, err
		}
	}
	order := store.Order{Chapter: t.Chapter, Scene: t.Scene, Stage: t.Stage, Op: op, Force: t.Force}
	if err := e.window.Order(ctx, t.Book, order); err != nil {
		return Report{}, err
	}
	var report Report
	var err error
	if stops {
		report, err = e.turn(ctx, op, t)
	} else {
		report = e.start(ctx, t.Book)
	}
	sweep := dispatch.Sweep{Dispatches: report.Replaced}
	if len(report.Replaced) == 0 && t.Chapter == "" && t.Stage == "" && stops {
		sweep.Book = t.Book
	}
	report.Swept = e.dispatch.ClearUntilDone(ctx, sweep)
	return report, err
}

// start starts what has been asked for of a book, as far as its window lets it. It is asked
// for already: what cannot be started now is reported, and tried again without the caller.
func (e *Engine) start(ctx context.Context, book string) Report {
	looked, err := e.window.Look(ctx, book)
	if err != nil {
		e.deps.Observer.Observe(ports.Trouble{Scene: ports.SceneID{Book: book}, Op: "window", Err: err})
		e.follow(ctx, book, time.Second)
	}
	return Report{Stages: looked.Stages, Replaced: looked.Replaced}
}

// turn takes every stage of a target that was asked for to what op says. It goes by what
// Redis knows of them, since the content may be gone.
func (e *Engine) turn(ctx context.Context, op store.IntentOp, t Target) (Report, error) {
	stages, err := e.known(ctx, t)
	if err == nil && op == store.OpEdit {
		stages, err = e.enabled(ctx, stages)
	}
	if err != nil {
		return Report{}, err
	}
	var report Report
	var errs []error
	if op == store.OpDelete {
		errs = append(errs, e.tomb(ctx, op, t)) // an error is returned; the stages are stopped all the same
	}
	for _, s := range stages {
		in, err := e.store.Intent(ctx, op, s, t.Force)
		if in.Replaced != "" && (err == nil || errors.Is(err, store.ErrAmbiguous)) {
			// It has ended, or the caller's retry will end it and not name it, so its jobs are purged now.
			report.Replaced = append(report.Replaced, in.Replaced)
		}
		switch {
		case err != nil:
			errs = append(errs, err)
		case !in.Kept:
			report.Stages++
			e.deps.Observer.Observe(ports.Intent{Stage: s, Op: string(op), Generation: in.Generation, State: string(in.State), Replaced: in.Replaced})
		}
	}
	return report, errors.Join(errs...)
}

// tomb puts a tombstone on a book that is deleted, and takes it from one that is asked
// for: no repair starts anything of a buried book, though Redis have forgotten its end.
func (e *Engine) tomb(ctx context.Context, op store.IntentOp, t Target) error {
	switch {
	case !e.cfg.Versioned || op == store.OpCancel:
		return nil
	case op != store.OpDelete:
		return e.deps.Pointers.Unbury(ctx, t.Book)
	case t.Chapter == "" && t.Stage == "":
		return e.deps.Pointers.Bury(ctx, t.Book)
	}
	return nil
}

func (t Target) validate(stages []string) error {
	if err := ports.ValidateID("book", t.Book); err != nil {
		return err
	}
	if t.Scene != "" && t.Chapter == "" {
		return fmt.Errorf("engine: %w target %q: a scene needs its chapter", ports.ErrInvalid, t.Scene)
	}
	for _, part := range [...]struct{ kind, id string }{{"chapter", t.Chapter}, {"scene", t.Scene}} {
		if part.id != "" {
			if err := ports.ValidateID(part.kind, part.id); err != nil {
				return err
			}
		}
	}
	for _, s := range stages {
		if t.Stage == s || t.Stage == "" {
			return nil
		}
	}
	return fmt.Errorf("engine: %w target: no executor of stage %q; this engine has %v", ports.ErrInvalid, t.Stage, stages)
}

// known lists the stages of a target that were asked for once.
func (e *Engine) known(ctx context.Context, t Target) (out []ports.StageID, err error) {
	scenes, err := e.store.ScenesOf(ctx, t.Book)
	if err != nil {
		return nil, err
	}
	views, err := e.store.ReadScenes(ctx, scenes, e.stages)
	if err != nil {
		return nil, err
	}
	for _, v := range views {
		for _, stage := range e.stages {
			if id := v.Scene.Of(stage); t.covers(id) && (v.Err != nil || v.Asked(stage)) {
				out = append(out, id)
			}
		}
	}
	slices.Reverse(out) // the video first: it is not blocked by an image that stops after it
	return out, nil
}

// enabled lists those of the stages whose layer is enabled (design 5.4.15).
func (e *Engine) enabled(ctx context.Context, stages []ports.StageID) (out []ports.StageID, err error) {
	var scene ports.Scene
	for _, s := range stages {
		if scene.SceneID != s.SceneID {
			scene, err = e.deps.Content.Scene(ctx, s.SceneID)
			if err != nil && !errors.Is(err, ports.ErrNoScene) {
				return nil, err
			}
			scene.SceneID = s.SceneID
		}
		if scene.Layers[s.Stage] {
			out = append(out, s)
		}
	}
	return out, nil
}

func (t Target) covers(s ports.StageID) bool { return s.Under(t.Chapter, t.Scene, t.Stage) }

// asksForSomething refuses a target that has no scene with an enabled layer (design 5.4.15).
func (e *Engine) asksForSomething(ctx context.Context, op store.IntentOp, t Target) error {
	scenes, err := e.deps.Content.Scenes(ctx, t.Book, t.Chapter)
	if err != nil {
		return err
	}
	for _, id := range scenes {
		if !t.covers(id.Of(t.Stage)) {
			continue
		}
		scene, err := e.deps.Content.Scene(ctx, id)
		if err != nil {
			return err
		}
		for _, stage := range e.stages {
			if t.covers(id.Of(stage)) && scene.Layers[stage] {
				return nil
			}
		}
	}
	return fmt.Errorf("engine: %s %s: %w", op, ports.Quote(t.Book), ErrNothingEnabled)
}
