package wire

import (
	"time"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Recorder counts what the trace tells, for the metrics of a scenario.
type Recorder struct {
	w      *World
	stages map[ports.StageID]*Counts
	ticks  map[string]ports.Summary
	passes map[string]int // by how they ended
	errors map[string]int // that were reported, by operation and text
	last   string         // process whose tick was the last one
	wanted map[ports.StageID]bool
	order  []ports.StageID
	asking int // intents of the client that are not through yet
	moves  int // events after which a stage may be in another state

	failedOver bool // Redis has lost writes at some time
}

// Counts are the counts of one stage since the world began.
type Counts struct {
	Attempts, Refusals, Sends, Results, Finishes int
	Reason, Bucket                               string // of the last finish
	Window                                       time.Duration
	Retryable                                    bool
	Told, Repeats                                int    // result events that the consumer has heard, and those that it had heard before
	News                                         string // kind of the last one
}

func newRecorder(w *World) *Recorder {
	r := &Recorder{w: w, stages: map[ports.StageID]*Counts{},
		ticks: map[string]ports.Summary{}, passes: map[string]int{}, errors: map[string]int{}, wanted: map[ports.StageID]bool{}}
	w.Sim.Trace().Watch(r.event)
	return r
}

// Of returns the counts of a stage.
func (r *Recorder) Of(s ports.StageID) *Counts {
	c, ok := r.stages[s]
	if !ok {
		c = &Counts{}
		r.stages[s] = c
	}
	return c
}

// Tick is the summary of the last tick of a process that held the tick lock; of
// any process if it is empty.
func (r *Recorder) Tick(process string) ports.Summary {
	if process == "" {
		process = r.last
	}
	return r.ticks[process]
}

// Passes counts the reconcile passes that were complete, incomplete, suspicious or skipped; all
// but the skipped ones if kind is empty.
func (r *Recorder) Passes(kind string) int {
	if kind == "" {
		return r.passes["complete"] + r.passes["incomplete"] + r.passes["suspicious"]
	}
	return r.passes[kind]
}

// Troubles counts the errors that were reported and match a glob: "operation: error".
func (r *Recorder) Troubles(glob string) (n int) {
	for text, times := range r.errors { //sim:unordered it counts
		if glob == "" || sim.Glob(glob, text) {
			n += times
		}
	}
	return n
}

func passKind(p ports.Pass) string {
	switch {
	case p.Skipped:
		return "skipped"
	case p.Cause != "":
		return "incomplete"
	case p.Suspicious:
		return "suspicious"
	}
	return "complete"
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
		in := s.Book == t.Book && (t.Chapter == "" || s.Chapter == t.Chapter) && (t.Scene == "" || s.Scene == t.Scene) && (t.Stage == "" || s.Stage == t.Stage)
		if in && !r.w.asked(s) {
			r.wanted[s] = false
		}
	}
}

// Moves counts the events after which a stage may be in another state: between two
// equal counts nothing has become done.
func (r *Recorder) Moves() int { return r.moves }

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
	case ports.Attempt:
		r.Of(d.Stage).Attempts++
	case ports.Refusal:
		r.Of(d.Stage).Refusals++
	case ports.Result:
		if d.Verdict == "accepted" || d.Verdict == "last" {
			r.Of(d.Stage).Results++
		}
	case ports.Finish:
		r.moves++
		c := r.Of(d.Stage)
		c.Finishes++
		c.Reason, c.Bucket, c.Window, c.Retryable = d.Reason, d.Bucket, time.Duration(d.WindowSeconds)*time.Second, d.Retryable
		if row, ok := outcome.Lookup(d.Reason); ok && d.Bucket == "" {
			c.Bucket = row.Bucket
		}
	case consumer.Heard:
		c := r.Of(d.Stage)
		if d.Again {
			c.Repeats++
			return
		}
		c.Told++
		c.News = d.Kind
	case ports.Tick:
		r.moves++ // a process that died before it could tell of a finish; a scope that ended
		if !d.Skipped {
			process := sim.CallName{Task: e.Process}.Process()
			r.ticks[process], r.last = d.Summary, process
		}
	case ports.Pass:
		r.passes[passKind(d)]++
	case ports.Trouble:
		r.errors[d.Op+": "+d.Err.Error()]++
	case ports.JobOutcome:
		if d.Outcome == "sent" {
			r.Of(d.Stage).Sends++
		}
	}
}
