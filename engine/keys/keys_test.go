package keys_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// subject is everything that a key can be about.
type subject struct {
	stage          ports.StageID
	dispatch, unit string
	generation     int64
	worker         string
}

// builders says for each family how the engine builds its key, and which parts of
// a subject the key holds.
var builders = map[keys.Family]struct {
	build func(subject) string
	holds string
}{
	keys.FamilyAssetState:        {func(s subject) string { return keys.AssetState(s.stage.SceneID) }, "b c s"},
	keys.FamilyIntent:            {func(s subject) string { return keys.Intent(s.stage) }, "b c s stage"},
	keys.FamilyLease:             {func(s subject) string { return keys.Lease(s.stage) }, "b c s stage"},
	keys.FamilyDispatch:          {func(s subject) string { return keys.Dispatch(s.stage) }, "b c s stage"},
	keys.FamilyDispatchJobs:      {func(s subject) string { return keys.DispatchJobs(s.dispatch) }, "dispatch"},
	keys.FamilyDispatchCompleted: {func(s subject) string { return keys.DispatchCompleted(s.stage, s.dispatch) }, "b c s stage dispatch"},
	keys.FamilySlots:             {func(s subject) string { return keys.Slots(s.stage.Stage) }, "stage"},
	keys.FamilyDeferred:          {func(s subject) string { return keys.Deferred(s.stage) }, "b c s stage"},
	keys.FamilyDeferredOf:        {func(s subject) string { return keys.DeferredOf(s.stage.Book) }, "b"},
	keys.FamilyPurges:            {func(subject) string { return keys.Purges() }, ""},
	keys.FamilySuspicion:         {func(subject) string { return keys.Suspicion() }, ""},
	keys.FamilyEvents:            {func(s subject) string { return keys.Events(s.stage.SceneID) }, "b c s"},
	keys.FamilyUndelivered:       {func(subject) string { return keys.Undelivered() }, ""},
	keys.FamilyScope:             {func(s subject) string { return keys.Scope(s.stage.Book) }, "b"},
	keys.FamilyOpenScopes:        {func(subject) string { return keys.OpenScopes() }, ""},
	keys.FamilyBreaker:           {func(s subject) string { return keys.Breaker(s.stage.Stage) }, "stage"},
	keys.FamilyBreakerFailures:   {func(s subject) string { return keys.BreakerFailures(s.stage.Stage) }, "stage"},
	keys.FamilyBreakerPermits:    {func(s subject) string { return keys.BreakerPermits(s.stage.Stage) }, "stage"},
	keys.FamilyBudget:            {func(s subject) string { return keys.Budget(s.stage) }, "b c s stage"},
	keys.FamilyReceipt:           {func(s subject) string { return keys.Receipt(job(s)) }, "b c s stage unit generation"},
	keys.FamilyTaskDone:          {func(s subject) string { return keys.TaskDone(job(s)) }, "b c s stage unit generation"},
	keys.FamilyActiveScenes:      {func(subject) string { return keys.ActiveScenes() }, ""},
	keys.FamilyScenesOf:          {func(s subject) string { return keys.ScenesOf(s.stage.Book) }, "b"},
	keys.FamilyCancel:            {func(s subject) string { return keys.Cancel(s.stage.Book) }, "b"},
	keys.FamilyForce:             {func(s subject) string { return keys.Force(s.stage.Book) }, "b"},
	keys.FamilyImageProgress:     {func(s subject) string { return keys.ImageProgress(s.stage.SceneID) }, "b c s"},
	keys.FamilyJournal:           {func(s subject) string { return keys.Journal(s.stage.SceneID) }, "b c s"},
	keys.FamilyHeartbeat:         {func(s subject) string { return keys.Heartbeat(s.stage.Stage, s.worker) }, "type worker"},
	keys.FamilySchedulerLock:     {func(subject) string { return keys.SchedulerLock() }, ""},
	keys.FamilyCleanupLock:       {func(subject) string { return keys.CleanupLock() }, ""},
	keys.FamilyOutbox:            {func(subject) string { return keys.Outbox() }, ""},
}

func job(s subject) string { return keys.Job(s.stage, s.unit, s.generation) }

// parsed is what Parse must make of the family's key for s.
func parsed(f keys.Family, s subject) keys.Key {
	k := keys.Key{Family: f}
	for _, part := range strings.Fields(builders[f].holds) {
		switch part {
		case "b":
			k.Book = s.stage.Book
		case "c":
			k.Chapter = s.stage.Chapter
		case "s":
			k.Scene = s.stage.Scene
		case "stage":
			k.Stage = s.stage.Stage
		case "dispatch":
			k.Dispatch = s.dispatch
		case "unit":
			k.Unit = s.unit
		case "generation":
			k.Generation = s.generation
		case "type":
			k.Type = s.stage.Stage
		case "worker":
			k.Worker = s.worker
		}
	}
	return k
}

func drawSubject(t *rapid.T, label string) subject {
	id := anyID()
	return subject{
		stage: ports.SceneID{
			Book: id.Draw(t, label+" book"), Chapter: id.Draw(t, label+" chapter"), Scene: id.Draw(t, label+" scene"),
		}.Of(id.Draw(t, label+" stage")),
		dispatch: id.Draw(t, label+" dispatch"), unit: id.Draw(t, label+" unit"), worker: id.Draw(t, label+" worker"),
		generation: rapid.Int64().Draw(t, label+" generation"),
	}
}

// TestSchema writes one key of each family out, as schema 2 does.
func TestSchema(t *testing.T) {
	s := subject{ports.SceneID{Book: "b:1", Chapter: "c1", Scene: "s1"}.Of("image"), "d/1", "u*", 7, "w 1"}
	got := make([]string, 0, len(keys.Families()))
	for _, f := range keys.Families() {
		got = append(got, builders[f].build(s))
	}
	require.Equal(t, []string{
		"animastor:asset-state:b%3A1:c1:s1",
		"animastor:intent:b%3A1:c1:s1:image",
		"animastor:dispatch-lease:b%3A1:c1:s1:image",
		"animastor:dispatch:b%3A1:c1:s1:image",
		"animastor:dispatch-jobs:d%2F1",
		"animastor:dispatch-completed:b%3A1:c1:s1:image:d%2F1",
		"animastor:runtime:slots:image",
		"animastor:runtime:deferred:b%3A1:c1:s1:image",
		"animastor:runtime:deferred-of:b%3A1",
		"animastor:breaker:image",
		"animastor:breaker:image:failures",
		"animastor:breaker:image:permits",
		"animastor:budget:b%3A1:c1:s1:image",
		"animastor:receipt:image:b%3A1:c1:s1:u%2A:7",
		"animastor:task-done:image:b%3A1:c1:s1:u%2A:7",
		"animastor:active-scenes",
		"animastor:scenes-of:b%3A1",
		"animastor:generation:cancel:b%3A1",
		"animastor:force-dispatch:b%3A1",
		"animastor:iu-progress:b%3A1:c1:s1:image",
		"animastor:event-journal:b%3A1:c1:s1",
		"animastor:worker:heartbeat:image:w%201",
		"animastor:runtime:scheduler-lock",
		"animastor:cleanup-lock",
		"animastor:runtime:outbox",
		"animastor:runtime:purges",
		"animastor:runtime:suspicion",
		"animastor:result-events:b%3A1:c1:s1",
		"animastor:runtime:undelivered",
		"animastor:scope:b%3A1",
		"animastor:open-scopes",
	}, got)
	require.Len(t, builders, len(got), "a family is not listed by Families")
}

// TestKeyProperties: for any subject, each family's key decodes to what it is
// about and builds itself again.
func TestKeyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkKeys(t, drawSubject(t, "")) })
}

func checkKeys(t require.TestingT, s subject) {
	for f, b := range builders {
		key := b.build(s)
		k, err := keys.Parse(key)
		require.NoError(t, err)
		require.Equal(t, parsed(f, s), k, key)
		require.Equal(t, key, k.String())
	}
	stage, unit, generation, err := keys.ParseJob(job(s))
	require.NoError(t, err)
	require.Equal(t, []any{s.stage, s.unit, s.generation}, []any{stage, unit, generation})

	book, err := keys.ParseBookMember(keys.BookMember(s.stage.Book))
	require.NoError(t, err)
	require.Equal(t, s.stage.Book, book)
	scene, err := keys.ParseSceneMember(keys.SceneMember(s.stage.SceneID))
	require.NoError(t, err)
	require.Equal(t, s.stage.SceneID, scene)
	scene, err = keys.ParseBookSceneMember(s.stage.Book, keys.BookSceneMember(s.stage.SceneID))
	require.NoError(t, err)
	require.Equal(t, s.stage.SceneID, scene)
	stage, err = keys.ParseBookStageMember(s.stage.Book, keys.BookStageMember(s.stage))
	require.NoError(t, err)
	require.Equal(t, s.stage, stage)
}

// TestNoSharedKey: two subjects that differ in a part that a family holds have
// different keys in it, and no two families share a key.
func TestNoSharedKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawSubject(t, "a")
		b := a
		switch other := drawSubject(t, "b"); rapid.IntRange(0, 3).Draw(t, "change") {
		case 0: // shift a separator from one id to the next, as in a:b/c and a/b:c
			a.stage.Book += ":" + a.stage.Chapter
			b.stage.Chapter += ":" + b.stage.Scene
			a.stage.Chapter = b.stage.Scene
		case 1:
			b.stage.Scene = other.stage.Scene
		case 2:
			b.unit, b.generation, b.dispatch = other.unit, other.generation, other.dispatch
		case 3:
			b = other
		}
		owner := map[string]keys.Family{}
		for f, builder := range builders {
			ka, kb := builder.build(a), builder.build(b)
			require.Equal(t, parsed(f, a) == parsed(f, b), ka == kb, "%q and %q", ka, kb)
			require.Empty(t, owner[ka], "%q is also a key of %s", ka, f)
			owner[ka] = f
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for key, problem := range map[string]string{
		"":                                                    "of no family",
		"animastor:asset-state":                               "of no family",
		"animastor:asset-state:b:c":                           "of no family",
		"animastor:asset-state:b:c:s:x":                       "of no family",
		"animastor:circuit:image":                             "of no family", // of 0.1.5, another type
		"animastor:breaker:image:holders":                     "of no family",
		"animastor:iu-progress:b:c:s:audio":                   "of no family",
		"animastor:active-scenes:":                            "of no family",
		"Animastor:active-scenes":                             "of no family",
		"animastor:asset-state:b*:c:s":                        `component "b*": "*" is not escaped`,
		"animastor:asset-state:b:%63:s":                       `component "%63": %63 is a needless escape`,
		"animastor:receipt:image:b:c:s:u:1x":                  `component "1x": the generation is not a plain decimal number`,
		"animastor:receipt:image:b:c:s:u:01":                  `component "01": the generation is not a plain decimal number`,
		"animastor:receipt:image:b:c:s:u:9223372036854775808": `component "9223372036854775808": the generation is not a plain decimal number`,
	} {
		_, err := keys.Parse(key)
		var bad *keys.ParseError
		require.ErrorAs(t, err, &bad, key)
		require.Equal(t, keys.ParseError{What: "key", Text: key, Problem: problem}, *bad)
	}
	_, _, _, err := keys.ParseJob("image:b:c:s:u")
	require.EqualError(t, err, `keys: job id "image:b:c:s:u": not of the form {stage}:{b}:{c}:{s}:{unit}:{generation}; only package keys may build it`)
	_, err = keys.ParseBookMember("a:b")
	require.Error(t, err)
	_, err = keys.ParseSceneMember("a:b:c:s") // KY6: a raw id with a colon
	require.Error(t, err)
	_, err = keys.ParseBookSceneMember("b", "c")
	require.Error(t, err)
	_, err = keys.ParseBookStageMember("b", "c:s:%2e")
	require.Error(t, err)
}

func TestSubject(t *testing.T) {
	stage := ports.SceneID{Book: "a:b", Chapter: "c1", Scene: "s1"}.Of("image")
	for key, want := range map[string]string{
		keys.Lease(stage):                         `"a:b"/c1/s1:image`,
		keys.DispatchCompleted(stage, "d1"):       `"a:b"/c1/s1:image`,
		keys.AssetState(stage.SceneID):            `"a:b"/c1/s1`,
		keys.ImageProgress(stage.SceneID):         `"a:b"/c1/s1`,
		keys.DeferredOf(stage.Book):               `"a:b"`,
		keys.TaskDone(keys.Job(stage, "u 2", 10)): `"a:b"/c1/s1:image/"u 2"`,
		keys.DispatchJobs("d1"):                   "",
		keys.Breaker("image"):                     "",
		keys.ActiveScenes():                       "",
		keys.Heartbeat("image", "w1"):             "",
		"animastor:asset-state:raw*:c1:s1":        "",
		"somebody:else":                           "",
	} {
		require.Equal(t, want, keys.Subject(key), key)
	}
}

// TestAssetStatePattern: the one pattern of the engine has one glob, at its end,
// and is the beginning of one family's keys alone.
func TestAssetStatePattern(t *testing.T) {
	prefix, isPrefix := strings.CutSuffix(keys.AssetStatePattern, "*")
	require.True(t, isPrefix)
	require.False(t, strings.ContainsAny(prefix, `*?[]\`))
	for _, f := range keys.Families() {
		require.Equal(t, f == keys.FamilyAssetState, strings.HasPrefix(string(f), prefix), f)
	}
}

func BenchmarkKeys(b *testing.B) {
	stage := ports.SceneID{Book: "b1", Chapter: "c12", Scene: "s3"}.Of("image")
	key := keys.Deferred(stage)
	for _, c := range []struct {
		name string
		run  func() string
	}{
		{"build", func() string { return keys.Deferred(stage) }},
		{"subject", func() string { return keys.Subject(key) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}

// FuzzKeys: whatever the ids, keys can be read back; whatever the text, a key that
// can be read is one that this package builds.
func FuzzKeys(f *testing.F) {
	f.Add("b1", "c1", "s1", "image", "u1", "d1", int64(1), "animastor:active-scenes")
	f.Add("a:b", "c", "*", "?", "[u]", `\`, int64(-1), "animastor:receipt:image:b:c:s:u:1")
	f.Add("", "%", "%3A", ".", "..", "\xff", int64(0), "animastor:breaker:image:failures")
	f.Fuzz(func(t *testing.T, book, chapter, scene, stage, unit, dispatch string, generation int64, text string) {
		s := subject{ports.SceneID{Book: book, Chapter: chapter, Scene: scene}.Of(stage), dispatch, unit, generation, unit}
		checkEncode(t, book)
		checkKeys(t, s)
		if stage == "audio" || stage == "image" || stage == "video" {
			checkPath(t, s.stage.SceneID, stage, unit)
		}
		if k, err := keys.Parse(text); err == nil {
			require.Equal(t, text, k.String(), fmt.Sprintf("%+v", k))
		}
	})
}
