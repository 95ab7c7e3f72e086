package scenarios

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/bookdir"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
)

// LiveService is the service of one scenario, run for real by somebody else.
type LiveService interface {
	// Ask runs a client command of the engine, such as `request`, with its arguments.
	Ask(ctx context.Context, verb string, args ...string) error
	// Client is a client of the service's own Redis.
	Client() redis.UniversalClient
	// Stands says whether a whole file stands at a path of the artifact tree.
	Stands(path string) (bool, error)
	// Leftovers lists what is left of dispatches, in Redis and at the hub.
	Leftovers(ctx context.Context) ([]string, error)
	// Close ends it.
	Close() error
}

// LiveSpec is what a scenario says of its service before its clock starts.
type LiveSpec struct {
	Books          map[string][]byte // manifests, by the name of the file
	Engines        int
	Workers        map[string]int // by stage
	JobMin, JobMax time.Duration
	Tick           time.Duration  // 0: the published one
	Slots          map[string]int // by stage, where they are not the published ones
}

const (
	liveAtOnce  = 4               // most of a live run is waiting
	liveRunMax  = 2 * time.Minute // real time that the `run` statements of a scenario may take
	liveGrace   = 5 * time.Second // for what a world does at the instant itself
	liveAskTime = 30 * time.Second
)

// liveMetrics are the metrics that can be read from outside.
var liveMetrics = []string{"artifacts", "attempts", "deferred", "generation", "indexed", "journal", "leased", "reason", "slots", "state"}

// SweepLive runs programs on real services, in real time, and checks what they expect. One
// that needs what only a world has is left out, and it says why. It returns the exit status.
func SweepLive(programs []*lang.Program, o Options, start func(LiveSpec) (LiveService, error)) int {
	began := time.Now()
	results := make([]*Result, len(programs))
	var all sync.WaitGroup
	places := make(chan struct{}, liveAtOnce)
	for i, p := range programs {
		if why := notLive(p); why != "" {
			fmt.Fprintf(o.Stdout, "left out  %s: %s\n", p.File.Name, why)
			continue
		}
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			results[i] = runLive(p, start)
		})
	}
	all.Wait()
	rep := newReporter(o.Format, o.Stdout)
	var sum summary
	for i, p := range programs {
		if results[i] != nil {
			sum.add(results[i : i+1])
			rep.scenario(p.File.Name, p.Name, results[i:i+1])
		}
	}
	sum.wall = time.Since(began)
	rep.end(sum)
	switch {
	case sum.runs == 0:
		fmt.Fprintln(o.Stderr, "sim: no scenario of these can run live")
		return ExitUsage
	case sum.broken:
		return ExitHarness
	case sum.failed > 0:
		return ExitFailed
	}
	return ExitPassed
}

// notLive says what keeps a scenario from a live run, or "".
func notLive(p *lang.Program) string {
	begun, workers, total := false, 0, time.Duration(0)
	for _, b := range p.Books {
		if b.State != asset.New && b.State != "" {
			return "book " + b.ID + " begins with a past"
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		begun = begun || s.Verb.Phase == lang.Flow
		switch s.Verb.Name {
		case "book", "engines", "property", "request", "regenerate", "reset", "cancel", "delete", "settle":
		case "workers":
			if workers++; workers > 1 || begun || s.At != nil || s.Args.Has("workspace") {
				return "its workers change, or are private"
			}
		case "config":
			for _, setting := range s.Args.Given() {
				if setting != "tick" && !strings.HasPrefix(setting, "slots.") {
					return "config changes " + setting
				}
			}
		case "run":
			total += s.Args.Duration("duration")
		case "expect":
			if !slices.Contains(liveMetrics, s.Expect.Metric.Name) {
				return "it expects " + s.Expect.Metric.Name + ", which cannot be read from outside"
			}
		default:
			return "it has a " + s.Verb.Name
		}
		if s.Every > 0 {
			return "it has an every"
		}
	}
	if total > liveRunMax {
		return fmt.Sprintf("it runs for %s, more than %s", total, liveRunMax)
	}
	return ""
}

// liveRun is one scenario under way.
type liveRun struct {
	ctx     context.Context
	service LiveService
	view    *store.Store
	scenes  map[ports.SceneID]ports.Scene
	res     *Result
	began   time.Time
	due     []*lang.Step // with a time, and not done
}

// runLive runs a scenario once. A live run has no seed.
func runLive(p *lang.Program, start func(LiveSpec) (LiveService, error)) *Result {
	r := &liveRun{ctx: context.Background(), scenes: map[ports.SceneID]ports.Scene{}, began: time.Now(),
		res: &Result{File: p.File.Name, Scenario: p.Name, Live: true, Outcome: Passed}}
	spec, err := r.spec(p)
	if err != nil {
		r.broken("no manifest", err)
		return r.res
	}
	if r.service, err = start(spec); err != nil {
		r.broken("the service did not start", err)
		return r.res
	}
	r.view = store.New(r.service.Client())
	r.began = time.Now()
	for i := range p.Steps {
		if s := &p.Steps[i]; s.At != nil {
			r.due = append(r.due, s)
		} else {
			r.do(s)
		}
	}
	if err := r.service.Close(); err != nil {
		r.broken("the service did not end", err)
	}
	r.res.Virtual = time.Since(r.began)
	r.res.Wall = r.res.Virtual
	return r.res
}

// spec collects what stands above the first `run`.
func (r *liveRun) spec(p *lang.Program) (LiveSpec, error) {
	spec := LiveSpec{Books: map[string][]byte{}, Engines: 1, Workers: map[string]int{}, Slots: map[string]int{}, JobMin: time.Second, JobMax: time.Second}
	w := wire.New(wire.Options{}) // knows how a book is cut into scenes
	defer w.Close()
	for _, b := range p.Books {
		w.AddBook(wire.Book{ID: b.ID, Chapters: b.Chapters, Scenes: b.Scenes, Stages: b.Stages, Units: b.Units, Segments: b.Segments,
			Groups: b.Groups, Workspace: b.Workspace, State: asset.New})
	}
	books := map[string][]ports.Scene{}
	for _, id := range w.Content.All() {
		scene, _ := w.Content.Get(id)
		r.scenes[id] = scene
		books[id.Book] = append(books[id.Book], scene)
	}
	for id, scenes := range books {
		text, err := bookdir.Manifest(scenes)
		if err != nil {
			return spec, err
		}
		spec.Books[bookdir.FileName(id)] = text
	}
	for i := range p.Steps {
		switch s := &p.Steps[i]; s.Verb.Name {
		case "engines":
			spec.Engines = int(s.Args.Count("count"))
		case "config":
			if s.Args.Has("tick") {
				spec.Tick = s.Args.Duration("tick")
			}
			for _, stage := range asset.Stages() {
				if s.Args.Has("slots." + stage) {
					spec.Slots[stage] = int(s.Args.Count("slots." + stage))
				}
			}
		case "workers":
			d := s.Args.DurationRange("job")
			spec.JobMin, spec.JobMax = d.Min, d.Max
			for _, stage := range asset.Stages() {
				if s.Args.Has(stage) {
					spec.Workers[stage] = int(s.Args.Count(stage))
				}
			}
		}
	}
	return spec, nil
}

func (r *liveRun) fail(f Failure) {
	f.At = time.Since(r.began)
	r.res.Failures = append(r.res.Failures, f)
	if r.res.Outcome == Passed {
		r.res.Outcome = Failed
	}
}

func (r *liveRun) broken(what string, err error) {
	r.fail(Failure{What: what, Saw: err.Error()})
	r.res.Outcome = Broken
}

func (r *liveRun) do(s *lang.Step) {
	switch s.Verb.Name {
	case "request", "regenerate", "reset", "cancel", "delete":
		r.intent(s)
	case "run":
		r.until(time.Now().Add(s.Args.Duration("duration")), nil)
	case "settle":
		r.settle(s)
	case "expect":
		r.expect(s)
	}
}

// intent asks for every target of a path, and insists for a while, as the client of a
// world does.
func (r *liveRun) intent(s *lang.Step) {
	for _, t := range s.Args.Path("path").Targets {
		args := []string{"--chapter=" + t.Chapter, "--scene=" + t.Scene, "--stage=" + t.Stage}
		if s.Verb.Name == "request" && s.Args.YesNo("force") {
			args = append(args, "--force")
		}
		args = append(args, "--", t.Book)
		err := r.service.Ask(r.ctx, s.Verb.Name, args...)
		for until := time.Now().Add(liveAskTime); err != nil && time.Now().Before(until); err = r.service.Ask(r.ctx, s.Verb.Name, args...) {
			time.Sleep(time.Second)
		}
		if err != nil {
			r.fail(Failure{Pos: s.Stmt.Pos, What: s.Verb.Name, Subject: t.String(), Saw: err.Error()})
		}
	}
}

// until lets time pass, with what is due in it, up to an instant or until stop says so.
func (r *liveRun) until(end time.Time, stop func() bool) {
	for {
		for _, s := range slices.Clone(r.due) {
			if time.Since(r.began) >= *s.At {
				r.due = slices.DeleteFunc(r.due, func(o *lang.Step) bool { return o == s })
				r.do(s)
			}
		}
		if stop != nil && stop() || !time.Now().Before(end) {
			return
		}
		time.Sleep(min(50*time.Millisecond, max(0, time.Until(end))))
	}
}

// settle waits until every stage that was asked for is done, and nothing is left of the
// dispatches.
func (r *liveRun) settle(s *lang.Step) {
	saw := ""
	r.until(time.Now().Add(s.Args.Duration("within")), func() bool {
		saw = r.unsettled()
		return saw == ""
	})
	if saw != "" {
		r.fail(Failure{Pos: s.Stmt.Pos, What: "settle", Saw: saw})
	}
}

// unsettled says what is not done, or left; "" if nothing is.
func (r *liveRun) unsettled() string {
	if len(r.due) > 0 {
		return "statements that are not due yet"
	}
	views, err := r.views()
	if err != nil {
		return err.Error()
	}
	for _, v := range views {
		for _, st := range v.Stages {
			if st.Intent.Active() && !v.Cancelled && !asset.Done(st.State, true) {
				return fmt.Sprintf("%s is %s", st.Stage, st.State)
			}
		}
	}
	left, err := r.service.Leftovers(r.ctx)
	if err != nil || len(left) > 0 {
		return fmt.Sprintf("left: %v %v", left, err)
	}
	return ""
}

func (r *liveRun) views() ([]store.SceneView, error) {
	var list []ports.SceneID
	for id := range r.scenes {
		list = append(list, id)
	}
	slices.SortFunc(list, ports.SceneID.Compare)
	return r.view.ReadScenes(r.ctx, list, asset.Stages())
}

// expect looks, and again for a little while: what a world does at one instant takes time.
func (r *liveRun) expect(s *lang.Step) {
	e := s.Expect
	var wrong []seen
	var err error
	r.until(time.Now().Add(max(liveGrace, s.Args.Duration("within"))), func() bool {
		wrong = nil
		var all []seen
		if all, err = r.observe(e); err != nil {
			return false
		}
		for _, o := range all {
			if !e.Want.Holds(o.value) {
				wrong = append(wrong, o)
			}
		}
		return len(wrong) == 0
	})
	what := "expect " + e.Metric.Name + " " + e.Want.String()
	if err != nil {
		r.fail(Failure{Pos: s.Stmt.Pos, What: what, Saw: err.Error()})
	}
	for _, o := range wrong {
		r.fail(Failure{Pos: s.Stmt.Pos, What: what, Subject: o.subject, Saw: o.value.String()})
	}
}

// observe reads a metric of every subject.
func (r *liveRun) observe(e *lang.Expect) ([]seen, error) {
	if e.Metric.Name == "slots" {
		n, err := r.service.Client().ZCount(r.ctx, keys.Slots(e.Subject), fmt.Sprint(time.Now().UnixMilli()), "+inf").Result()
		return []seen{{e.Subject, count(int(n))}}, err
	}
	var out []seen
	for _, t := range e.Path.Targets {
		subject := t.SceneID.String()
		if e.Path.Level == lang.LevelStage {
			subject = t.String()
		}
		value, err := r.metric(e.Metric.Name, t)
		if err != nil {
			return nil, err
		}
		out = append(out, seen{subject, value})
	}
	return out, nil
}

// metric reads a metric of one stage or scene, as the one of a world is read.
func (r *liveRun) metric(name string, s ports.StageID) (lang.Value, error) {
	db := r.service.Client()
	switch name {
	case "journal":
		n, err := db.XLen(r.ctx, keys.Journal(s.SceneID)).Result()
		return count(int(n)), err
	case "indexed":
		is, err := db.SIsMember(r.ctx, keys.ActiveScenes(), keys.SceneMember(s.SceneID)).Result()
		return yesNo(is), err
	case "leased":
		n, err := db.Exists(r.ctx, keys.Lease(s)).Result()
		return yesNo(n == 1), err
	case "artifacts":
		return r.artifacts(s)
	}
	view, err := r.view.ReadStage(r.ctx, s)
	if err != nil {
		return lang.Value{}, err
	}
	switch name {
	case "attempts":
		return count(int(view.Fence)), nil // each begin takes the next
	case "generation":
		return count(int(view.Intent.Generation)), nil
	case "deferred":
		return yesNo(view.Deferral.Holds(view.Intent.Generation, time.Now())), nil
	case "reason":
		return word(orNone(view.Reason)), nil
	case "state":
		if view.State == "" {
			view.State = asset.New
		}
		return word(string(view.State)), nil
	}
	panic("scenarios: the metric " + name + " is in liveMetrics and not read; add it to metric")
}

// artifacts counts the whole files of a stage, as World.WholeArtifacts does.
func (r *liveRun) artifacts(s ports.StageID) (lang.Value, error) {
	scene := r.scenes[s.SceneID]
	paths := []string{keys.ScenePath(s.SceneID, s.Stage)}
	add := func(unit string) { paths = append(paths, keys.ArtifactPath(s.SceneID, s.Stage, unit)) }
	switch s.Stage {
	case asset.Audio:
		for _, u := range scene.Segments {
			add(u.ID)
		}
	case asset.Image:
		for _, u := range scene.Units {
			add(u.ID)
		}
	case asset.Video:
		for _, g := range scene.Groups {
			add(g.ID)
		}
	}
	n := 0
	for _, path := range paths {
		stands, err := r.service.Stands(path)
		if err != nil {
			return lang.Value{}, err
		}
		if stands {
			n++
		}
	}
	return count(n), nil
}
