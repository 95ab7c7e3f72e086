package properties

import (
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// trueReady: when a stage becomes READY, its artifacts stand: whole, no placeholder, of a
// generation that is good enough, of the version that its units have now, and with no dirty
// mark left that its dispatch was planned for. What a scenario changed within the last
// moments before may not have been seen.
//
// Proof: the finish.
type trueReady struct{ *watch }

// lookGrace is how long a proof may be old when the step is taken that rests on it: a hung
// call and its deadline.
const lookGrace = 15 * time.Second

var _ eventer = (*trueReady)(nil)

func newTrueReady(w *watch) any { return &trueReady{w} }

func (p *trueReady) event(e *sim.Event) {
	f, ok := e.Data.(ports.Finish)
	if !ok || f.State != string(asset.Ready) || p.Stands == nil {
		return
	}
	if p.row(f.Stage).Generation != f.Generation {
		return // an intent has come between the step and its event: more is asked for by now
	}
	if missing := p.Stands(f.Stage); missing != "" && e.At-p.Disturbed(f.Stage.SceneID) > lookGrace {
		p.fail(f.Stage.String(), []sim.Event{*e}, "it became ready without %s", missing)
	}
}
