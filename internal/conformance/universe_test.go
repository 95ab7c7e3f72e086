package conformance

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
)

// universe is one stage and all that the engine's scripts find of it in Redis.
type universe struct {
	stage      asset.StageID
	jobs       []string
	dispatches []string
	holders    []string
}

// universes differ in their ids: plain ones, and some that patterns would trip over.
var universes = []universe{
	newUniverse("b", "c", "s", []string{"d1", "d2"}, []string{"h1", "h2"}),
	newUniverse("[a-b]*", `?\`, "x:y/%{}\r\n\"é", []string{"*", `[d]\`}, []string{"", "h\x00"}),
}

func newUniverse(book, chapter, scene string, dispatches, holders []string) universe {
	stage := asset.SceneID{Book: book, Chapter: chapter, Scene: scene}.Of(asset.Image)
	return universe{stage, []string{keys.Job(stage, "u1", 3), keys.Job(stage, "u2*", 3)}, dispatches, holders}
}

// value is a key and what it may hold: for a hash the values of each field, for others
// members or elements (of a zset with scores).
type value struct {
	key, typ string
	fields   []field
}

type field struct {
	name   string
	values []string
}

// often is a list in which one value stands for most of the draws.
func often(usual string, others ...string) []string {
	return append(slices.Repeat([]string{usual}, 12), others...)
}

// instants are times around a case's base and around what the scripts add to it.
var instants = []string{"@-3600000", "@-90001", "@-90000", "@-89997", "@-1", "@0", "@2", "@3", "@4", "@59999", "@600000"}

// hostile values break naive parsing; most are no number, or not one of ours.
var hostile = []string{
	"", "0", "-1", "007", "1e3", "0x10", " 3", "3 ", "nan", "inf", "1_0", "99999999999999999999", "999999999999999", "1000000000000000",
	"a|b", "|||||", "ready|", "Ä", "\x00", "\xff\xfe", "%s%d",
}

// stageFields are the fields of the hash asset-state.
func (u universe) stageFields() []field {
	numbers, one := often("3", "2", "4"), []string{"1"}
	return []field{
		{"image.state", []string{"pending", "pending", "pending", "dirty", "generating", "generating", "ready", "failed", "new", "placeholder"}},
		{"image.dispatch", often(u.dispatches[0], u.dispatches[1], "", "", "", "", "")},
		{"image.holder", often(u.holders[0], u.holders[1])},
		{"image.fence", often("5", "4")},
		{"image.generation", numbers},
		{"image.version", one},
		{"image.mark", []string{"9"}},
		{"image.renewed", instants},
		{"image.started", instants},
		{"image.claim", u.holders},
		{"image.claim_until", instants},
		{"image.idle", []string{"0", "1", "2", "3", "5", "70"}},
		{"image.next", instants},
		{"image.reason", []string{"lost"}},
		{"image.floor", numbers},
		{"audio.state", []string{"ready", "pending"}},
		{"image.cancelled", often("", "1")},
		{"video.state", []string{"pending", "dirty", "generating", "ready", "failed"}},
		{"video.dispatch", often("", "d2")},
		{"video.reason", []string{"blocked_by_image", "lost"}},
		{"video.cancelled", often("", "1")},
	}
}

// video is the stage that waits for the universe's own.
func (u universe) video() asset.StageID { return u.stage.Of(asset.Video) }

// values are all keys of the universe.
func (u universe) values() []value {
	one, numbers, scene := []string{"1"}, often("3", "2", "4"), u.stage.SceneID
	receipt := []field{
		{"dispatch", u.dispatches}, {"payload", []string{"p", "q"}}, {"generation", numbers}, {"fence", numbers}, {"at", instants}, {"released", one},
	}
	holders := []field{{u.dispatches[0], instants}, {u.dispatches[1], instants}, {"d3", instants}}
	jobs := []string{"outstanding", "posting", "sent", "unknown", "done|r", "failed|x|y", "done"}
	all := []value{
		{keys.AssetState(scene), "hash", u.stageFields()},
		{keys.Intent(u.stage), "hash", []field{
			{"generation", numbers}, {"status", often("active", "cancelled", "deleted")}, {"force", one}, {"at", instants}, {"scope", []string{"x:3", "x:2"}},
		}},
		{keys.Intent(u.video()), "hash", []field{{"generation", numbers}, {"status", often("active", "cancelled", "deleted")}}},
		{keys.Lease(u.stage), "string", []field{{"", u.dispatches}}},
		{keys.Dispatch(u.stage), "hash", []field{{"dispatch_id", u.dispatches}, {"holder", u.holders}}},
		{keys.Slots(asset.Image), "zset", holders},
		{keys.Breaker(asset.Image), "hash", []field{{"opened_at", append([]string{"0"}, instants...)}, {"hold", often("closed", "open")}}},
		{keys.BreakerFailures(asset.Image), "zset", holders},
		{keys.BreakerPermits(asset.Image), "zset", holders},
		{keys.Purges(), "zset", holders},
		{keys.Deferred(u.stage), "string", []field{{"", []string{
			"r|capacity|3|d1|1|@59999", "r|capacity|3|d1|1|@2", "r|capacity|2|d1|1|@600000", "r|capacity|3|d1|1|@-1", "r|capacity|3|d1|1", "r|c|3|d|1|@600000|x",
		}}}},
		{keys.DeferredOf(u.stage.Book), "zset", []field{{keys.BookStageMember(u.stage), instants}, {"x", instants}}},
		{keys.Budget(u.stage), "hash", []field{{"tokens", []string{"0", "1", "2", "9", "10"}}, {"at", instants}}},
		{keys.Scope(u.stage.Book), "hash", []field{
			{"id", often("x", "y")}, {"rev", often("4", "5")}, {"last", often("3", "4")}, {"window", []string{"0", "2"}}, {"order:::", []string{"1|request|0"}},
			{"order:" + keys.BookStageMember(u.stage), []string{"3|cancel|0"}}, {"scene:" + keys.BookSceneMember(scene), []string{"3|claimed"}},
		}},
		{keys.OpenScopes(), "set", []field{{"", []string{keys.BookMember(u.stage.Book), "x"}}}},
		{keys.Cancel(u.stage.Book), "string", []field{{"", one}}},
		{keys.ActiveScenes(), "set", []field{{"", []string{keys.SceneMember(scene), "x"}}}},
		{keys.ScenesOf(u.stage.Book), "set", []field{{"", []string{keys.BookSceneMember(scene), "x"}}}},
		{keys.Outbox(), "list", []field{{"", []string{"l1", "l2"}}, {"", []string{"l2"}}}},
		{keys.Events(scene), "list", []field{{"", []string{"l1", "l2"}}, {"", []string{"l2"}}}},
		{keys.Undelivered(), "zset", []field{{keys.SceneMember(scene), instants}, {"x", instants}}},
		{keys.Journal(scene), "stream", []field{{"event", []string{"e"}}}},
		{keys.CleanupLock(), "string", []field{{"", []string{u.holders[0] + "|3", u.holders[0] + "|4", u.holders[1] + "|3", u.holders[0], u.holders[0] + "|x"}}}},
		{keys.TaskDone(u.jobs[0]), "hash", []field{{"dispatch", u.dispatches}}},
		{keys.TaskDone(u.jobs[1]), "hash", []field{{"dispatch", u.dispatches}}},
		{keys.Receipt(u.jobs[0]), "hash", receipt},
		{keys.Receipt(u.jobs[1]), "hash", receipt},
		{keys.DispatchJobs(newDispatch), "hash", nil},
		{keys.DispatchCompleted(u.stage, "none"), "string", nil},
	}
	for _, d := range u.dispatches {
		all = append(all,
			value{keys.DispatchJobs(d), "hash", []field{{u.jobs[0], jobs}, {u.jobs[1], jobs}}},
			value{keys.DispatchCompleted(u.stage, d), "string", []field{{"", []string{"ready|1"}}}})
	}
	return all
}

// newDispatch is a dispatch that begin may create.
const newDispatch = "d9"

// keys are the names of all keys of the universe.
func (u universe) keys() (names []string) {
	for _, v := range u.values() {
		names = append(names, v.key)
	}
	return names
}

// odds say how a value is drawn, in percent.
type odds struct{ absent, hostile, wrong int }

// state draws the commands that fill Redis; `@n` is an instant.
func (u universe) state(t *rapid.T) (commands [][]string) {
	usual := oneOf(t, odds{1, 0, 0}, odds{1, 0, 0}, odds{1, 0, 0}, odds{2, 0, 0}, odds{10, 2, 1}, odds{30, 15, 4})
	for _, v := range u.values() {
		o := usual
		switch v.key {
		case keys.Cancel(u.stage.Book):
			o.absent = 90 // or else little else is ever seen
		case keys.Deferred(u.stage), keys.TaskDone(u.jobs[0]), keys.TaskDone(u.jobs[1]), keys.Breaker(asset.Image):
			o.absent = 50
		}
		commands = append(commands, v.set(t, o)...)
	}
	return commands
}

func (v value) set(t *rapid.T, o odds) (commands [][]string) {
	typ := v.typ
	if chance(t, o.wrong) {
		typ = oneOf(t, "string", "hash", "zset", "set", "list", "stream")
	}
	commands = [][]string{{"del", v.key}}
	if chance(t, o.absent) {
		return commands
	}
	for _, f := range v.fields {
		if chance(t, o.absent) {
			continue
		}
		x := oneOf(t, f.values...)
		if typ != "zset" && chance(t, o.hostile) {
			x = oneOf(t, hostile...)
		}
		command := map[string][]string{
			"string": {"set", v.key, x}, "hash": {"hset", v.key, f.name, x}, "zset": {"zadd", v.key, score(x), f.name},
			"set": {"sadd", v.key, x}, "list": {"rpush", v.key, x}, "stream": {"xadd", v.key, "*", "f", x},
		}[typ]
		commands = append(commands, command)
	}
	if len(commands) > 1 && chance(t, 30) {
		commands = append(commands, []string{"pexpireat", v.key, oneOf(t, "@60000", "@2", "@3", "@4", "@5", "@1380000", "@604800000")})
	}
	return commands
}

// score is a value as a score of a sorted set.
func score(x string) string {
	if instant.FindString(x) != x {
		return "1"
	}
	return x
}
