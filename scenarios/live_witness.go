package scenarios

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
	"github.com/animastor/orchestra/sim"
)

// hubCalls is how a pattern of calls begins that those of the hub alone can match.
const hubCalls = "* hub."

// saidMost is how much of the logs a failure shows.
const saidMost = 6

// witness sees a live service from outside: in Redis, the pointer store and the artifact tree,
// at the hub, by what the host of the engine is told, and by what the processes say in their
// logs, each line of which is an event of the engine or a request that reached the hub.
type witness struct {
	service    LiveService
	shelf      *shelf
	logs       []*livelog
	tally      *wire.Tally
	stages     map[string]ports.StageID // as a log spells them
	dispatches map[ports.StageID][]string
	requests   map[sim.CallName]int
	heard      int             // result events that were counted
	known      map[string]bool // their ids
	said       []string        // the lines of the engines, but for the loudest
}

// livelog is a log that is read as it grows.
type livelog struct {
	process string
	read    int64
}

// saying is one line of a log.
type saying struct {
	Time          time.Time     `json:"time"`
	Kind          string        `json:"msg"`
	Stage         string        `json:"stage"`
	Dispatch      string        `json:"dispatch"`
	Outcome       string        `json:"outcome"`
	Verdict       string        `json:"verdict"`
	Reason        string        `json:"reason"`
	Bucket        string        `json:"bucket"`
	Op            string        `json:"op"`
	Error         string        `json:"error"`
	Cause         string        `json:"cause"`
	Verb          string        `json:"verb"`
	Subject       string        `json:"subject"`
	WindowSeconds int64         `json:"window_seconds"`
	Retryable     bool          `json:"retryable"`
	Skipped       bool          `json:"skipped"`
	Suspicious    bool          `json:"suspicious"`
	Summary       ports.Summary `json:"summary"`

	process, line string
}

func newWitness(service LiveService, shelf *shelf, spec LiveSpec) *witness {
	w := &witness{service: service, shelf: shelf, tally: wire.NewTally(), stages: map[string]ports.StageID{},
		dispatches: map[ports.StageID][]string{}, requests: map[sim.CallName]int{}, known: map[string]bool{}, logs: []*livelog{{process: "hub"}}}
	for n := range spec.Engines {
		w.logs = append(w.logs, &livelog{process: "e" + strconv.Itoa(n+1)})
	}
	for _, scene := range shelf.scenes {
		for _, stage := range asset.Stages() {
			w.stages[scene.Of(stage).String()] = scene.Of(stage)
		}
	}
	return w
}

// listen counts what was said since it was called last, in the order of time.
func (w *witness) listen() error {
	var all []saying
	for _, l := range w.logs {
		news, err := l.next(w.service.Log(l.process))
		if err != nil {
			return err
		}
		all = append(all, news...)
	}
	slices.SortStableFunc(all, func(a, b saying) int { return a.Time.Compare(b.Time) })
	for _, s := range all {
		w.hear(s)
	}
	events := w.service.Heard()
	for _, text := range events[w.heard:] {
		if err := w.hearEvent(text); err != nil {
			return err
		}
	}
	w.heard = len(events)
	return nil
}

// hearEvent counts a result event, as docs/running.md describes it.
func (w *witness) hearEvent(text []byte) error {
	var e struct {
		ID        string `json:"id"`
		Kind      string `json:"kind"`
		BookID    string `json:"book_id"`
		ChapterID string `json:"chapter_id"`
		SceneID   string `json:"scene_id"`
		Stage     string `json:"stage"`
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("result event %s: %w", text, err)
	}
	stage := ports.SceneID{Book: e.BookID, Chapter: e.ChapterID, Scene: e.SceneID}.Of(e.Stage)
	w.tally.Add("host", consumer.Heard{ResultEvent: ports.ResultEvent{Kind: e.Kind, Stage: stage}, Again: w.known[e.ID]})
	w.known[e.ID] = true
	return nil
}

// next reads the whole lines that have come to a log.
func (l *livelog) next(path string) (list []saying, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the process has not started
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if _, err := file.Seek(l.read, io.SeekStart); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	l.read += int64(len(text))
	for line := range bytes.Lines(text) {
		s := saying{process: l.process, line: string(bytes.TrimSpace(line))}
		if line[0] != '{' {
			continue // a library's own words
		}
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("log of %s: %w: %s", l.process, err, line)
		}
		list = append(list, s)
	}
	return list, nil
}

// hear counts one line.
func (w *witness) hear(s saying) {
	if s.process == "hub" {
		if s.Kind == "request" {
			w.requests[sim.CallName{Task: "?/?", Service: "hub", Verb: s.Verb, Subject: s.Subject}]++
		}
		return
	}
	if s.Kind != "tick" && s.Kind != "refusal" {
		w.said = append(w.said, s.process+" "+s.line)
	}
	stage := w.stages[s.Stage]
	switch s.Kind {
	case "attempt":
		w.dispatches[stage] = append(w.dispatches[stage], s.Dispatch)
		w.tally.Add(s.process, ports.Attempt{Stage: stage})
	case "refusal":
		w.tally.Add(s.process, ports.Refusal{Stage: stage})
	case "job":
		w.tally.Add(s.process, ports.JobOutcome{Stage: stage, Outcome: s.Outcome})
	case "result":
		w.tally.Add(s.process, ports.Result{Stage: stage, Verdict: s.Verdict})
	case "finish":
		w.tally.Add(s.process, ports.Finish{Stage: stage, Reason: s.Reason, Bucket: s.Bucket, WindowSeconds: s.WindowSeconds, Retryable: s.Retryable})
	case "tick":
		w.tally.Add(s.process, ports.Tick{Skipped: s.Skipped, Summary: s.Summary})
	case "pass":
		w.tally.Add(s.process, ports.Pass{Skipped: s.Skipped, Cause: s.Cause, Suspicious: s.Suspicious})
	case "trouble":
		w.tally.Add(s.process, ports.Trouble{Op: s.Op, Err: errors.New(s.Error)})
	}
}

// about is the end of what the engines have said of a subject.
func (w *witness) about(subject string) string {
	if w == nil || w.listen() != nil {
		return "" // it only explains
	}
	var lines []string
	for _, line := range w.said {
		if strings.Contains(line, strconv.Quote(subject)) || subject == "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-saidMost):], "\n")
}

// observe reads a metric of every subject.
func (w *witness) observe(ctx context.Context, e *lang.Expect) ([]seen, error) {
	if err := w.listen(); err != nil {
		return nil, err
	}
	one := func(v lang.Value, err error) ([]seen, error) { return []seen{{e.Subject, v}}, err }
	if v, ok := summed(w.tally, e); ok {
		return one(v, nil)
	}
	switch e.Metric.Name {
	case "requests":
		return one(w.reached(e.Subject, requestName), nil)
	case "calls":
		return one(w.reached(e.Subject, sim.CallName.String), nil)
	case "slots":
		n, err := w.service.Client().ZCount(ctx, keys.Slots(e.Subject), fmt.Sprint(time.Now().UnixMilli()), "+inf").Result()
		return one(count(int(n)), err)
	case "circuit":
		return one(w.circuit(ctx, e.Subject))
	}
	var out []seen
	for _, t := range e.Path.Targets {
		value, err := w.metric(ctx, e.Metric.Name, t)
		if err != nil {
			return nil, err
		}
		out = append(out, seen{e.Path.Subject(t), value})
	}
	return out, nil
}

// reached counts the requests that reached the hub and match a glob.
func (w *witness) reached(glob string, spell func(sim.CallName) string) lang.Value {
	n := 0
	for call, times := range w.requests {
		n += matching(call, times, glob, spell)
	}
	return count(n)
}

// posts counts the requests to post a job of a stage.
func (w *witness) posts(s ports.StageID) lang.Value {
	n := 0
	for call, times := range w.requests {
		if call.Verb == "post" && strings.HasPrefix(call.Subject, s.String()+"/") {
			n += times
		}
	}
	return count(n)
}

// metric reads a metric of one stage, scene or book, as the one of a world is read.
func (w *witness) metric(ctx context.Context, name string, s ports.StageID) (lang.Value, error) {
	if v, ok := counted(w.tally, name, s); ok {
		return v, nil
	}
	db := w.service.Client()
	switch name {
	case "posts":
		return w.posts(s), nil
	case "journal":
		return length(db.XLen(ctx, keys.Journal(s.SceneID)))
	case "finales":
		return length(db.XLen(ctx, keys.Journal(ports.SceneID{Book: s.Book})))
	case "undelivered":
		return length(db.LLen(ctx, keys.Events(s.SceneID)))
	case "progress":
		n, err := db.Get(ctx, keys.ImageProgress(s.SceneID)).Int()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return count(n), err
	case "indexed":
		is, err := db.SIsMember(ctx, keys.ActiveScenes(), keys.SceneMember(s.SceneID)).Result()
		return yesNo(is), err
	case "leased":
		n, err := db.Exists(ctx, keys.Lease(s)).Result()
		return yesNo(n == 1), err
	case "artifacts":
		n, err := w.shelf.whole(ctx, s)
		return count(n), err
	case "placeholder":
		file, _, err := w.shelf.tree.Stat(ctx, keys.ScenePath(s.SceneID, s.Stage))
		return yesNo(file.Placeholder), err
	case "marks":
		return w.marks(ctx, s.SceneID)
	case "jobs":
		return w.jobs(s)
	case "budget":
		return w.budget(ctx, s)
	}
	return w.stored(ctx, name, s)
}

// stored is a metric of what Redis has of a stage.
func (w *witness) stored(ctx context.Context, name string, s ports.StageID) (lang.Value, error) {
	view, err := w.shelf.view.ReadStage(ctx, s)
	if err != nil {
		return lang.Value{}, err
	}
	holds := view.Deferral.Holds(view.Intent.Generation, time.Now())
	switch name {
	case "generation":
		return count(int(view.Intent.Generation)), nil
	case "deferred":
		return yesNo(holds), nil
	case "age":
		if !holds {
			return duration(0), nil
		}
		return duration(time.Since(view.Deferral.Since)), nil
	case "state":
		return word(string(cmp.Or(view.State, asset.New))), nil
	}
	panic("scenarios: the metric " + name + " is not in unseen, and not read; add it to metric")
}

func length(cmd *redis.IntCmd) (lang.Value, error) { return count(int(cmd.Val())), cmd.Err() }

// marks counts the dirty marks of a scene.
func (w *witness) marks(ctx context.Context, s ports.SceneID) (lang.Value, error) {
	if w.shelf.pointers == nil {
		return count(0), nil
	}
	marks, err := ports.AllMarks(ctx, w.shelf.pointers, s)
	return count(len(marks)), err
}

// jobs counts the jobs at the hub of all dispatches that a stage has had.
func (w *witness) jobs(s ports.StageID) (lang.Value, error) {
	total := 0
	for _, dispatch := range w.dispatches[s] {
		n, err := w.service.LiveJobs(dispatch)
		if err != nil {
			return lang.Value{}, err
		}
		total += n
	}
	return count(total), nil
}

// budget is what is left of a retry budget.
func (w *witness) budget(ctx context.Context, s ports.StageID) (lang.Value, error) {
	hash, err := w.service.Client().HGetAll(ctx, keys.Budget(s)).Result()
	return budget(wire.Budget(hash, asset.ProfileOf(s.Stage), time.Now())), err
}

// circuit is the state of the breaker of a stage type.
func (w *witness) circuit(ctx context.Context, stage string) (lang.Value, error) {
	hash, err := w.service.Client().HGetAll(ctx, keys.Breaker(stage)).Result()
	return word(wire.Circuit(hash, asset.ProfileOf(stage), time.Now())), err
}
