package lang

import (
	"slices"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/ports"
)

// Kind is what a metric is measured in.
type Kind int

// The kinds.
const (
	KindCount Kind = iota
	KindWord
	KindYesNo
	KindDuration
)

func (k Kind) String() string {
	return [...]string{"count", "word", "yes/no", "duration"}[k]
}

// Metric is something that `expect` and `show` read from a world.
type Metric struct {
	Name    string
	Kind    Kind
	Subject *Param   // what it is a metric of; nil: of the world
	Words   []string // all values of a word; of a count, words that stand beside numbers
	Doc     string
	Example string // operands of `expect`
}

var (
	subjectStage   = &Param{Name: "subject", Type: paths("STAGE", LevelStage)}
	subjectScene   = &Param{Name: "subject", Type: paths("SCENE", LevelScene)}
	subjectBook    = &Param{Name: "subject", Type: paths("BOOK", LevelBook)}
	subjectSlots   = &Param{Name: "subject", Type: typeStage}
	subjectCalls   = &Param{Name: "subject", Type: typeGlob, Optional: true}
	subjectPasses  = &Param{Name: "subject", Type: words("complete", "incomplete", "suspicious", "skipped"), Optional: true}
	subjectProcess = &Param{Name: "subject", Type: typeProcess, Optional: true}
)

// buckets of design 5.3; none: as with reasons.
var buckets = []string{outcome.Capacity, outcome.Idempotent, outcome.FenceRejected, outcome.Immediate, "none"}

// news are the kinds of result events about a stage; none: nothing was told.
var news = []string{ports.EventReady, ports.EventFailed, ports.EventDeferred, ports.EventPending, ports.EventDirty, ports.EventCancelled, "none"}

// reasons are those of a finish; none: there was none, or it was a success.
func reasons() []string {
	var list []string
	for _, e := range outcome.Table() {
		list = append(list, e.Reason)
	}
	return append(list, "none")
}

var tickFields = []string{"active", "processed", "dispatched", "deferred", "throttled", "skipped", "completed", "running", "errors"}

var metrics = append([]*Metric{
	{Name: "attempts", Subject: subjectStage, Doc: "Successful begins since the start.", Example: "b1/c1/s1:image = 8..9"},
	{Name: "refusals", Subject: subjectStage, Doc: "Begins that said no; they write nothing.", Example: "b1/c1/s1:image > 0"},
	{Name: "sends", Subject: subjectStage, Doc: "Jobs that the hub accepted, as the engine knows it.", Example: "b1/c1/s1:image = 1"},
	{Name: "posts", Subject: subjectStage, Doc: "Requests to post a job that reached the hub, whatever it answered.", Example: "b1/c1/s1:image <= 2"},
	{Name: "jobs", Subject: subjectStage, Doc: "Jobs at the hub now, queued or running.", Example: "b1/c1/s1:image = 0"},
	{Name: "results", Subject: subjectStage, Doc: "Results that accept took; duplicates and stale ones do not count.", Example: "b1/c1/s1:image = 1"},
	{Name: "artifacts", Subject: subjectStage, Doc: "Whole files in the artifact tree now.", Example: "b1/c1/s1:image = 1"},
	{Name: "journal", Subject: subjectScene, Doc: "Events in the journal of the scene.", Example: "b1/c1/s1 <= 4"},
	{Name: "told", Subject: subjectStage, Doc: "Result events about the stage that the consumer has heard, each counted once.", Example: "b1/c1/s1:image = 1"},
	{Name: "repeats", Subject: subjectStage, Doc: "Result events about the stage that came again.", Example: "b1/c1/s1:image = 0"},
	{Name: "news", Kind: KindWord, Words: news, Subject: subjectStage, Doc: "Kind of the last result event about the stage that was new to the consumer.", Example: "b1/c1/s1:image = ready"},
	{Name: "completions", Subject: subjectScene, Doc: "Times that the consumer was told that the whole scene is ready.", Example: "b1/c1/s1 = 1"},
	{Name: "undelivered", Subject: subjectScene, Doc: "Result events of the scene that wait for the consumer.", Example: "b1/c1/s1 = 0"},
	{Name: "placeholder", Kind: KindYesNo, Subject: subjectStage, Doc: "Silence stands in for the file of the stage, which only audio has.", Example: "b1/c1/s1:image = no"},
	{Name: "timed", Kind: KindDuration, Subject: subjectScene, Doc: "How long the pictures of the scene are shown over its audio, all together; 0s: nobody has said.", Example: "b1/c1/s1 = 5s"},
	{Name: "progress", Subject: subjectScene, Doc: "Ready pictures of the scene, as they are shown to a reader.", Example: "b1/c1/s1 <= 3"},
	{Name: "finishes", Subject: subjectStage, Doc: "Dispatches that ended.", Example: "b1/c1/s1:image = 1"},
	{Name: "requests", Subject: subjectCalls, Doc: "Requests that reached the hub; GLOB is on `verb subject` of the call.", Example: "clear* = 1"},
	{Name: "calls", Subject: subjectCalls, Doc: "Calls made; GLOB is on the whole name `process/task service.verb subject #n`.", Example: `"e1/* redis.begin *" >= 1`},
	{Name: "state", Kind: KindWord, Words: stateWords(), Subject: subjectStage, Doc: "State of the stage.", Example: "b1/*:image = ready"},
	{Name: "reason", Kind: KindWord, Words: reasons(), Subject: subjectStage, Doc: "Reason of the last finish; `none` before the first and after a success.", Example: "b1/c1/s1:image = no_worker_available"},
	{Name: "bucket", Kind: KindWord, Words: buckets, Subject: subjectStage, Doc: "Bucket of that reason.", Example: "b1/c1/s1:image = capacity"},
	{Name: "window", Kind: KindDuration, Subject: subjectStage, Doc: "Backoff window that the last finish applied; 0s: none.", Example: "b1/c1/s1:image = 60s"},
	{Name: "retryable", Kind: KindYesNo, Subject: subjectStage, Doc: "Trying the same again can help, says the last finish.", Example: "b1/c1/s1:image"},
	{Name: "age", Kind: KindDuration, Subject: subjectStage, Doc: "Time since the open deferral was written; 0s: none is open.", Example: "b1/c1/s1:image < 60s"},
	{Name: "deferred", Kind: KindYesNo, Subject: subjectStage, Doc: "A deferral holds the stage back.", Example: "b1/c1/s1:image"},
	{Name: "leased", Kind: KindYesNo, Subject: subjectStage, Doc: "The stage has a dispatch lease.", Example: "b1/c1/s1:image = no"},
	{Name: "marks", Subject: subjectScene, Doc: "Units of the scene with a dirty mark in the pointer store.", Example: "b1/c1/s1 = 1"},
	{Name: "indexed", Kind: KindYesNo, Subject: subjectScene, Doc: "The scene is in the active index.", Example: "b1/*"},
	{Name: "budget", Words: []string{"full"}, Subject: subjectStage, Doc: "Tokens left in the retry budget, or `full`.", Example: "b1/c1/s1:image = full"},
	{Name: "generation", Subject: subjectStage, Doc: "Generation of the intent; 0: never asked for.", Example: "b1/c1/s1:image = 1"},
	{Name: "finales", Subject: subjectBook, Doc: "Finales in the journal of the book: times that all which was asked for was settled.", Example: "b1 = 1"},
	{Name: "circuit", Kind: KindWord, Words: []string{"closed", "open", "half_open"}, Subject: subjectSlots, Doc: "Circuit breaker of the stage type.", Example: "image = closed"},
	{Name: "passes", Subject: subjectPasses, Doc: "Reconcile passes that ended: those that read everything, those that could not, those that would have made most of what is ready again, those that another replica held the lock of; without a subject, all that were not skipped.", Example: "incomplete >= 1"},
	{Name: "troubles", Subject: subjectCalls, Doc: "Errors that the engines reported; GLOB is on what was done and its error.", Example: `"*corrupt key animastor:intent:b1*" >= 1`},
	{Name: "counter", Subject: subjectCalls, Doc: "What the engines count themselves (engine/metrics), summed; GLOB is on `process name stage label`, `-` standing for a part that is empty. A process that starts again counts anew.", Example: `"e1 refusals image backpressure" >= 1`},
	{Name: "slots", Subject: subjectSlots, Doc: "Slots of the stage type held by unexpired holders.", Example: "image = 0"},
}, tickMetrics()...)

func tickMetrics() []*Metric {
	var list []*Metric
	for _, f := range tickFields {
		list = append(list, &Metric{Name: "tick." + f, Subject: subjectProcess, Example: "e1 = 0",
			Doc: "The count `" + f + "` of the last tick that held the tick lock, of one engine or of any."})
	}
	return list
}

func stateWords() []string {
	var list []string
	for _, s := range asset.States() {
		list = append(list, string(s))
	}
	return list
}

// Metrics are all metrics, as the manual lists them.
func Metrics() []*Metric { return slices.Clone(metrics) }

// MetricNamed returns a metric, or nil.
func MetricNamed(name string) *Metric {
	for _, m := range metrics {
		if m.Name == name {
			return m
		}
	}
	return nil
}

func metricNames() []string {
	list := make([]string, len(metrics))
	for i, m := range metrics {
		list[i] = m.Name
	}
	return list
}
