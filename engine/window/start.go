package window

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// errStale says that the scope has an order that this round has not seen.
var errStale = errors.New("the scope has a later order")

// startAll starts the scenes that the window has claimed, and notes which it could.
func (l *look) startAll(ctx context.Context, p *plan) (again bool, err error) {
	var views []store.SceneView
	if p.scope.Window > 0 {
		if views, err = l.d.Store.ReadScenes(ctx, p.claims, l.stages); err != nil {
			return false, err
		}
	}
	entered := map[ports.SceneID]store.Place{}
	var started []ports.SceneID
	var errs []error
	for i, scene := range p.claims {
		var view store.SceneView
		if views != nil {
			view = views[i]
		}
		stages, done, err := l.start(ctx, p.scope, scene, view)
		switch {
		case errors.Is(err, errStale):
			return true, nil
		case err != nil:
			errs = append(errs, err)
		default:
			started = append(started, scene)
			entered[scene] = store.Place{Number: p.scope.Places[scene].Number, Phase: store.Entered, Started: stages}
			again = again || done
		}
	}
	if len(started) == 0 {
		return false, errors.Join(errs...)
	}
	_, verdict, err := l.d.Store.Slide(ctx, p.scope, started, func(scene ports.SceneID) store.Place { return entered[scene] })
	return again || verdict == store.Moved, errors.Join(append(errs, err)...)
}

// step is one stage to be started.
type step struct {
	stage  stage.Stage
	order  store.Order
	stands bool
}

// start starts the stages that the scope wants of a scene, and are enabled; it returns their
// names. done says that nothing is to be waited for. Its files are asked before anything is
// written, so that a scene of which they cannot be read is left as it is.
func (l *look) start(ctx context.Context, scope store.Scope, id ports.SceneID, view store.SceneView) (stages []string, done bool, err error) {
	scene, err := l.d.Content.Scene(ctx, id)
	if errors.Is(err, ports.ErrNoScene) {
		return nil, true, l.unlisted(ctx, id)
	}
	if err != nil {
		return nil, false, err
	}
	var steps []step
	for _, s := range l.d.Stages {
		order, wanted := scope.Wants(id.Of(s.Name()))
		if !wanted || !scene.Layers[s.Name()] {
			continue
		}
		stands, err := l.stands(ctx, scope, order, s, scene, view)
		if err != nil {
			return nil, false, err
		}
		steps = append(steps, step{s, order, stands})
	}
	done = true
	for _, s := range steps {
		state, err := l.startStage(ctx, scope, id.Of(s.stage.Name()), s)
		if err != nil {
			return nil, false, err
		}
		stages = append(stages, s.stage.Name())
		done = done && asset.Done(state, true)
	}
	return stages, done, nil
}

// unlisted makes sure that a scene which the content does not have is not listed, either.
func (l *look) unlisted(ctx context.Context, id ports.SceneID) error {
	listed, err := l.d.Content.Scenes(ctx, id.Book, id.Chapter)
	if err != nil {
		return err
	}
	if slices.Contains(listed, id) {
		return fmt.Errorf("%w: %s", ErrSceneDenied, id)
	}
	return nil
}

// stands asks the files of a stage of which Redis knows nothing: one that is finished takes
// its place in the window and is not made again (spec orchestration 7). Only a plain request
// is content with what stands.
func (l *look) stands(ctx context.Context, scope store.Scope, o store.Order, s stage.Stage, scene ports.Scene, view store.SceneView) (bool, error) {
	i := slices.IndexFunc(view.Stages, func(v store.StageView) bool { return v.Stage.Stage == s.Name() })
	if scope.Window == 0 || o.Op != store.OpRequest || i < 0 || view.Stages[i].State != "" {
		return false, nil
	}
	presence, err := s.Prove(ctx, scene, view.Stages[i].Floor)
	if presence == ports.Unknown {
		return false, fmt.Errorf("window: the files of %s cannot be read, so it is left as it is: %w", scene.Of(s.Name()), err)
	}
	return presence == ports.Present, nil
}

func (l *look) startStage(ctx context.Context, scope store.Scope, id ports.StageID, s step) (asset.State, error) {
	verdict, in, err := l.d.Store.Start(ctx, store.StartArgs{Scope: scope, Stage: id, Op: s.order.Op, Force: s.order.Force,
		Number: s.order.Number, Stands: s.stands})
	if in.Replaced != "" && (err == nil || errors.Is(err, store.ErrAmbiguous)) {
		// It has ended, or the next try will end it without a word of its jobs.
		l.report.Replaced = append(l.report.Replaced, in.Replaced)
	}
	switch {
	case err != nil:
		return "", err
	case verdict == store.Stale:
		return "", errStale
	case verdict == store.OK:
		l.report.Stages++
		l.d.Observer.Observe(ports.Intent{Stage: id, Op: string(s.order.Op), Generation: in.Generation, State: string(in.State), Replaced: in.Replaced})
		if s.order.Op == store.OpReset || s.order.Op == store.OpRegenerate {
			l.d.Note(ctx, store.Line{Kind: store.LineReset, Outcome: string(s.order.Op), Stage: id})
		}
	}
	return in.State, nil
}
