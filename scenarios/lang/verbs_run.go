package lang

import (
	"strings"

	"github.com/animastor/orchestra/scenarios/syntax"
)

var anyPath = paths("PATH", LevelBook, LevelChapter, LevelScene, LevelStage)

// intent makes the entry of an explicit intent.
func intent(name, summary string, keys ...Param) *Verb {
	return &Verb{Name: name, Phase: Action, Summary: summary, Params: []Param{need("path", anyPath, "")}, Keys: keys,
		Detail:  "An explicit intent: it raises the generation of every stage it names and takes away deferral, backoff and spent budget.",
		Example: name + " b1\nat 10s " + name + " b1/*:image"}
}

var intentVerbs = []*Verb{
	intent("request", "Asks for everything under a path.", def("force", typeYesNo, "no", "replace live dispatches of an older generation")),
	intent("regenerate", "Asks for it to be made again, also where it is ready."),
	intent("reset", "Takes it back to the start, as if never made, and asks for it."),
	intent("cancel", "Stops all work on it."),
	intent("delete", "Stops all work on it and removes it."),
	{
		Name: "clear", Phase: Action,
		Summary: "Clears the deferrals of a book or of scenes, as an operator does.",
		Params:  []Param{need("what", words("deferrals"), ""), need("path", paths("PATH", LevelBook, LevelScene), "")},
		Example: "clear deferrals b1",
	},
	{
		Name: "edit", Phase: Action,
		Summary: "Edits the text of scenes: raises the version of their content.",
		Params:  []Param{need("path", paths("PATH", LevelScene), "")},
		Keys: []Param{
			opt("units", typeIDs, "image units and segments that are not what they were; the client then tells the engine, which marks them dirty if it is versioned"),
			def("same", typeYesNo, "no", "the content is what it was: the units are only to be made anew"),
			opt("layers", typeStages, "the layers that are enabled from now on"),
			opt("segments", counts(0, 9999), "cuts the audio text into that many segments"),
			opt("groups", counts(0, 1000), "cuts the units into that many groups"),
		},
		Example: "at 10s edit b1/c1/s1\nat 20s edit b1/c1/s1 units=u1,u2",
	},
	{
		Name: "reconcile", Phase: Action,
		Summary: "Lets an operator make a reconcile pass now, on the client.",
		Keys:    []Param{def("force", typeYesNo, "no", "it also does what it would find suspicious")},
		Example: "at 5m reconcile force=yes",
	},
	{
		Name: "insert", Phase: Action,
		Summary: "Puts scenes that `book` declared with `later=` into the content, where they stand in its list.",
		Params:  []Param{need("path", paths("PATH", LevelScene), "")},
		Example: "at 10s insert b1/c1/s2",
	},
}

var faultVerbs = []*Verb{
	{
		Name: "fault", Phase: Action,
		Usage:   `SERVICE [VERB [SUBJECT]] EFFECT [nth=COUNTS] [rate=PERCENT] [count=COUNT] [for=DURATION | until=DURATION] [delay=DURATION] [when=before|after] [status=COUNT] [first=COUNT] [key=TEXT] [code=CODE] [on=PROCESS] | fault call="NAME" EFFECT`,
		Summary: "Adds a rule to the fault plan. The first rule in the file that fires decides.",
		Detail: "VERB and SUBJECT are globs on the name of a call, `process/task service.verb subject #n`. A rule that never fires is reported. " +
			"The form with `call=` names one call; it is how a run is recorded. The call in the middle of a job is `worker.run`, made by the worker: there crash, hang and slow are the worker's. Services: `" + strings.Join(services, "` `") + "`.",
		Params: []Param{
			opt("service", words(services...), "whose calls"), opt("verb", typeGlob, ""), opt("subject", typeGlob, ""),
			need("effect", typeText, "what happens to them"),
		},
		Keys: []Param{
			opt("nth", typeCountRange, "only the n-th matching call, from 1"),
			opt("rate", typePercent, "this part of them, drawn from the seed"),
			opt("count", counts(1, 1<<31), "at most so often"),
			opt("for", typeDuration, "the rule ends after this time"),
			opt("until", typeDuration, "the rule ends at this time"),
			opt("delay", typeDuration, "of slow, late, pause and delay"),
			def("when", words("before", "after"), "before", "of crash and pause: before or after the call is carried out"),
			opt("status", counts(400, 599), "of reject: the HTTP status"),
			opt("first", typeCount, "of cut: how many commands get through"),
			opt("key", typeText, "of evict: the key, if not the command's first"),
			opt("code", typeCode, "of fail: the failure code"),
			opt("on", typeProcess, "only calls of this process"),
			opt("call", typeText, "the one call, by its name"),
		},
		Example: "fault hub post lost rate=20% until=2m\nat 55s fault redis begin b1/* crash when=after nth=2.. on=e1\nfault call=\"e1/dispatch hub.post b1/c1/s1:image/u2 #1\" lost",
		check:   checkFault,
	},
	{
		Name: "evict", Phase: Action, Usage: `redis FAMILY PATH | evict "KEY"`,
		Summary: "Removes keys from Redis, as memory pressure does.",
		Detail: "Families of a stage: `" + strings.Join(families[LevelStage], "` `") + "`; of a scene: `" + strings.Join(families[LevelScene], "` `") + "`; of a book: `" + strings.Join(families[LevelBook], "` `") + "`.\n\n" +
			"The engine mends what can be known from elsewhere. An `intent` cannot: a stage that is not done then must be asked for again, or `settle` is late (`no-lost-work`, `one-finale`); " +
			"so must the scenes that an evicted `scope` had not started. The index, and a scene that has left it, are rebuilt once an hour: till then `no-lost-work` breaks, and is to be switched off. Of an evicted `asset-state` the old dispatch leaves keys for the length of a lease.",
		Params: []Param{
			opt("service", words("redis"), ""), opt("family", typeText, "the key's name after `animastor:`"),
			need("key", typeText, "the whole key; beside a family, the path it is of"),
		},
		Example: "at 30s evict redis dispatch-lease b1/c1/s1:image\nevict \"animastor:active-scenes\"",
		check:   checkEvict,
	},
	{
		Name: "lose", Phase: Action,
		Summary: "Takes files out of the artifact tree, as a broken disk does.",
		Detail:  "All files of the stages: of their units and of the scene.",
		Params:  []Param{need("path", paths("PATH", LevelStage), "")},
		Keys:    []Param{opt("units", typeIDs, "the files of these units alone")},
		Example: "at 5m lose b1/*:image units=u1",
	},
	{
		Name: "failover", Phase: Action,
		Summary: "Puts a replica in the place of Redis, to which the last writes have not come.",
		Detail:  "The keys of the last `lose` calls that wrote are as they were before them, and Redis knows no scripts. Nothing is killed. What was asked for and lost is not wanted any more: nobody can know of it.",
		Keys:    []Param{def("lose", counts(0, FailoverMax), "0", "calls that are lost")},
		Example: "at 30s failover lose=5",
	},
	process("crash", "Kills a process. With `for` it is restarted after that time.", opt("for", typeDuration, "until it is restarted")),
	process("restart", "Starts a process that crashed, or crashes and starts one that lives."),
	process("pause", "Stops a process in its tracks, as a long garbage collection or a suspended host does.", need("for", typeDuration, "")),
	process("clock", "Sets the clock of a process off from that of the world.", need("offset", typeOffset, "")),
	{
		Name: "heal", Phase: Action,
		Summary: "Ends the rules of the fault plan, of one service or of all.",
		Params:  []Param{opt("service", words(services...), "")},
		Example: "at 2m heal hub",
	},
}

func process(name, summary string, keys ...Param) *Verb {
	v := &Verb{Name: name, Phase: Action, Summary: summary, Params: []Param{need("process", typeProcess, "")}, Keys: keys, Example: "at 30s " + name + " e1"}
	for _, k := range keys {
		v.Example += " " + k.Name + "=5s"
	}
	return v
}

// FailoverMax is how many calls a failover can lose.
const FailoverMax = 1000

// families are the keys of schema 2 that belong to one book, scene or stage.
var families = map[Level][]string{
	LevelBook:  {"deferred-of", "scenes-of", "cancel", "force-dispatch", "scope"},
	LevelScene: {"asset-state", "iu-progress", "event-journal"},
	LevelStage: {"intent", "dispatch-lease", "dispatch", "dispatch-jobs", "deferred", "budget"},
}

// checkEvict reads the path beside a family; Args.Path("key") returns it.
func checkEvict(v *vetter, s *Step) {
	if !s.Args.Has("service") {
		return
	}
	family := s.arg("family")
	if family.Raw == "" {
		v.fail(s.arg("service"), "usage: evict "+s.Verb.Usage, "a family is missing after redis")
		return
	}
	var known []string
	for _, level := range []Level{LevelStage, LevelScene, LevelBook} {
		for _, f := range families[level] {
			if f != family.Raw {
				continue
			}
			path, err := paths("PATH", level).parse(&v.scope, s.arg("key"))
			if err != nil {
				v.add(err)
			}
			s.Args.values["key"] = path
			return
		}
		known = append(known, families[level]...)
	}
	v.fail(family, suggestOr(family.Raw, known, "sim help evict lists them"), "unknown family %s", family.Raw)
}

var flowVerbs = []*Verb{
	{
		Name: "run", Phase: Flow,
		Summary: "Lets virtual time pass.",
		Params:  []Param{need("duration", typeDuration, "")},
		Example: "run 500s",
		check:   func(v *vetter, s *Step) { v.run(s) },
	},
	{
		Name: "settle", Phase: Flow,
		Summary: "Heals all faults without an end of their own, and runs on until every requested, enabled stage is done.",
		Detail:  "Being late is a failure of `no-lost-work`, or of `one-finale` if all is done and the host was not told so yet, which takes some seconds more.",
		Keys:    []Param{need("within", typeDuration, "")},
		Example: "settle within=15m",
		check:   func(v *vetter, s *Step) { v.settle() },
	},
	{
		Name: "expect", Phase: Flow, Usage: "METRIC [SUBJECT] [OP VALUE] [within=DURATION]",
		Summary: "Says what must be true here, of every subject and for every seed.",
		Detail: "It looks after all events of its instant. OP is one of `= != < <= > >=`; `=` and `!=` take a range, too. " +
			"Without OP the answer must be yes. With `within` it waits that long for it to become true.",
		Keys:    []Param{opt("within", typeDuration, "")},
		Example: "expect attempts b1/c1/s1:image = 0\nexpect deferred b1/*:image = no\nexpect state b1/*:image = ready within=10m",
		bind:    bindExpect,
	},
	{
		Name: "show", Phase: Flow, Usage: "METRIC [SUBJECT] | show trace [GLOB] | show redis [GLOB]",
		Summary: "Prints a metric, the trace so far, or keys of Redis with their values.",
		Detail:  "A golden block (`----` to `----`) may follow: then what is shown must equal it, with the seeds of the file; another shows another run.",
		Params:  []Param{opt("what", words("trace", "redis"), ""), opt("glob", typeGlob, "on the lines of the trace, or on keys")},
		Example: "show state b1/*:image\nshow redis animastor:runtime:*",
		bind:    bindShow,
	},
}

// bindShow binds `METRIC [SUBJECT]`, or `trace` or `redis` to Params.
func bindShow(v *vetter, s *Step, operands []syntax.Word) {
	switch {
	case len(operands) == 0:
		v.fail(s.Stmt.Verb, "usage: show "+s.Verb.Usage, "show says nothing")
	case operands[0].Raw == "trace" || operands[0].Raw == "redis":
		v.operands(s, operands)
	default:
		s.Expect = v.metric(operands)
	}
}
