package metrics

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/animastor/orchestra/ports"
)

// Sample is one number. Name, Stage and Label together tell it apart; a part that
// means nothing to it is empty.
type Sample struct {
	Name  string // one of Names
	Stage string // audio, image, video
	Label string // what Name.Label says
	Value int64
}

// Name describes what samples of one name count.
type Name struct {
	Name  string
	Gauge bool   // goes up and down; a counter only grows, and begins anew with its process
	Stage bool   // told apart by stage
	Label string // what the label is: reason, outcome, verdict, ...; "": there is none
	Doc   string
}

var names = []Name{
	{"attempts", false, true, "kind", "Begins that said yes; kind is plain, forced or probe."},
	{"refusals", false, true, "reason", "Begins that said no, or would have: one a tick."},
	{"jobs", false, true, "outcome", "Tries to have a job accepted by the hub; outcome is sent, cached or a reason."},
	{"results", false, true, "verdict", "Results that were handed in: accepted, last, duplicate, stale."},
	{"finishes", false, true, "outcome", "Dispatches that ended: ready, failed, nothing, partial, cancelled, lost."},
	{"finish_reasons", false, true, "reason", "Dispatches that ended for a reason."},
	{"deferrals", false, true, "reason", "Dispatches that ended with a backoff window."},
	{"intents", false, true, "op", "What was asked for: request, regenerate, reset, edit, cancel, delete."},
	{"renewals", false, true, "verdict", "Renewals of a lease: ok, not_owner, finished, error."},
	{"restored", false, true, "verdict", "Stages that a pass put back: restored, indexed, dirty."},
	{"ticks", false, false, "kind", "Ticks: done, and skipped while another replica held the lock."},
	{"passes", false, false, "kind", "Reconcile passes: complete, incomplete, suspicious, skipped."},
	{"repairs", false, false, "kind", "What passes did: fed, adopted, lost, released, purged, restored, moot, withheld, errors."},
	{"retired", false, false, "", "Scenes that left the active index."},
	{"window_scenes", false, false, "kind", "Scenes that came into the window of a scope (claimed), or left it (settled)."},
	{"finales", false, false, "", "Scopes that were concluded."},
	{"swept", false, false, "kind", "Clears at the hub: requested, cleared, failed."},
	{"journaled", false, false, "", "Events that were appended to journals."},
	{"delivered", false, false, "kind", "Result events that the consumer took, repeats included, by kind of event."},
	{"troubles", false, false, "op", "Errors that were isolated, by what was being done."},
	{"tick_scenes", true, false, "kind", "The counts of the last tick that held the lock (ports.Summary)."},
	{"slots_used", true, true, "", "Slots held by dispatches whose time is not over."},
	{"slots", true, true, "", "Slots that there are."},
	{"circuit", true, true, "state", "1 for the state that the circuit breaker is in: closed, open, half_open."},
	{"active_scenes", true, false, "", "Scenes in the active index."},
	{"outbox", true, false, "", "Lines in the outbox, that no journal has yet."},
	{"undelivered_scenes", true, false, "", "Scenes with result events that the consumer has not taken yet."},
	{"undelivered", true, false, "", "Those events."},
	{"purges", true, false, "", "Ended dispatches whose jobs may still be at the hub."},
}

// Names lists what is counted, in the order of a snapshot.
func Names() []Name { return slices.Clone(names) }

// NameOf describes a name; ok is false if nothing is counted by it.
func NameOf(name string) (n Name, ok bool) {
	i := slices.IndexFunc(names, func(n Name) bool { return n.Name == name })
	if i < 0 {
		return n, false
	}
	return names[i], true
}

// Sort puts samples into the order of Names, then by stage and label.
func Sort(samples []Sample) {
	place := map[string]int{}
	for i, n := range names {
		place[n.Name] = i
	}
	slices.SortFunc(samples, func(a, b Sample) int {
		return cmp.Or(place[a.Name]-place[b.Name], cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Label, b.Label))
	})
}

// key is a sample without its value.
type key struct{ name, stage, label string }

// Recorder counts the events of one process, and hands each on.
type Recorder struct {
	next   ports.Observer
	mu     sync.Mutex //sim:allow held for an addition, never across a call; observers are called from all tasks
	counts map[key]int64
	tick   ports.Summary // the last one that was not skipped
}

var _ ports.Observer = (*Recorder)(nil)

// New returns a recorder in front of an observer.
func New(next ports.Observer) *Recorder { return &Recorder{next: next, counts: map[key]int64{}} }

// Observe implements ports.Observer.
func (r *Recorder) Observe(e ports.Event) {
	r.mu.Lock()
	r.count(e)
	r.mu.Unlock()
	r.next.Observe(e)
}

// Snapshot returns the counters, and the gauges of the last tick, in the order of Sort.
func (r *Recorder) Snapshot() []Sample {
	r.mu.Lock()
	counts, tick := maps.Clone(r.counts), r.tick
	r.mu.Unlock()
	samples := make([]Sample, 0, len(counts)+len(fields(tick)))
	for k, n := range counts { //sim:unordered sorted below
		samples = append(samples, Sample{k.name, k.stage, k.label, n})
	}
	for _, f := range fields(tick) {
		samples = append(samples, Sample{"tick_scenes", "", f.label, int64(f.n)})
	}
	Sort(samples)
	return samples
}

func (r *Recorder) add(name, stage, label string, n int) {
	if n != 0 {
		r.counts[key{name, stage, label}] += int64(n)
	}
}

func (r *Recorder) count(e ports.Event) {
	switch e := e.(type) {
	case ports.Intent:
		r.add("intents", e.Stage.Stage, e.Op, 1)
	case ports.Attempt:
		r.add("attempts", e.Stage.Stage, kind(e), 1)
	case ports.Refusal:
		r.add("refusals", e.Stage.Stage, e.Reason, 1)
	case ports.JobOutcome:
		if !e.Final { // a final one tells of tries that were told already
			r.add("jobs", e.Stage.Stage, e.Outcome, 1)
		}
	case ports.Result:
		r.add("results", e.Stage.Stage, e.Verdict, 1)
	case ports.Finish:
		r.finish(e)
	case ports.Renewal:
		r.add("renewals", e.Stage.Stage, e.Verdict, 1)
	case ports.Restored:
		r.add("restored", e.Stage.Stage, e.Verdict, 1)
	case ports.Retired:
		r.add("retired", "", "", 1)
	case ports.Slid:
		r.all("window_scenes", []field{{"claimed", len(e.Claimed)}, {"settled", len(e.Settled)}})
	case ports.Concluded:
		r.add("finales", "", "", 1)
	case ports.Swept:
		r.all("swept", []field{{"requested", e.Requested}, {"cleared", e.Cleared}, {"failed", e.Failed}})
	case ports.Journaled:
		r.add("journaled", "", "", len(e.Events))
	case ports.Delivered:
		r.add("delivered", "", e.Event.Kind, 1)
	case ports.Tick:
		if e.Skipped {
			r.add("ticks", "", "skipped", 1)
			return
		}
		r.add("ticks", "", "done", 1)
		r.tick = e.Summary
	case ports.Pass:
		r.pass(e)
	case ports.Trouble:
		r.add("troubles", "", e.Op, 1)
	}
}

func (r *Recorder) finish(e ports.Finish) {
	r.add("finishes", e.Stage.Stage, e.Outcome, 1)
	if e.Reason != "" {
		r.add("finish_reasons", e.Stage.Stage, e.Reason, 1)
	}
	if e.Deferred {
		r.add("deferrals", e.Stage.Stage, e.Reason, 1)
	}
}

func (r *Recorder) pass(e ports.Pass) {
	switch {
	case e.Skipped:
		r.add("passes", "", "skipped", 1)
	case e.Cause != "":
		r.add("passes", "", "incomplete", 1)
	case e.Suspicious:
		r.add("passes", "", "suspicious", 1)
	default:
		r.add("passes", "", "complete", 1)
	}
	p := e.Report
	r.all("repairs", []field{{"fed", p.Fed}, {"adopted", p.Adopted}, {"lost", p.Lost}, {"released", p.Released}, {"purged", p.Purged},
		{"restored", p.Restored}, {"moot", p.Moot}, {"withheld", p.Withheld}, {"errors", p.Errors}})
}

func (r *Recorder) all(name string, list []field) {
	for _, f := range list {
		r.add(name, "", f.label, f.n)
	}
}

type field struct {
	label string
	n     int
}

func fields(s ports.Summary) []field {
	return []field{{"active", s.Active}, {"processed", s.Processed}, {"dispatched", s.Dispatched}, {"deferred", s.Deferred},
		{"throttled", s.Throttled}, {"skipped", s.Skipped}, {"completed", s.Completed}, {"running", s.Running}, {"errors", s.Errors}}
}

func kind(e ports.Attempt) string {
	switch {
	case e.Probe:
		return "probe"
	case e.Forced:
		return "forced"
	}
	return "plain"
}
