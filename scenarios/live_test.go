package scenarios

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
	"github.com/animastor/orchestra/ports/bookdir"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
	"github.com/animastor/orchestra/scenarios/wire"
)

// program vets a scenario of a book of one scene, b1/c1/s1.
func program(t *testing.T, statements ...string) *lang.Program {
	file, err := syntax.Parse("x.sim", []byte("scenario x\nbook b1\n"+strings.Join(statements, "\n")+"\n"))
	require.NoError(t, err)
	p, err := lang.Vet(file)
	require.NoError(t, err)
	return p
}

// TestLeftOut: each scenario that cannot run live is left out for one reason, and what can is
// not.
func TestLeftOut(t *testing.T) {
	for statements, why := range map[string]string{
		"request b1\nrun 10s\nexpect state b1/*:image = pending": "",
		"config tick=1s slots.image=2 window=3 versioned=yes":    "",
		"at 5s workers image=1 workspace=w1 shared=1m\nrun 10s":  "",
		"every 10s until 1m request b1\nrun 1m":                  "",
		"at 5s edit b1/c1/s1 units=u1\nrun 5s":                   "",
		"clear deferrals b1\nreconcile force=yes":                "",
		"preload zset animastor:runtime:slots:image f=1":         "",
		"evict redis dispatch-lease b1/c1/s1:image":              "",
		"lose b1/*:image":                          "",
		`property slots off "why"`:                 "",
		"show state b1/*:image":                    "",
		"show redis animastor:*scope*\n----\n----": "",
		"expect requests clear* = 0":               "",
		`expect calls "* hub.post *" = 0`:          "",
		"fault hub post lost":                      "it has faults",
		"config renew=5s\nfault hub post lost":     "it has faults",
		"crash e1 for=5s":                          "it crashes a process",
		"restart e1":                               "it crashes a process",
		"pause e1 for=5s":                          "it pauses a process",
		"clock e1 offset=5s":                       "it sets a clock off",
		"latency none":                             "it says how long calls take",
		"failover":                                 "it loses writes of Redis",
		"hub scope=absent":                         "it changes the ways of the hub",
		"config renew=5s":                          "it sets renew, which orchestra serve does not",
		"config lease.image=5m":                    "it sets lease.image, which orchestra serve does not",
		"preload zset animastor:runtime:slots:image f=1767229200000": "it preloads an instant of a world's clock",
		"show trace":                        "it shows a trace, or what one seed gives",
		"show redis\n----\na = 1\n----":     "it shows a trace, or what one seed gives",
		"show state b1/*:image\n----\n----": "it shows a trace, or what one seed gives",
		"expect timed b1/c1/s1 = 1s":        "it asks for timed, which a live run does not read",
		`expect calls "e1/* redis.*" >= 1`:  "it counts calls that only a world sees",
	} {
		require.Equal(t, why, notLive(program(t, statements)), statements)
	}
	for _, m := range lang.Metrics() {
		require.NotPanics(t, func() { metricNotLive(&lang.Expect{Metric: m}) })
	}
}

// TestPlanLive: what takes too long is found out in a world, where a settled one rests for
// nothing; and a plan says what the service must be.
func TestPlanLive(t *testing.T) {
	long := program(t, "workers image=1 job=20s", "run 100s", "request b1", "settle within=5m")
	plans := PlanLive([]*lang.Program{long, program(t, "run 10s", "fault hub post lost")}, 100*time.Second)
	require.Regexp(t, `^it takes 2m[0-9.]+s, more than 1m40s$`, plans[0].LeftOut)
	require.Equal(t, "it has faults", plans[1].LeftOut)
	plans = PlanLive([]*lang.Program{program(t, "run 10s"), long}, 140*time.Second)
	require.Empty(t, plans[0].LeftOut+plans[1].LeftOut, "it rests for 45 s at the end")
	require.Equal(t, []int{1, 0}, liveOrder(plans), "the longest is begun first")

	require.Equal(t, LiveSpec{Name: "x.sim", Engines: 2, Slots: map[string]int{}}, liveSpec(program(t)))
	require.Equal(t, LiveSpec{Name: "x.sim", Engines: 3, Versioned: true, Tick: time.Second, Window: 4, Slots: map[string]int{"image": 5}},
		liveSpec(program(t, "engines 3", "config tick=1s window=4 versioned=yes slots.image=5")))
	require.Equal(t, 1, liveSpec(program(t, "expect passes >= 0")).Engines, "with two there would be twice as many")
}

// stagedService is a service without processes: what they would say is written by the test.
type stagedService struct {
	redis.UniversalClient
	dir    string
	served bool
	one    sync.Mutex // for what follows
	asked  []string
	deaf   int // how often it still fails when it is asked
	jobs   map[string]int
	left   []string
	heard  []string
	crews  []wire.Workers
}

func (s *stagedService) Serve() error                                { s.served = true; return nil }
func (s *stagedService) SetWorkers(w wire.Workers) error             { s.crews = append(s.crews, w); return nil }
func (s *stagedService) Client() redis.UniversalClient               { return s.UniversalClient }
func (s *stagedService) DSN() string                                 { return "" }
func (s *stagedService) Tree() string                                { return filepath.Join(s.dir, "tree") }
func (s *stagedService) Books() string                               { return s.dir }
func (s *stagedService) Log(process string) string                   { return filepath.Join(s.dir, process+".log") }
func (s *stagedService) LiveJobs(dispatch string) (int, error)       { return s.jobs[dispatch], nil }
func (s *stagedService) Leftovers(context.Context) ([]string, error) { return s.left, nil }
func (s *stagedService) Heard() (list [][]byte) {
	for _, e := range s.heard {
		list = append(list, []byte(e))
	}
	return list
}
func (s *stagedService) Close() error { return s.UniversalClient.Close() }

func (s *stagedService) Ask(_ context.Context, verb string, args ...string) error {
	s.one.Lock()
	defer s.one.Unlock()
	if s.deaf--; s.deaf >= 0 {
		return errors.New("409 Conflict: skipped")
	}
	s.asked = append(s.asked, strings.Join(append([]string{verb}, args...), " "))
	return nil
}

func staged(t *testing.T) *stagedService {
	s := &stagedService{dir: t.TempDir(), jobs: map[string]int{}}
	s.UniversalClient = redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr(), Protocol: 2})
	require.NoError(t, os.Mkdir(s.Tree(), 0o755))
	return s
}

// says lets processes write lines: the name first.
func (s *stagedService) says(t *testing.T, lines ...string) {
	for _, line := range lines {
		process, text, _ := strings.Cut(line, " ")
		f, err := os.OpenFile(s.Log(process), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, errors.Join(err, f.Close()))
	}
}

// live runs statements on a staged service.
func live(t *testing.T, s *stagedService, statements ...string) (status int, report string) {
	var out bytes.Buffer
	o := Options{Stdout: &out, Stderr: new(bytes.Buffer)}
	status = SweepLive(PlanLive([]*lang.Program{program(t, statements...)}, time.Minute), o, func(LiveSpec) (LiveService, error) { return s, nil })
	return status, out.String()
}

// TestLiveWitness: what the processes say is counted as the events of a world are, each once,
// and only when its line is whole.
func TestLiveWitness(t *testing.T) {
	s := staged(t)
	s.jobs["d2"] = 1
	for _, e := range []string{`"id":"1","kind":"deferred","stage":"image"`, `"id":"2","kind":"ready","stage":"image"`, `"id":"2","kind":"ready","stage":"image"`, `"id":"3","kind":"scene_ready"`} {
		s.heard = append(s.heard, `{"book_id":"b1","chapter_id":"c1","scene_id":"s1",`+e+`}`)
	}
	s.says(t, "e1 "+`{"time":"2026-01-01T00:00:01Z","msg":"attempt","stage":"b1/c1/s1:image","dispatch":"d1"}`+"\n",
		"e1 "+`{"time":"2026-01-01T00:00:02Z","msg":"job","stage":"b1/c1/s1:image","outcome":"no_worker_available"}`+"\n",
		"e1 "+`{"time":"2026-01-01T00:00:03Z","msg":"finish","stage":"b1/c1/s1:image","reason":"no_worker_available","bucket":"capacity","window_seconds":60,"retryable":true}`+"\n",
		"e2 some library's own words\n",
		"e2 "+`{"time":"2026-01-01T00:00:02Z","msg":"refusal","stage":"b1/c1/s1:image"}`+"\n",
		"e2 "+`{"time":"2026-01-01T00:01:00Z","msg":"attempt","stage":"b1/c1/s1:image","dispatch":"d2"}`+"\n",
		"e2 "+`{"time":"2026-01-01T00:01:01Z","msg":"job","stage":"b1/c1/s1:image","outcome":"sent"}`+"\n",
		"e2 "+`{"time":"2026-01-01T00:01:02Z","msg":"tick","summary":{"Active":3}}`+"\n",
		"e1 "+`{"time":"2026-01-01T00:01:03Z","msg":"tick","skipped":true,"summary":{"Active":9}}`+"\n",
		"e1 "+`{"time":"2026-01-01T00:01:04Z","msg":"pass","suspicious":true}`+"\n",
		"e1 "+`{"time":"2026-01-01T00:01:05Z","msg":"trouble","op":"tick","error":"no Redis"}`+"\n",
		"e1 "+`{"time":"2026-01-01T00:01:06Z","msg":"finish","stage":"b1/c1/s1:`, // not whole yet
		"hub "+`{"msg":"request","verb":"post","subject":"b1/c1/s1:image/u1"}`+"\n"+`{"msg":"request","verb":"clear","subject":"b1"}`+"\n")
	status, report := live(t, s, "engines 2", "expect attempts b1/*:image = 2", "expect finishes b1/*:image = 1", "expect refusals b1/*:image = 1",
		"expect sends b1/*:image = 1", "expect reason b1/*:image = no_worker_available", "expect bucket b1/*:image = capacity",
		"expect window b1/*:image = 60s", "expect retryable b1/*:image", "expect tick.active = 3", "expect tick.active e1 = 0",
		"expect passes suspicious = 1", "expect troubles tick:* = 1", "expect posts b1/*:image = 1", "expect requests clear* = 1",
		`expect calls "* hub.post b1/*" = 1`, "expect jobs b1/*:image = 1",
		"expect told b1/*:image = 2", "expect repeats b1/*:image = 1", "expect news b1/*:image = ready", "expect completions b1/* = 1")
	require.Equal(t, ExitPassed, status, report)
	require.True(t, strings.HasPrefix(report, "ok    x.sim "), report)
	require.Regexp(t, `1 scenarios ran for real in .*: 1 passed, 0 failed; 0 were left out\n$`, report)
}

// TestLiveStore: what Redis and the artifact tree have is read as of a world, and so is a past.
func TestLiveStore(t *testing.T) {
	s := staged(t)
	p := program(t, "book b2 stages=audio segments=2 state=ready")
	tree, err := artifactdir.Open(s.Tree())
	require.NoError(t, err)
	shelf, err := newShelf(s, LivePlan{Program: p})
	require.NoError(t, err)
	w := newWitness(s, shelf, LiveSpec{Engines: 1})
	ctx := context.Background()
	scene := ports.SceneID{Book: "b2", Chapter: "c1", Scene: "s1"}
	see := func(name string, stage ports.StageID) lang.Value {
		v, err := w.metric(ctx, name, stage)
		require.NoError(t, err, name)
		return v
	}
	audio, image := scene.Of("audio"), ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image")
	require.Equal(t, word("ready"), see("state", audio))
	require.Equal(t, count(1), see("generation", audio))
	require.Equal(t, count(3), see("artifacts", audio), "two segments and the whole")
	require.Equal(t, word("new"), see("state", image))
	require.Equal(t, lang.Value{Kind: lang.KindCount, Count: 10, Word: "full"}, see("budget", image))
	require.Equal(t, yesNo(false), see("deferred", image))
	require.Equal(t, duration(0), see("age", image))
	require.Equal(t, count(0), see("progress", image))

	require.NoError(t, shelf.lose(ctx, audio, []string{"0001"}))
	require.Equal(t, count(2), see("artifacts", audio))
	require.NoError(t, shelf.lose(ctx, audio, nil))
	require.Equal(t, count(0), see("artifacts", audio))
	require.NoError(t, tree.Put(ctx, ports.Artifact{Path: keys.ScenePath(scene, "audio"), Placeholder: true}, strings.NewReader("silence")))
	require.Equal(t, count(0), see("artifacts", audio), "a placeholder is none")
	require.Equal(t, yesNo(true), see("placeholder", audio))

	soon := time.Now().Add(time.Minute)
	s.HSet(ctx, keys.Budget(image), "tokens", 3, "at", time.Now().UnixMilli())
	s.HSet(ctx, keys.Intent(image), "generation", 2)
	s.HSet(ctx, keys.Breaker("image"), "opened_at", time.Now().UnixMilli())
	s.ZAdd(ctx, keys.Slots("image"), redis.Z{Score: float64(soon.UnixMilli()), Member: "d1"}, redis.Z{Score: 1, Member: "lapsed"})
	s.Set(ctx, keys.Lease(image), "h", 0)
	s.SAdd(ctx, keys.ActiveScenes(), keys.SceneMember(image.SceneID))
	require.Equal(t, count(3), see("budget", image))
	require.Equal(t, yesNo(true), see("leased", image))
	require.Equal(t, yesNo(true), see("indexed", image))
	for metric, want := range map[string]lang.Value{"circuit image = open": word("open"), "slots image = 1": count(1)} {
		steps := program(t, "expect "+metric).Steps
		all, err := w.observe(ctx, steps[len(steps)-1].Expect)
		require.NoError(t, err)
		require.Equal(t, want, all[0].value, metric)
	}
	todo, err := shelf.todo(ctx)
	require.NoError(t, err)
	require.Empty(t, todo)
	s.SAdd(ctx, keys.OpenScopes(), keys.BookMember("b1"))
	todo, err = shelf.todo(ctx)
	require.NoError(t, err)
	require.Contains(t, todo, "not concluded")
}

// TestLiveSteps: statements are done in their order and at their time, and the client insists.
func TestLiveSteps(t *testing.T) {
	s := staged(t)
	began := time.Now()
	status, report := live(t, s, "workers image=1 audio=2 job=1s..2s", "preload hash k f=1", "preload string k v ttl=1m",
		"preload string animastor:asset-state:b1:c1:s1 garbage", "evict redis asset-state b1/c1/s1", "evict redis dispatch-jobs b1/c1/s1:image", "request b1/c1/s1:image force=yes",
		"at 1s edit b1/c1/s1 units=u1", "every 500ms until 1s clear deferrals b1", "run 1500ms", "evict k", "show redis k\n----\n----", "reconcile force=yes")
	require.Equal(t, ExitPassed, status, report)
	require.Less(t, time.Since(began), 5*time.Second)
	require.Equal(t, []string{"request --force --chapter=c1 --scene=s1 --stage=image -- b1", "clear deferrals -- b1", "edit --chapter=c1 --scene=s1 -- b1",
		"clear deferrals -- b1", "reconcile --force"}, s.asked)
	require.Equal(t, []wire.Workers{{Kind: "audio", N: 2, JobMin: time.Second, JobMax: 2 * time.Second}, {Kind: "image", N: 1, JobMin: time.Second, JobMax: 2 * time.Second}}, s.crews)
	scene, err := bookdir.New(bookdir.Options{Path: s.dir, Stages: []string{"image"}, Chunk: keys.ChunkID}).
		Scene(context.Background(), ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"})
	require.NoError(t, err)
	require.EqualValues(t, 2, scene.Version, "the manifest was edited")
}

// TestLiveInsists: an order that fails goes on beside the scenario, its errors are counted, and
// if it never comes through it fails.
func TestLiveInsists(t *testing.T) {
	s := staged(t)
	s.deaf = 2
	status, report := live(t, s, "request b1", "run 100ms", "cancel b1/c1/s1:image", "settle within=10s", `expect troubles "request: 409*" = 1`, `expect troubles "cancel: 409*" = 1`)
	require.Equal(t, ExitPassed, status, report)
	require.Equal(t, []string{"request -- b1", "cancel --chapter=c1 --scene=s1 --stage=image -- b1"}, s.asked)

	s = staged(t)
	s.deaf = 100
	status, report = live(t, s, "request b1", "run 1200ms")
	require.Equal(t, ExitFailed, status, report)
	require.Contains(t, report, "x.sim:3:1: live, at 1.2s: request\n")
	require.Contains(t, report, "saw  it is still asked for: 409 Conflict: skipped")
}

// TestLiveFails: what does not hold is a failure, with what the processes said of it last.
func TestLiveFails(t *testing.T) {
	s := staged(t)
	s.says(t, "e1 "+`{"time":"2026-01-01T00:00:01Z","msg":"attempt","stage":"b1/c1/s1:image","dispatch":"d1"}`+"\n")
	s.left = []string{"a slot"}
	status, report := live(t, s, "expect attempts b1/*:image = 2", "settle within=1s")
	require.Equal(t, ExitFailed, status)
	require.Contains(t, report, "FAIL  x.sim ")
	require.Contains(t, report, "x.sim:3:1: live, at 5")
	require.Contains(t, report, "of   b1/c1/s1:image\n      saw  1\n           the logs end with\n           e1 {")
	require.Contains(t, report, "settle\n      saw  left: a slot")
	require.Contains(t, report, "rerun: go run ./cmd/sim run --live x.sim\n")
	require.Contains(t, report, ": 0 passed, 1 failed; 0 were left out\n")

	var out, errs bytes.Buffer
	plans := PlanLive([]*lang.Program{program(t, "crash e1")}, time.Minute)
	require.Equal(t, ExitUsage, SweepLive(plans, Options{Stdout: &out, Stderr: &errs}, nil))
	require.Equal(t, "sim: no scenario of these can run live\n", errs.String())
	require.Contains(t, out.String(), "left out  x.sim: it crashes a process\n0 scenarios ran for real")
	for format, want := range map[string]string{"json": `"outcome":"left out","virtual_ms":0,"wall_ms":0,"calls":0,"digest":"","why":"it crashes a process"`,
		"junit": `<skipped message="it crashes a process">`} {
		out.Reset()
		SweepLive(plans, Options{Format: format, Stdout: &out, Stderr: &errs}, nil)
		require.Contains(t, out.String(), want)
	}
}

// TestEveryVerbAndMetric: what the language gets to know is done and read live, or left out.
func TestEveryVerbAndMetric(t *testing.T) {
	vet := func(statements string) *lang.Program {
		file, err := syntax.Parse("x.sim", []byte("scenario x\nengines 2\nbook b1 scenes=2\n"+statements+"\nrun 1h\n"))
		require.NoError(t, err)
		p, err := lang.Vet(file)
		require.NoError(t, err)
		return p
	}
	stage := func(p *lang.Program) *liveRun {
		s := staged(t)
		plan := LivePlan{Program: p, Spec: liveSpec(p)}
		shelf, err := newShelf(s, plan)
		require.NoError(t, err)
		return &liveRun{ctx: context.Background(), plan: plan, service: s, shelf: shelf, witness: newWitness(s, shelf, plan.Spec), res: &Result{Outcome: Passed}}
	}
	done := 0
	for _, v := range lang.Verbs() {
		if _, only := worldOnly[v.Name]; only || v.Phase == lang.Flow || v.Name == "scenario" || v.Name == "engines" {
			continue
		}
		p := vet(v.Example)
		r := stage(p)
		for i := range p.Steps {
			if p.Steps[i].Verb == v && stepNotLive(&p.Steps[i]) == "" {
				require.NotPanics(t, func() { r.do(&p.Steps[i]) }, v.Name)
				require.Empty(t, r.res.Failures, v.Name)
				done++
			}
		}
	}
	require.Greater(t, done, 15)
	for _, m := range lang.Metrics() {
		p := vet("expect " + m.Name + " " + m.Example)
		e := p.Steps[len(p.Steps)-2].Expect
		if metricNotLive(e) != "" {
			continue
		}
		require.NotPanics(t, func() {
			_, err := stage(p).witness.observe(context.Background(), e)
			require.NoError(t, err, m.Name)
		}, m.Name)
	}
}
