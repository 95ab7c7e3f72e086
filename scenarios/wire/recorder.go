package wire

import (
	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Recorder counts what the trace tells, for the metrics of a scenario.
type Recorder struct {
	*Tally
	w      *World
	wanted map[ports.StageID]bool
	order  []ports.StageID
	asking int // intents of the client that are not through yet
	moves  int // events after which a stage may be in another state
	ends   int // of dispatches

	failedOver bool // Redis has lost writes at some time
}

func newRecorder(w *World) *Recorder {
	r := &Recorder{Tally: NewTally(), w: w, wanted: map[ports.StageID]bool{}}
	w.Sim.Trace().Watch(r.event)
	return r
}

// Wanted lists the stages that somebody has asked for and nobody has cancelled.
func (r *Recorder) Wanted() []ports.StageID {
	var out []ports.StageID
	for _, s := range r.order {
		if r.wanted[s] {
			out = append(out, s)
		}
	}
	return out
}

// stopped notes that the client was told that a target has stopped: the intent of a stage
// may say so although the answer that told of it was lost.
func (r *Recorder) stopped(t engine.Target) {
	for _, s := range r.order {
		if s.Book == t.Book && s.Under(t.Chapter, t.Scene, t.Stage) && !r.w.asked(s) {
			r.wanted[s] = false
		}
	}
}

// Moves counts the events after which a stage may be in another state: between two
// equal counts nothing has become done.
func (r *Recorder) Moves() int { return r.moves }

// Ends counts the dispatches that have ended.
func (r *Recorder) Ends() int { return r.ends }

// Asking says whether an intent of the client is under way.
func (r *Recorder) Asking() bool { return r.asking > 0 }

func (r *Recorder) addBook(b Book) {
	for _, chapter := range b.Chapters {
		for _, scene := range b.Scenes {
			for _, stage := range b.Stages {
				r.order = append(r.order, ports.SceneID{Book: b.ID, Chapter: chapter, Scene: scene}.Of(stage))
			}
		}
	}
}

func (r *Recorder) preset(s ports.StageID) { r.wanted[s] = true }

func (r *Recorder) event(e *sim.Event) {
	r.Add(sim.CallName{Task: e.Process}.Process(), e.Data)
	switch d := e.Data.(type) {
	case ports.Intent:
		r.moves++
		if r.w.Generation(d.Stage) >= d.Generation || !r.failedOver { // else it was lost before it was told of
			r.wanted[d.Stage] = d.Op != "cancel" && d.Op != "delete"
		}
	case redis.Failover:
		r.moves++
		r.failedOver = true
		for _, s := range r.order {
			r.wanted[s] = r.w.asked(s)
		}
	case ports.Finish:
		r.moves++
		r.ends++
	case ports.Tick:
		r.moves++ // a process that died before it could tell of a finish; a scope that ended
	}
}
