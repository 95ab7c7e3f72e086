package deliver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

const (
	loan           = 30 * time.Second // of a scene; then the next one may tell of it
	consumeAtMost  = 10 * time.Second // for one event; well below the loan, or two would tell the same
	scenesAtOnce   = 20               // that one replica tells of
	eventsInOneRow = 50               // of a scene, before another one has its turn
)

// Deliverer tells the consumer for one process.
type Deliverer struct {
	rt       ports.Runtime
	store    *store.Store
	consumer ports.Consumer
	observer ports.Observer
	busy     atomic.Int32 // scenes that are being told of
}

// New returns a deliverer.
func New(rt ports.Runtime, s *store.Store, consumer ports.Consumer, observer ports.Observer) *Deliverer {
	return &Deliverer{rt: rt, store: s, consumer: consumer, observer: observer}
}

// Deliver begins to tell of the scenes that wait, each in a task of its own, and does not
// wait for them. It returns how many it began with.
func (d *Deliverer) Deliver(ctx context.Context) (int, error) {
	free := scenesAtOnce - int(d.busy.Load())
	if free <= 0 {
		return 0, nil
	}
	scenes, err := d.store.Due(ctx, free, loan)
	if err != nil {
		return 0, err
	}
	for _, scene := range scenes {
		d.busy.Add(1)
		d.rt.Go(ctx, "deliver", func(ctx context.Context) {
			defer d.busy.Add(-1)
			for next := scene; next != (ports.SceneID{}); next = d.next(ctx) {
				if err := d.rt.Isolate(func() error { return d.tell(ctx, next) }); err != nil {
					d.observer.Observe(ports.Trouble{Scene: next, Op: "deliver", Err: err})
				}
			}
		})
	}
	return len(scenes), nil
}

// next is another scene that waits, or none: who has told of one goes on at once, so that
// many scenes do not hold up each other.
func (d *Deliverer) next(ctx context.Context) (scene ports.SceneID) {
	err := d.rt.Isolate(func() error {
		scenes, err := d.store.Due(ctx, 1, loan)
		if len(scenes) > 0 {
			scene = scenes[0]
		}
		return err
	})
	if err != nil {
		d.observer.Observe(ports.Trouble{Op: "deliver", Err: err})
	}
	return scene
}

// tell tells what waits in the queue of a scene, until one event is not taken: then the
// loan lapses, and the scene has its turn again.
func (d *Deliverer) tell(ctx context.Context, scene ports.SceneID) error {
	lines, err := d.store.Events(ctx, scene, eventsInOneRow)
	if err != nil {
		return err
	}
	if len(lines) == 0 { // another replica has told it, or its time was over
		_, err := d.store.Delivered(ctx, scene, "", 0) // what has come since waits until the loan lapses
		return err
	}
	for i, text := range lines {
		list, err := events(text)
		if err != nil {
			d.observer.Observe(ports.Trouble{Scene: scene, Op: "deliver", Err: err}) // nobody will ever read it
		}
		for _, e := range list {
			if err := d.consume(ctx, e); err != nil {
				return err
			}
		}
		next := loan
		if i == len(lines)-1 {
			next = 0 // what came since is due at once, for whoever is free
		}
		// Where the line has moved another tells of the scene, and what was read is old.
		if verdict, err := d.store.Delivered(ctx, scene, text, next); err != nil || verdict != store.OK {
			return err
		}
	}
	return nil
}

func (d *Deliverer) consume(ctx context.Context, e ports.ResultEvent) error {
	call, cancel := d.rt.WithTimeout(ctx, consumeAtMost)
	defer cancel()
	if err := d.consumer.Consume(call, e); err != nil {
		return err
	}
	d.observer.Observe(ports.Delivered{Event: e})
	return nil
}

// events are what a line says to the host.
func events(text string) ([]ports.ResultEvent, error) {
	if f, ok := store.ParseFinale(text); ok {
		return []ports.ResultEvent{{ID: f.Scope, Kind: ports.EventComplete, Stage: ports.SceneID{Book: f.Book}.Of(""), Dispatch: f.Scope,
			At: f.At, Ready: f.Ready, Failed: f.Failed}}, nil
	}
	line, err := store.ParseLine(text)
	if err != nil || line.Kind != store.LineFinished {
		return nil, err
	}
	return endings(line), nil
}

// endings are what the end of a dispatch says: of the stage, and of what followed from it.
func endings(l store.Line) []ports.ResultEvent {
	e := ports.ResultEvent{ID: l.Dispatch, Kind: kind(l), Stage: l.Stage, Dispatch: l.Dispatch, Generation: l.Generation,
		Reason: l.FinalReason, At: l.At, Until: l.Until}
	list := []ports.ResultEvent{e}
	switch l.Also {
	case store.AlsoSceneReady:
		list = append(list, ports.ResultEvent{ID: l.Dispatch + "/scene", Kind: ports.EventSceneReady, Stage: l.Stage.SceneID.Of(""),
			Dispatch: l.Dispatch, Generation: l.Generation, At: l.At})
	case store.AlsoVideoBlocked:
		list = append(list, ports.ResultEvent{ID: l.Dispatch + "/video", Kind: ports.EventFailed, Stage: l.Stage.Of(asset.Video),
			Dispatch: l.Dispatch, Generation: l.Generation, Reason: outcome.BlockedByImage, At: l.At})
	}
	return list
}

func kind(l store.Line) string {
	switch {
	case l.Outcome == "cancelled":
		return ports.EventCancelled
	case l.State == asset.Ready:
		return ports.EventReady
	case l.State == asset.Failed:
		return ports.EventFailed
	case l.State == asset.Dirty:
		return ports.EventDirty
	case !l.Until.IsZero():
		return ports.EventDeferred
	}
	return ports.EventPending
}
