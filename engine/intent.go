package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/dispatch"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// Target is what an explicit intent is about. Empty fields stand for all: a book,
// a chapter of it, a scene, or one stage of any of these.
type Target struct {
	Book, Chapter, Scene string
	Stage                string
	Force                bool // recorded with the intent; it never bypasses a deferral (audit 117 M2)
}

// Report is what an explicit intent did.
type Report struct {
	Stages   int      // stages whose generation was raised
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
	if err := asset.ValidateID("book", book); err != nil {
		return 0, err
	}
	return e.store.ClearDeferralsForBook(ctx, book)
}

// ClearDeferralsForScene ends every backoff window of a scene.
func (e *Engine) ClearDeferralsForScene(ctx context.Context, scene ports.SceneID) (int, error) {
	if err := asset.Validate(scene); err != nil {
		return 0, err
	}
	return e.store.ClearDeferralsForScene(ctx, scene)
}

// intend applies an explicit intent to every stage of a target: validated first,
// then one atomic step a stage, then the purge of what it replaced. An error of
// one stage does not keep the others from it.
func (e *Engine) intend(ctx context.Context, op store.IntentOp, t Target) (Report, error) {
	var report Report
	if err := t.validate(e.stages); err != nil {
		return report, err
	}
	if op == store.OpCancel && t.Chapter == "" && t.Stage == "" {
		if err := e.store.CancelBook(ctx, t.Book, e.deps.Runtime.Now()); err != nil {
			return report, err
		}
	}
	stages, err := e.resolve(ctx, op, t)
	if err != nil {
		return report, err
	}
	var errs []error
	for _, s := range stages {
		in, err := e.store.Intent(ctx, op, s, t.Force)
		if in.Replaced != "" && (err == nil || errors.Is(err, store.ErrAmbiguous)) {
			// It has ended, or the caller's next try will end it without a word of its jobs.
			report.Replaced = append(report.Replaced, in.Replaced)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		report.Stages++
		e.deps.Observer.Observe(ports.Intent{Stage: s, Op: string(op), Generation: in.Generation, State: string(in.State), Replaced: in.Replaced})
	}
	sweep := dispatch.Sweep{Dispatches: report.Replaced}
	if len(report.Replaced) == 0 && t.Chapter == "" && t.Stage == "" && (op == store.OpCancel || op == store.OpDelete) {
		sweep.Book = t.Book
	}
	report.Swept = e.dispatch.ClearUntilDone(ctx, sweep)
	return report, errors.Join(errs...)
}

func (t Target) validate(stages []string) error {
	if err := asset.ValidateID("book", t.Book); err != nil {
		return err
	}
	if t.Scene != "" && t.Chapter == "" {
		return fmt.Errorf("engine: target %q: a scene needs its chapter", t.Scene)
	}
	for kind, id := range map[string]string{"chapter": t.Chapter, "scene": t.Scene} { //sim:unordered any error will do
		if id != "" {
			if err := asset.ValidateID(kind, id); err != nil {
				return err
			}
		}
	}
	for _, s := range stages {
		if t.Stage == s || t.Stage == "" {
			return nil
		}
	}
	return fmt.Errorf("engine: no executor of stage %q; this engine has %v", t.Stage, stages)
}

// resolve lists the stages of a target. Asking for work goes by the content, and
// only by its enabled layers (design 5.4.15); stopping work also goes by what Redis
// knows, since the content may be gone.
func (e *Engine) resolve(ctx context.Context, op store.IntentOp, t Target) ([]ports.StageID, error) {
	stopping := op == store.OpCancel || op == store.OpDelete
	seen := map[ports.StageID]bool{}
	var out []ports.StageID
	add := func(scene ports.SceneID, enabled func(string) bool) {
		for _, stage := range e.stages {
			id := scene.Of(stage)
			if (t.Stage == "" || t.Stage == stage) && (t.Chapter == "" || t.Chapter == scene.Chapter) &&
				(t.Scene == "" || t.Scene == scene.Scene) && !seen[id] && enabled(stage) {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	if stopping {
		known, err := e.store.ScenesOf(ctx, t.Book)
		if err != nil {
			return nil, err
		}
		views, err := e.store.ReadScenes(ctx, known, e.stages)
		if err != nil {
			return nil, err
		}
		for _, v := range views {
			add(v.Scene, func(stage string) bool { return v.Err != nil || v.Asked(stage) })
		}
		slices.Reverse(out) // the video first: it is not blocked by an image that stops after it
		return out, nil
	}
	scenes, err := e.deps.Content.Scenes(ctx, t.Book, t.Chapter)
	if err != nil {
		return nil, err
	}
	for _, id := range scenes {
		if t.Scene != "" && t.Scene != id.Scene {
			continue
		}
		scene, err := e.deps.Content.Scene(ctx, id)
		if err != nil {
			return nil, err
		}
		add(id, func(stage string) bool { return scene.Layers[stage] })
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("engine: %s %q: no such scene, or no layer of it is enabled", op, t.Book)
	}
	return out, nil
}
