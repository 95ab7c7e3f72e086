package lang

import (
	"math"
	"slices"
	"strconv"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/ports"
)

var setupVerbs = []*Verb{
	{
		Name: "scenario", Once: true,
		Summary: "Names the scenario. It is the first statement of every file.",
		Detail:  "`seed` is used unless the command line says `--seed` or `--seeds`.",
		Params:  []Param{need("name", typeText, "what it shows, in one sentence")},
		Keys: []Param{
			opt("origin", typeText, "where the story comes from: a defect, an audit"),
			def("seed", typeSeeds, "1", "seeds to run it with"),
		},
		Example: `scenario "a capacity gap is bounded churn" origin="stage 115 D3" seed=1..10`,
		check:   func(v *vetter, s *Step) { v.header(s) },
	},
	{
		Name:    "book",
		Summary: "Puts a book with its chapters, scenes and units into the content.",
		Detail:  "Every chapter has the same scenes, every scene the same units and stages.",
		Params:  []Param{need("id", typeID, "")},
		Keys: []Param{
			def("chapters", names("c", 1, 1000), "1", ""),
			def("scenes", names("s", 1, 20_000), "1", "of each chapter"),
			def("stages", typeStages, asset.Image, "enabled layers"),
			def("units", counts(0, 1000), "1", "image units of each scene: `u1`, `u2`, …"),
			def("segments", counts(0, 9999), "1", "segments of its audio text: `0001`, `0002`, …"),
			def("groups", counts(0, 1000), "1", "runs of its units that its video is made of: `g1`, `g2`, …"),
			opt("later", names("s", 1, 20_000), "scenes of each chapter that are not there until an `insert`"),
			opt("workspace", typeWorkspace, "whose private workers may serve it, too"),
			def("state", words("new", "pending", "ready", "dirty", "failed"), "new", "of every stage; `ready` comes with its artifacts"),
			def("canonical", typeYesNo, "no", "of an engine that is versioned: its pictures are of the time before, and not published"),
		},
		Example: `book b2 chapters=x,"b:c1" scenes=2 units=3`,
		check:   checkBook,
	},
	{
		Name: "workers", Phase: Action,
		Summary: "Says how many GPU workers of a type live, and how long their jobs take.",
		Detail:  "Said again, it starts or stops workers: processes `image-1`, `image-2`, … Without it there are none. A type that it does not name stays as it is. Those of workspace w1 are `image-w1-1`, …",
		Keys: []Param{
			opt("audio", counts(0, 1000), "workers of this type"),
			opt("image", counts(0, 1000), "workers of this type"),
			opt("video", counts(0, 1000), "workers of this type"),
			def("job", typeDurationRange, "20s..60s", "how long a job of the types named takes"),
			opt("workspace", typeWorkspace, "whose private workers they are; without it they serve every book"),
			opt("shared", typeDuration, "for how long from now on everybody may use private ones"),
		},
		Example: "workers image=2 job=20s..60s\nworkers image=1 workspace=w1 shared=10m\nat 5m workers image=0",
		check: func(v *vetter, s *Step) {
			if !slices.ContainsFunc(asset.Stages(), s.Args.Has) {
				v.fail(s.Stmt.Verb, "as in workers image=2", "workers of which type?")
			}
			if s.Args.Has("shared") && !s.Args.Has("workspace") {
				v.fail(s.arg("shared"), "as in workers image=1 workspace=w1 shared=10m", "only the workers of a workspace can be shared")
			}
		},
	},
	{
		Name: "engines", Once: true,
		Summary: "Says how many replicas of the engine run: processes `e1`, `e2`, …",
		Detail:  "Without it there is one.",
		Params:  []Param{need("count", counts(1, 64), "")},
		Example: "engines 2",
		check:   func(v *vetter, s *Step) { v.engines = int(s.Args.Count("count")) },
	},
	{
		Name: "hub", Phase: Action,
		Summary: "Says what kind of hub it is.",
		Keys: []Param{
			def("fences", typeYesNo, "yes", "it refuses a job with a lower fence than it has seen"),
			def("scope", words("echo", "absent", "foreign"), "echo", "the scope in its answer to a queue clear"),
			def("capacity", typeCount, strconv.Itoa(math.MaxInt32), "jobs it holds before it answers 503"),
		},
		Example: "hub scope=absent capacity=10",
		check:   someKey,
	},
	{
		Name:    "config",
		Summary: "Changes settings of the engine; all others are those of production.",
		Keys: append([]Param{
			opt("tick", typePeriod, "period of the tick"),
			opt("renew", typePeriod, "period of the renewals"),
			opt("window", counts(1, 1000), "scenes of a book that may be under way at once; without it, all"),
			opt("versioned", typeYesNo, "pictures are published in the pointer store, where their dirty marks and the tombstones of books stand, too; without it the store is never called"),
		}, stageSettings()...),
		Example: "config slots.image=2 tick=10s",
		check:   someKey,
	},
	{
		Name:    "latency",
		Usage:   "none | latency SERVICE=DURATIONS...",
		Summary: "Says how long calls take. `none` makes them free and orders them by the seed alone.",
		Params:  []Param{opt("none", words("none"), "")},
		Keys: []Param{
			opt("redis", typeDurationRange, ""), opt("hub", typeDurationRange, ""), opt("callback", typeDurationRange, ""),
			opt("content", typeDurationRange, ""), opt("artifacts", typeDurationRange, ""), opt("media", typeDurationRange, ""), opt("consumer", typeDurationRange, ""),
			opt("pg", typeDurationRange, ""),
		},
		Example: "latency redis=50us..2ms hub=1ms..30ms",
		check: func(v *vetter, s *Step) {
			if n := len(s.Args.Given()); n == 0 || s.Args.Has("none") && n > 1 {
				v.fail(s.Stmt.Verb, "as in latency hub=1ms..30ms", "latency takes none, or ranges by service")
			}
		},
	},
	{
		Name: "preload", Phase: Action, FreeKeys: true,
		Usage:   "string KEY VALUE [ttl=D] | hash KEY FIELD=VALUE... | zset KEY MEMBER=SCORE... | set KEY MEMBER...",
		Summary: "Writes a raw value into Redis: what an older version, an operator or a defect left behind.",
		Detail:  "A field or member that is no plain word is quoted. `ttl=` is the key's, for every type; a field of that name is written `\"ttl\"=`.",
		Params: []Param{
			need("type", words("string", "hash", "zset", "set"), ""), need("key", typeText, ""),
			{Name: "value", Type: typeText, Optional: true, Repeated: true},
		},
		Keys:    []Param{opt("ttl", typeDuration, "time to live of the key")},
		Example: "preload string \"animastor:dispatch-lease:b1:c1:s1:image\" \"nobody\" ttl=60s\npreload zset animastor:runtime:slots:image \"gone\"=1000",
		check:   checkPreload,
	},
	{
		Name: "property", Usage: `ID on|off ["REASON"]`,
		Summary: "Switches a property off, with the reason, or on.",
		Params: []Param{
			need("id", words(properties...), "the property"), need("switch", words("on", "off"), ""),
			opt("reason", typeText, "needed by off"),
		},
		Example: `property slots off "the slots are preloaded wrong on purpose"`,
		check: func(v *vetter, s *Step) {
			if s.Args.Text("switch") == "off" && s.Args.Text("reason") == "" {
				v.fail(s.arg("switch"), `as in property slots off "why"`, "a reason is missing after off")
			}
		},
	},
	{
		Name: "replay", Once: true,
		Summary: "Marks a recorded run: the first recorded fault whose call does not come is reported.",
		Params:  []Param{need("mode", words("strict"), "")},
		Example: "replay strict",
	},
}

// stageSettings are the settings that each stage has for itself.
func stageSettings() (list []Param) {
	for _, stage := range asset.Stages() {
		list = append(list,
			opt("slots."+stage, counts(1, 1000), "dispatches that may be live at once"),
			opt("lease."+stage, typePeriod, "time to live of lease and dispatch record"),
			opt("budget."+stage, typeCount, "tokens of the retry budget"),
			opt("refill."+stage, typePeriod, "time in which one token comes back"),
			opt("trip."+stage, counts(1, 1000), "failures within the window that open the circuit"),
			opt("window."+stage, typePeriod, "how long a failure counts"),
			opt("cooldown."+stage, typePeriod, "how long the circuit is open, before it is half-open"),
			opt("permits."+stage, counts(1, 1000), "dispatches that a half-open circuit lets through at once"))
	}
	return list
}

// properties are the ids of design 6 that are built.
var properties = []string{
	"bounded-churn", "key-encoding", "classification", "pass-abort", "single-owner", "slots", "finish-once", "one-job", "fresh-deferral",
	"fair-accounting", "isolation", "no-lost-work", "evidence", "unknown-is-not-absent", "true-ready", "cancel", "permits", "timers", "bounded-store", "result-events", "exact-sweep",
	"one-finale", "fairness", "replay",
}

// someKey demands at least one key.
func someKey(v *vetter, s *Step) {
	if len(s.Args.Given()) == 0 {
		v.fail(s.Stmt.Verb, "usage: "+s.Verb.UsageLine(), "%s says nothing", s.Verb.Name)
	}
}

// scenesMax bounds what one book may hold.
const scenesMax = 20_000

func checkBook(v *vetter, s *Step) {
	b := Book{
		ID: s.Args.Text("id"), Chapters: s.Args.Names("chapters"), Scenes: s.Args.Names("scenes"),
		Stages: s.Args.Names("stages"), Units: int(s.Args.Count("units")), Segments: int(s.Args.Count("segments")),
		Groups: int(s.Args.Count("groups")), Workspace: s.Args.Text("workspace"), State: asset.State(s.Args.Text("state")), Canonical: s.Args.YesNo("canonical"),
		Later: s.Args.Names("later"),
	}
	for _, name := range b.Later {
		if !slices.Contains(b.Scenes, name) {
			v.fail(s.arg("later"), "name it in scenes=, too, where it is to stand", "the book has no scene %s", ports.Quote(name))
		}
	}
	for _, other := range v.books {
		if other.ID == b.ID {
			v.fail(s.arg("id"), "", "the book %s is declared already", ports.Quote(b.ID))
			return
		}
	}
	if n := len(b.Chapters) * len(b.Scenes); n > scenesMax {
		v.fail(s.arg("id"), "", "%d scenes are too many: a book holds at most %d", n, scenesMax)
		return
	}
	v.books = append(v.books, b)
}

func checkPreload(v *vetter, s *Step) {
	values, fields := len(s.Args.Texts("value")), len(s.Args.Fields())
	kind := s.Args.Text("type")
	ok := map[string]bool{
		"string": values == 1 && fields == 0,
		"set":    values > 0 && fields == 0,
		"hash":   values == 0 && fields > 0,
		"zset":   values == 0 && fields > 0,
	}[kind]
	if !ok {
		v.fail(s.arg("type"), "usage: preload "+s.Verb.Usage, "preload %s does not take that", kind)
	}
	for _, f := range s.Args.Fields() {
		if _, err := strconv.ParseFloat(f.Value, 64); err != nil && kind == "zset" {
			v.fail(s.arg("type"), "as in "+ports.Quote(f.Name)+"=1000", "bad score %s", f.Value)
		}
	}
}
