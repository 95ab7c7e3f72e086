package dispatch

import (
	"context"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/ports"
)

// besideAtMost is the time of what a stage does beside its jobs.
const besideAtMost = 10 * time.Second

// begun does what follows a begin, in a task of its own: no job waits for it.
func (d *Dispatcher) begun(ctx context.Context, l *live, w work) {
	d.Runtime.Go(ctx, "beside", func(ctx context.Context) {
		d.beside(ctx, l, func(ctx context.Context, c stage.Companion) error { return c.Begun(ctx, w.scene) })
	})
	d.progress(ctx, l, len(w.plan.Cached))
}

// proved does what follows the proof that all of a stage stands.
func (d *Dispatcher) proved(ctx context.Context, l *live, scene ports.Scene) {
	d.beside(ctx, l, func(ctx context.Context, c stage.Companion) error { return c.Proved(ctx, scene) })
	l.scene = scene
	d.progress(ctx, l, len(scene.Units))
}

func (d *Dispatcher) beside(ctx context.Context, l *live, do func(context.Context, stage.Companion) error) {
	st, _ := d.StageOf(l.stage.Stage)
	companion, has := st.(stage.Companion)
	if !has {
		return
	}
	call, cancel := d.Runtime.WithTimeout(ctx, besideAtMost)
	defer cancel()
	if err := d.Runtime.Isolate(func() error { return do(call, companion) }); err != nil {
		d.trouble(l.stage.SceneID, "beside", err)
	}
}

// progressed tells how many pictures stand while the jobs of a dispatch are under way: those
// for which there is no job, and those whose job is done. An edit may have left fewer than
// there are jobs.
func (d *Dispatcher) progressed(ctx context.Context, l *live) {
	d.progress(ctx, l, max(0, len(l.scene.Units)-len(l.jobs)+l.tally().done))
}

// progress tells how many pictures of a scene stand, for display. It comes from proofs and
// accepted results only, and is never more than there are units; none at all takes the
// count of an older generation away (spec orchestration 5.5).
func (d *Dispatcher) progress(ctx context.Context, l *live, ready int) {
	if l.stage.Stage != asset.Image || l.scene.Version == 0 {
		return
	}
	if err := d.Store.SetProgress(ctx, l.stage.SceneID, min(ready, len(l.scene.Units))); err != nil {
		d.trouble(l.stage.SceneID, "progress", err)
	}
}
