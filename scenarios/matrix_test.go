package scenarios_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/internal/race"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// life is one way that a dispatch can go, from the request to READY.
type life struct {
	name   string
	stages string   // of the book
	victim string   // the process that is stopped
	extra  string   // what happens beside the request; it fires without a draw, so that a stop leaves its past as it was
	makes  []string // calls that the victim must make in it, by service and verb
}

// lives make, taken together, every call that a dispatch can lead to.
var lives = []life{
	{"plain", "image", "e1", "", []string{"redis.pipeline", "redis.begin", "redis.admit", "hub.post", "redis.mark", "redis.hgetall", "redis.renew",
		"redis.accept", "redis.claim", "redis.finish", "redis.retire", "redis.lrange", "redis.drain", "redis.lock", "redis.unlock",
		"content.scene", "artifacts.stat"}},
	{"lost post", "image", "e1", "fault hub post lost nth=1", []string{"hub.job"}},
	{"job lost by the hub", "image", "e1", "at 20s restart hub", []string{"hub.dispatch", "hub.post"}},
	{"dropped callbacks", "image", "e1", "fault callback deliver drop", []string{"hub.dispatch", "redis.accept"}},
	{"adopted dispatch", "image", "e1", "fault redis mark crash when=after nth=1 on=e2", []string{"redis.adopt", "redis.admit", "redis.finish"}},
	{"lost dispatch", "image", "e1", "fault redis admit crash when=after nth=1 on=e2", []string{"redis.adopt", "hub.clear", "redis.finish"}},
	{"orphan completion marker", "image", "e1", `preload hash "animastor:task-done:image:b1:c1:s1:u1:1" generation=1 fence=1 dispatch=gone at=1`, []string{"redis.release"}},
	{"receipt left over", "image", "e1", `preload hash "animastor:receipt:image:b1:c1:s1:u1:1" generation=1 fence=1 dispatch=gone payload=p at=1`, []string{"redis.forget", "hub.clear"}},
	{"no worker at first", "image", "e1", "fault hub post busy nth=1..2", []string{"redis.begin", "redis.finish"}},
	{"failed job", "image", "e1", "fault worker run oom nth=1", []string{"redis.accept", "redis.finish"}},
	{"state lost", "image", "e1", "at 300ms evict redis asset-state b1/c1/s1", []string{"redis.restore"}},
	{"asked for again", "image", "api", "at 20s regenerate b1", []string{"redis.intent", "hub.clear"}},
	{"all layers", "audio,image,video", "e1", "", []string{"redis.begin", "hub.post", "redis.claim", "media.merge", "redis.finish"}},
	{"merge fails at first", "audio", "e1", "fault media merge refuse nth=1", []string{"media.merge", "redis.hgetall"}},
	{"failed group", "image,video", "e1", "fault worker run b1/c1/s1:video/g1 oom nth=1", []string{"media.merge", "redis.accept"}},
	{"new pictures in mid-video", "image,video", "e1", "at 75s regenerate b1/c1/s1:image", []string{"media.merge", "redis.begin"}},
	{"all layers asked for again", "audio,image,video", "api", "at 20s regenerate b1", []string{"redis.intent", "hub.clear"}},
}

// point is a call of a life: one at which its victim is stopped.
type point struct {
	name string // service.verb, and what kind of subject it is about: the same for calls that do the same
	n    int    // of the calls of that name
	call string // the whole name
	at   time.Duration
}

// The calls of a name at which a process is stopped, the first ones of a life; the
// matrix of crashes takes more of them with -matrix.calls=100.
var callsOfAName = flag.Int("matrix.calls", 2, "stop a process at so many calls of each name")

// A process that crashes at any call of a dispatch's life, before it or after it, and
// starts again 20 s later, leaves a world in which everything holds and all is done.
func TestCrashAtEveryCall(t *testing.T) {
	matrix(t, *callsOfAName, 500, crash)
}

func crash(l life, p point, when string) string {
	text := fmt.Sprintf("fault    call=%q crash when=%s\n", p.call, when)
	if l.victim != "api" { // the client comes back by itself
		text += fmt.Sprintf("at %s restart %s\n", p.at+20*time.Second, l.victim)
	}
	return text
}

// The same for a process that stands still for longer than it takes others to adopt
// its dispatches.
func TestPauseAtEveryCall(t *testing.T) {
	matrix(t, 1, 200, func(l life, p point, when string) string {
		return fmt.Sprintf("fault    call=%q pause delay=4m when=%s\n", p.call, when)
	})
}

// Where nobody takes a dispatch over whose holder has died, a crash shows it.
func TestCrashesFindWhatIsNotTakenOver(t *testing.T) {
	l := lives[0]
	seed, all := l.observe(t)
	broken := func(twins map[string]redis.Twin) {
		twins["adopt"] = func(*redis.DB, []string, []string) (any, error) { return []string{"fresh", "0", "0", "0", "0"}, nil }
	}
	found := slices.ContainsFunc(all, func(p point) bool {
		r := play(t, l.text(seed, crash(l, p, "after"), p.at+30*time.Second), uint64(seed), broken)
		return slices.ContainsFunc(r.Failures, func(f scenarios.Failure) bool { return f.What == "property no-lost-work" })
	})
	require.True(t, found, "no crash after any of %d calls leaves work undone", len(all))
}

// matrix stops the victim of each life at the first calls of each name, before and after.
func matrix(t *testing.T, calls, atLeast int, stop func(l life, p point, when string) string) {
	lives := lives
	if race.Enabled {
		lives, calls, atLeast = lives[:1], 1, 30
	}
	var points atomic.Int64
	names := map[string]bool{}
	t.Run("lives", func(t *testing.T) {
		for _, l := range lives {
			seed, all := l.observe(t)
			named := byName(all)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				names[name] = true
				list := named[name]
				t.Run(l.name+"/"+name, func(t *testing.T) {
					t.Parallel()
					for _, p := range list[:min(calls, len(list))] {
						for _, when := range []string{"before", "after"} {
							points.Add(1)
							l.stopAt(t, seed, p, when, stop(l, p, when))
						}
					}
				})
			}
		}
	})
	t.Logf("stopped a process at %d points: before and after calls of %d names in %d lives: %s",
		points.Load(), len(names), len(lives), strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	require.GreaterOrEqual(t, points.Load(), int64(atLeast), "the lives have become too short")
}

// text is the life as a scenario, with what befalls the victim.
func (l life) text(seed int, stop string, run time.Duration) []byte {
	var workers, slots strings.Builder
	for _, kind := range strings.Split(l.stages, ",") {
		fmt.Fprintf(&workers, "workers  %s=2 job=20s..60s\n", kind)
		fmt.Fprintf(&slots, "expect   slots   %s = 0\n", kind)
	}
	f, err := syntax.Parse("life.sim", fmt.Appendf(nil, `scenario %q seed=%d
book     b1 stages=%s units=2 segments=2 groups=2
%sengines  2
%s%s
request  b1
run      %s
settle   within=30m
expect   state   b1/*:* = ready
expect   leased  b1/*:* = no
expect   jobs    b1/*:* = 0
%sexpect   indexed b1/* = no within=1m
`, l.name, seed, l.stages, &workers, stop, l.extra, run, &slots))
	if err != nil {
		panic(err)
	}
	return syntax.Format(f)
}

// observe finds a seed with which the victim makes the calls that the life is about, and
// lists all its calls up to the time at which its work is done.
func (l life) observe(t *testing.T) (seed int, all []point) {
	for seed = 1; seed <= 100; seed++ {
		r := play(t, l.text(seed, "", 10*time.Minute), uint64(seed), nil)
		require.Equal(t, scenarios.Passed, r.Outcome, "%s, undisturbed: %v", l.name, r.Failures)
		if all = l.calls(r); l.made(all) {
			return seed, all
		}
	}
	t.Fatalf("%s: with no seed does %s make the calls %v", l.name, l.victim, l.makes)
	return 0, nil
}

func play(t *testing.T, text []byte, seed uint64, twins func(map[string]redis.Twin)) *scenarios.Result {
	f, err := syntax.Parse("life.sim", text)
	require.NoError(t, err, "%s", text)
	p, err := lang.Vet(f)
	require.NoError(t, err, "%s", text)
	return scenarios.RunProgram(p, seed, scenarios.RunOptions{Twins: twins})
}

// calls are the calls of the victim up to 10 s after the last finish: the journal has
// been told by then, and the scene has left the index.
func (l life) calls(r *scenarios.Result) (all []point) {
	var end time.Duration
	for _, e := range r.Trace.Last(r.Trace.Len()) {
		if _, finished := e.Data.(ports.Finish); finished {
			end = e.At + 10*time.Second
		}
	}
	seen, named := map[string]int{}, map[string]int{}
	for _, e := range r.Trace.Last(r.Trace.Len()) {
		if e.Kind != "call" || e.At > end || !strings.HasPrefix(e.Process, l.victim+"/") {
			continue
		}
		verb, _, _ := strings.Cut(e.Detail, " ")
		call, name := strings.TrimSpace(e.Process+" "+verb+" "+e.Subject), verb+kind(e.Subject)
		seen[call]++
		named[name]++
		all = append(all, point{name, named[name], fmt.Sprintf("%s #%d", call, seen[call]), e.At})
	}
	return all
}

// kind is what kind of thing a call is about.
func kind(subject string) string {
	_, stage, ofStage := strings.Cut(subject, ":")
	switch {
	case ofStage && strings.Contains(stage, "/"):
		return " unit"
	case ofStage:
		return " stage"
	case strings.Contains(subject, "/"):
		return " scene"
	case subject == "b1":
		return " book"
	case subject != "":
		return " " + subject
	}
	return ""
}

func (l life) made(all []point) bool {
	for _, verb := range l.makes {
		if !slices.ContainsFunc(all, func(p point) bool { name, _, _ := strings.Cut(p.name, " "); return name == verb }) {
			return false
		}
	}
	return true
}

func byName(all []point) map[string][]point {
	names := map[string][]point{}
	for _, p := range all {
		names[p.name] = append(names[p.name], p)
	}
	return names
}

// stopAt lives the life with a stop at a point, and demands that all is well in the end.
func (l life) stopAt(t *testing.T, seed int, p point, when, stop string) {
	text := l.text(seed, stop, p.at+30*time.Second)
	r := play(t, text, uint64(seed), nil)
	missed := slices.ContainsFunc(r.Unfired, func(rule string) bool {
		return strings.HasSuffix(rule, ": crash") || strings.HasSuffix(rule, ": pause")
	})
	if r.Outcome == scenarios.Passed && !missed {
		return
	}
	file := filepath.Join("testdata", "failures", strings.NewReplacer(" ", "-", "/", "-", ".", "-").Replace(fmt.Sprintf("%s-%s-%d-%s", l.name, p.name, p.n, when))+lang.Ext)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, text, 0o644))
	t.Errorf("%s %s, in the life %q: %v; missed: %t\nrerun: go run ./cmd/sim run scenarios/%s", when, p.call, l.name, r.Failures, missed, filepath.ToSlash(file))
}
