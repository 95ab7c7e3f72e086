package lang_test

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

func vet(src string) (*lang.Program, error) {
	f, err := syntax.Parse("x.sim", []byte(src))
	if err != nil {
		return nil, err
	}
	return lang.Vet(f)
}

// head is what the bodies of tests stand on: three lines.
const head = "scenario test\nengines 2\nbook b1 scenes=2\n"

// step vets one statement below head and returns it.
func step(t *testing.T, statement string) lang.Step {
	t.Helper()
	p, err := vet(head + statement + "\nrun 1h\n")
	require.NoError(t, err)
	require.Len(t, p.Steps, 4)
	return p.Steps[2]
}

func TestExamplesOfTheDesignVet(t *testing.T) {
	for _, name := range []string{"capacity", "ids", "ambiguous"} {
		src, err := os.ReadFile("../syntax/testdata/" + name + ".sim")
		require.NoError(t, err)
		p, err := vet(string(src))
		require.NoError(t, err, name)
		require.NotEmpty(t, p.Name)
		require.NotEmpty(t, p.Steps)
	}
}

func TestEveryExampleOfTheRegistryVets(t *testing.T) {
	const files = "scenario test\nengines 2\nbook b1 scenes=2 stages=audio,image,video\n"
	for _, v := range lang.Verbs() {
		src := files + v.Example + "\nrun 1h\n"
		if v.Once {
			src = strings.Replace(src, map[string]string{"scenario": "scenario test\n", "engines": "engines 2\n"}[v.Name], "", 1)
		}
		if v.Name == "scenario" {
			src = v.Example + "\nengines 2\nbook b1\n"
		}
		_, err := vet(src)
		require.NoError(t, err, "verb %s:\n%s", v.Name, src)
		require.True(t, strings.Contains(v.Example, v.Name+" "), "the example of %s shows another verb", v.Name)
	}
	for _, m := range lang.Metrics() {
		p, err := vet(files + "expect " + m.Name + " " + m.Example)
		require.NoError(t, err, "metric %s", m.Name)
		require.Equal(t, m, p.Steps[2].Expect.Metric)
	}
	for _, e := range lang.Effects() {
		service, keys := e.Service, ""
		if service == "" {
			service = "redis"
		}
		for _, k := range e.AllKeys() {
			keys += " " + k + "=" + map[string]string{"delay": "5s", "when": "after", "status": "404", "first": "2", "key": "k", "code": "job_timeout"}[k]
		}
		p, err := vet(files + "fault " + service + " " + e.Name + keys)
		require.NoError(t, err, "effect %s of %s", e.Name, service)
		require.Equal(t, e, p.Steps[2].Effect)
	}
}

func TestHeader(t *testing.T) {
	p, err := vet(`scenario "what it shows" origin="audit 117 M1" seed=1..3,9`)
	require.NoError(t, err)
	require.Equal(t, "what it shows", p.Name)
	require.Equal(t, "audit 117 M1", p.Origin)
	require.Equal(t, []uint64{1, 2, 3, 9}, p.Seeds)
	p, err = vet("scenario x")
	require.NoError(t, err)
	require.Equal(t, []uint64{1}, p.Seeds)
	require.Empty(t, p.Steps)
}

func TestBooks(t *testing.T) {
	p, err := vet("scenario x\nbook \"a:b\" chapters=c1,\"b:c1\" scenes=2 units=0 state=ready\nbook b1\n")
	require.NoError(t, err)
	require.Equal(t, []lang.Book{
		{ID: "a:b", Chapters: []string{"c1", "b:c1"}, Scenes: []string{"s1", "s2"}, Stages: []string{"image"}, Units: 0, Segments: 1, Groups: 1, State: asset.Ready},
		{ID: "b1", Chapters: []string{"c1"}, Scenes: []string{"s1"}, Stages: []string{"image"}, Units: 1, Segments: 1, Groups: 1, State: asset.New},
	}, p.Books)
}

func TestNames(t *testing.T) {
	for text, want := range map[string][]string{`2`: {"s1", "s2"}, `1,2`: {"1", "2"}, `"-3"`: {"-3"}, `"1..3",x`: {"1..3", "x"}, `2a,3-b,e3`: {"2a", "3-b", "e3"}} {
		require.Equal(t, want, step(t, "book b2 scenes="+text).Args.Names("scenes"), text)
	}
}

func TestArgs(t *testing.T) {
	a := step(t, "workers job=20s..60s image=2").Args
	require.Equal(t, int64(2), a.Count("image"))
	require.Equal(t, lang.DurationRange{Min: 20 * time.Second, Max: time.Minute}, a.DurationRange("job"))
	require.False(t, step(t, "workers image=1").Args.Has("job"))
	require.Equal(t, time.Minute, step(t, "workers image=1").Args.DurationRange("job").Max, "the default")
	require.Equal(t, []string{"job", "image"}, a.Given())
	require.Panics(t, func() { a.Count("imgae") }, "a name that is not declared")
	require.Panics(t, func() { a.Text("image") }, "another type than declared")

	a = step(t, "fault hub post lost rate=20% nth=2.. until=2m").Args
	require.Equal(t, []string{"hub", "post", "", "lost"}, []string{a.Text("service"), a.Text("verb"), a.Text("subject"), a.Text("effect")})
	require.InDelta(t, 0.2, a.Percent("rate"), 1e-9)
	require.Equal(t, lang.CountRange{Min: 2, Max: math.MaxInt64}, a.CountRange("nth"))
	require.Equal(t, 2*time.Minute, a.Duration("until"))

	a = step(t, `fault redis "begin" "a:b"/c1/* refuse`).Args
	require.Equal(t, `"a:b"/c1/*`, a.Text("subject"), "a glob keeps its quotes")

	a = step(t, `preload hash "k\x00" f=v "ttl"="a b" ttl=5s`).Args
	require.Equal(t, []lang.Field{{Name: "f", Value: "v"}, {Name: "ttl", Value: "a b"}}, a.Fields())
	require.Equal(t, "k\x00", a.Text("key"))
	require.Equal(t, 5*time.Second, a.Duration("ttl"))
	require.Equal(t, []string{"x", "y"}, step(t, "preload set k x y").Args.Texts("value"))

	a = step(t, "evict redis dispatch-lease b1/c1/*:image").Args
	require.Len(t, a.Path("key").Targets, 2)
	require.Equal(t, "k", step(t, "evict k").Args.Text("key"))
	require.Equal(t, -5*time.Second, step(t, "clock e2 offset=-5s").Args.Duration("offset"))
	require.True(t, step(t, "request b1 force=yes").Args.YesNo("force"))
}

func TestTimes(t *testing.T) {
	s := step(t, "at 55s fault hub lost")
	require.Equal(t, 55*time.Second, *s.At)
	s = step(t, "every 5s until 1m cancel b1")
	require.Nil(t, s.At)
	require.Equal(t, [2]time.Duration{5 * time.Second, time.Minute}, [2]time.Duration{s.Every, s.Until})

	_, err := vet(head + "run 10s\nat 10s crash e1\nsettle within=1m\nat 5s restart e1\n")
	require.NoError(t, err, "after settle nobody knows the time")
}

func TestPaths(t *testing.T) {
	id := func(s string) ports.StageID {
		c := append(strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == ':' }), "", "", "")
		return ports.SceneID{Book: c[0], Chapter: c[1], Scene: c[2]}.Of(c[3])
	}
	for _, c := range []struct {
		statement string
		level     lang.Level
		want      string
	}{
		{"request b1", lang.LevelBook, "b1"},
		{"request *", lang.LevelBook, "b1 b2"},
		{"request b2/d1", lang.LevelChapter, "b2/d1"},
		{"request b2/*", lang.LevelScene, "b2/d1/s1 b2/d2/s1"},
		{"request */*", lang.LevelScene, "b1/c1/s1 b1/c1/s2 b2/d1/s1 b2/d2/s1"},
		{"request */d1/s1", lang.LevelScene, "b2/d1/s1"},
		{"request b1/c1/s2", lang.LevelScene, "b1/c1/s2"},
		{"request b1/*:image", lang.LevelStage, "b1/c1/s1:image b1/c1/s2:image"},
		{"request b1/*/s2:*", lang.LevelStage, "b1/c1/s2:image"},
		{"request *:image", lang.LevelStage, "b1/c1/s1:image b1/c1/s2:image b2/d1/s1:image b2/d2/s1:image"},
		{"clear deferrals b2/d2/*", lang.LevelScene, "b2/d2/s1"},
		{"evict redis budget *", lang.LevelStage, "b1/c1/s1:image b1/c1/s2:image b2/d1/s1:image b2/d2/s1:image"},
		{"evict redis budget b1/*", lang.LevelStage, "b1/c1/s1:image b1/c1/s2:image"},
	} {
		p, err := vet("scenario x\nbook b1 scenes=2\nbook b2 chapters=d1,d2\n" + c.statement)
		require.NoError(t, err, c.statement)
		name := "path"
		if strings.HasPrefix(c.statement, "evict") {
			name = "key"
		}
		path := p.Steps[2].Args.Path(name)
		var want []ports.StageID
		for _, s := range strings.Fields(c.want) {
			want = append(want, id(s))
		}
		require.Equal(t, want, path.Targets, c.statement)
		require.Equal(t, c.level, path.Level, c.statement)
	}
	_, err := vet("scenario x\nbook \"*\" chapters=\"a/b\" scenes=\"s:1\"\nbook b\ncancel \"*\"/\"a/b\"/\"s:1\":image\n")
	require.NoError(t, err, "quoted components are literal")
}

func TestExpect(t *testing.T) {
	e := step(t, "expect attempts b1/*:image = 8..9 within=5s").Expect
	require.Equal(t, "attempts", e.Metric.Name)
	require.Len(t, e.Path.Targets, 2)
	require.Equal(t, "= 8..9", e.Want.String())
	for n, want := range map[int64]bool{7: false, 8: true, 9: true, 10: false} {
		require.Equal(t, want, e.Want.Holds(lang.Value{Count: n}), n)
	}
	holds := func(condition string, v lang.Value) bool { return step(t, "expect "+condition).Expect.Want.Holds(v) }
	yes := lang.Value{Kind: lang.KindYesNo, Yes: true}
	require.True(t, holds("leased b1/c1/s1:image", yes))
	require.False(t, holds("leased b1/c1/s1:image = no", yes))
	require.True(t, holds("leased b1/c1/s1:image != no", yes))
	ready := lang.Value{Kind: lang.KindWord, Word: "ready"}
	require.True(t, holds("state b1/c1/s1:image = ready", ready))
	require.True(t, holds("state b1/c1/s1:image != failed", ready))
	full := lang.Value{Count: 10, Word: "full"}
	require.True(t, holds("budget b1/c1/s1:image = full", full))
	require.True(t, holds("budget b1/c1/s1:image > 9", full))
	require.False(t, holds("budget b1/c1/s1:image = full", lang.Value{Count: 9}))
	minute := lang.Value{Kind: lang.KindDuration, Duration: time.Minute}
	require.True(t, holds("window b1/c1/s1:image = 60s", minute))
	require.True(t, holds("age b1/c1/s1:image <= 1m", minute))
	require.False(t, holds("age b1/c1/s1:image < 1m", minute))
	require.True(t, holds("calls = 3", lang.Value{Count: 3}))

	require.Equal(t, []string{"yes", "ready", "full", "1m0s", "3"}, []string{
		yes.String(), ready.String(), full.String(), minute.String(), lang.Value{Count: 3}.String()})
	require.Equal(t, "e1", step(t, "show tick.active e1").Expect.Subject)
	require.Nil(t, step(t, "show trace b1*").Expect)
}

// FuzzVet: whatever parses is vetted without a panic.
func FuzzVet(f *testing.F) {
	for _, v := range lang.Verbs() {
		f.Add(head + v.Example + "\nrun 1h\n")
	}
	for _, m := range lang.Metrics() {
		f.Add(head + "expect " + m.Name + " " + m.Example)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, err := vet(src)
		require.Equal(t, err == nil, p != nil)
	})
}
