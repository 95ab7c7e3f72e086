package universe

import (
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Universe is one stage and all that the engine's scripts find of it in Redis.
type Universe struct {
	Stage      ports.StageID // of a scene whose video waits for it
	Jobs       []string      // two of it
	Dispatches []string      // that may be live
	Holders    []string      // of leases and of locks
}

// NewDispatch is a dispatch that begin may create.
const NewDispatch = "d9"

// All are the universes. They differ in their ids: plain ones, and some that patterns would
// trip over.
var All = []Universe{
	newUniverse("b", "c", "s", []string{"d1", "d2"}, []string{"h1", "h2"}),
	newUniverse("[a-b]*", `?\`, "x:y/%{}\r\n\"é", []string{"*", `[d]\`}, []string{"", "h\x00"}),
}

func newUniverse(book, chapter, scene string, dispatches, holders []string) Universe {
	stage := ports.SceneID{Book: book, Chapter: chapter, Scene: scene}.Of(asset.Image)
	return Universe{stage, []string{keys.Job(stage, "u1", 3), keys.Job(stage, "u2*", 3)}, dispatches, holders}
}

// stageFields are the fields of the hash asset-state.
func (u Universe) stageFields() []field {
	numbers, one := often("3", "2", "4"), []string{"1"}
	return []field{
		{"image.state", []string{"pending", "pending", "pending", "dirty", "generating", "generating", "ready", "failed", "new", "placeholder"}},
		{"image.dispatch", often(u.Dispatches[0], u.Dispatches[1], "", "", "", "", "")},
		{"image.holder", often(u.Holders[0], u.Holders[1])},
		{"image.fence", often("5", "4")},
		{"image.generation", numbers},
		{"image.version", one},
		{"image.mark", []string{"9"}},
		{"image.renewed", instants},
		{"image.started", instants},
		{"image.claim", u.Holders},
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
func (u Universe) video() ports.StageID { return u.Stage.Of(asset.Video) }

// values are all keys of the universe.
func (u Universe) values() []value {
	one, numbers, scene := []string{"1"}, often("3", "2", "4"), u.Stage.SceneID
	receipt := []field{
		{"dispatch", u.Dispatches}, {"payload", []string{"p", "q"}}, {"generation", numbers}, {"fence", numbers}, {"at", instants}, {"released", one},
	}
	holders := []field{{u.Dispatches[0], instants}, {u.Dispatches[1], instants}, {"d3", instants}}
	jobs := []string{"outstanding", "posting", "sent", "unknown", "done|r", "failed|x|y", "done"}
	all := []value{
		{keys.AssetState(scene), "hash", u.stageFields()},
		{keys.Intent(u.Stage), "hash", []field{
			{"generation", numbers}, {"status", often("active", "cancelled", "deleted")}, {"force", one}, {"at", instants}, {"scope", []string{"x:3", "x:2"}},
		}},
		{keys.Intent(u.video()), "hash", []field{{"generation", numbers}, {"status", often("active", "cancelled", "deleted")}}},
		{keys.Lease(u.Stage), "string", []field{{"", u.Dispatches}}},
		{keys.Dispatch(u.Stage), "hash", []field{{"dispatch_id", u.Dispatches}, {"holder", u.Holders}}},
		{keys.Slots(asset.Image), "zset", holders},
		{keys.Breaker(asset.Image), "hash", []field{{"opened_at", append([]string{"0"}, instants...)}, {"hold", often("closed", "open")}}},
		{keys.BreakerFailures(asset.Image), "zset", append(holders, field{NewDispatch, instants})},
		{keys.BreakerPermits(asset.Image), "zset", holders},
		{keys.Purges(), "zset", holders},
		{keys.Suspicion(), "string", []field{{"", []string{"2|w", "0|w", "x"}}}},
		{keys.Deferred(u.Stage), "string", []field{{"", []string{
			"r|capacity|3|d1|1|@59999", "r|capacity|3|d1|1|@2", "r|capacity|2|d1|1|@600000", "r|capacity|3|d1|1|@-1", "r|capacity|3|d1|1", "r|c|3|d|1|@600000|x",
		}}}},
		{keys.DeferredOf(u.Stage.Book), "zset", []field{{keys.BookStageMember(u.Stage), instants}, {"x", instants}}},
		{keys.Budget(u.Stage), "hash", []field{{"tokens", []string{"0", "1", "2", "9", "10"}}, {"at", instants}}},
		{keys.Scope(u.Stage.Book), "hash", []field{
			{"id", often("x", "y")}, {"rev", often("4", "5")}, {"last", often("3", "4")}, {"window", []string{"0", "2"}}, {"order:::", []string{"1|request|0"}},
			{"order:" + keys.BookStageMember(u.Stage), []string{"3|cancel|0", "3|reset|1"}}, {"scene:" + keys.BookSceneMember(scene), []string{"3|claimed|", "1|past|image"}},
		}},
		{keys.OpenScopes(), "set", []field{{"", []string{keys.BookMember(u.Stage.Book), "x"}}}},
		{keys.Cancel(u.Stage.Book), "string", []field{{"", one}}},
		{keys.ActiveScenes(), "set", []field{{"", []string{keys.SceneMember(scene), "x"}}}},
		{keys.ScenesOf(u.Stage.Book), "set", []field{{"", []string{keys.BookSceneMember(scene), "x"}}}},
		{keys.Outbox(), "list", []field{{"", []string{"l1", "l2"}}, {"", []string{"l2"}}}},
		{keys.Events(scene), "list", []field{{"", []string{"l1", "l2"}}, {"", []string{"l2"}}}},
		{keys.Undelivered(), "zset", []field{{keys.SceneMember(scene), instants}, {"x", instants}}},
		{keys.Journal(scene), "stream", []field{{"event", []string{"e"}}}},
		{keys.CleanupLock(), "string", []field{{"", often(u.Holders[0]+"|3", u.Holders[0]+"|4", u.Holders[1]+"|3", u.Holders[0], u.Holders[0]+"|x", u.Holders[0]+"|3|y")}}},
		{keys.TaskDone(u.Jobs[0]), "hash", []field{{"dispatch", u.Dispatches}}},
		{keys.TaskDone(u.Jobs[1]), "hash", []field{{"dispatch", u.Dispatches}}},
		{keys.Receipt(u.Jobs[0]), "hash", receipt},
		{keys.Receipt(u.Jobs[1]), "hash", receipt},
		{keys.DispatchJobs(NewDispatch), "hash", nil},
		{keys.DispatchCompleted(u.Stage, "none"), "string", nil},
	}
	for _, d := range u.Dispatches {
		all = append(all,
			value{keys.DispatchJobs(d), "hash", []field{{u.Jobs[0], jobs}, {u.Jobs[1], jobs}}},
			value{keys.DispatchCompleted(u.Stage, d), "string", []field{{"", []string{"ready|1"}}}})
	}
	return all
}

// Keys are the names of all its keys.
func (u Universe) Keys() (names []string) {
	for _, v := range u.values() {
		names = append(names, v.key)
	}
	return names
}

// State draws the commands that fill Redis; `@n` is an instant.
func (u Universe) State(t *rapid.T) (commands [][]string) {
	usual := OneOf(t, odds{1, 0, 0}, odds{1, 0, 0}, odds{1, 0, 0}, odds{2, 0, 0}, odds{10, 2, 1}, odds{30, 15, 4})
	for _, v := range u.values() {
		o := usual
		switch v.key {
		case keys.Cancel(u.Stage.Book):
			o.absent = 90 // or else little else is ever seen
		case keys.Deferred(u.Stage), keys.TaskDone(u.Jobs[0]), keys.TaskDone(u.Jobs[1]), keys.Breaker(asset.Image):
			o.absent = 50
		}
		commands = append(commands, v.set(t, o)...)
	}
	if Chance(t, 30) {
		commands = append(commands, u.idle(t)...)
	}
	return commands
}

// idle draws that nothing is live, so that begin and restore get far, and at times a half-open
// circuit with one permit out or two.
func (u Universe) idle(t *rapid.T) [][]string {
	state, breaker, permits := keys.AssetState(u.Stage.SceneID), keys.Breaker(asset.Image), keys.BreakerPermits(asset.Image)
	commands := [][]string{{"hdel", state, "image.dispatch", "image.next"}, {"hset", state, "image.state", OneOf(t, "pending", "pending", "ready", "generating")}}
	if Chance(t, 30) {
		commands = append(commands, []string{"del", breaker, permits}, []string{"hset", breaker, "opened_at", "@-3600000"},
			[]string{"zadd", permits, "@600000", "d3", OneOf(t, "@600000", "@0"), u.Dispatches[1]})
	}
	return commands
}
