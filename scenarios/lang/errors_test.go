package lang_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// badBodies each stand below head, so that their first line is line 4.
var badBodies = []struct{ body, want string }{
	{"reqest b1", "4:1: unknown verb reqest (did you mean request?)"},
	{"xyzzy b1", "4:1: unknown verb xyzzy (sim help lists the verbs)"},
	{"run 5s 6s", "4:8: left-over argument 6s (usage: run DURATION)"},
	{"run 5", "4:5: bad duration 5 (write a unit, as in 5s)"},
	{"run 5sec", "4:5: bad duration 5sec (as in 500s, 15m, 1h30m, 50us)"},
	{"run -5s", "4:5: bad duration -5s: it is negative"},
	{"run 100000h", "4:5: bad duration 100000h: it is too long (at most 87600h0m0s)"},
	{"run", "4:1: duration is missing after run (usage: run DURATION)"},
	{"run = 5s", "4:5: only expect takes the operator = (key=value has no blanks around =)"},
	{"settle", "4:1: within is missing after settle (usage: settle within=DURATION)"},
	{"settle within=5s within=6s", "4:25: within is there twice"},
	{"settle wihtin=5s", "4:8: unknown key wihtin (did you mean within?)"},
	{"run 5s for=5s", "4:8: unknown key for (run takes no key)"},
	{"at 5s run 5s", "4:1: run takes no at (it is done at its place in the file)"},
	{"every 5s expect calls > 0", "4:1: expect takes no every (it is done at its place in the file)"},
	{"every 0s cancel b1", "4:7: bad duration 0s: it must be whole milliseconds, and at least one (as in 30s)"},
	{"every 1ns cancel b1", "4:7: bad duration 1ns: it must be whole milliseconds, and at least one (as in 30s)"},
	{"every 1ms cancel b1\nrun 1h", "4:7: 1ms comes 3600000 times, and at most 1000000 are taken (end it with until, or let it come less often)"},
	{"run 1h\nevery 1ms until 2h cancel b1\nrun 2h", "5:7: 1ms comes 3600000 times, and at most 1000000 are taken (end it with until, or let it come less often)"},
	{"run 10s\nat 5s crash e1", "5:4: 5s has passed: it is 10s here (times are absolute, not relative)"},
	{"run 10s\nfault hub lost until=5s", "5:22: 5s has passed: it is 10s here (times are absolute, not relative)"},
	{"at 11s crash e1\nrun 10s", "4:4: 11s never comes: the scenario ends at 10s (run longer, or do it earlier)"},
	{"run 50000h\nrun 50000h", "5:5: the scenario runs too long (at most 87600h0m0s)"},
	{"run 5s\nbook b2", "5:1: book comes before the first run or settle (move it up)"},
	{"engines 2", "4:1: a second engines (the first is in line 2)"},
	{"scenario again", "4:1: a second scenario (the first is in line 1)"},

	{"request b2", "4:9: unknown book b2 (did you mean b1?)"},
	{"request b1/c2", "4:12: unknown chapter c2 (did you mean c1?)"},
	{"request b1/c1/zebra", "4:15: unknown scene zebra (declare it above, with book)"},
	{"request b1/c1/s1:imgae", "4:18: unknown stage imgae (did you mean image?)"},
	{"request b1/*:audio", "4:14: unknown stage audio (declare it above, with book)"},
	{"request b1:image", "4:9: b1:image has a stage and no scene (a stage is book/chapter/scene:image)"},
	{"request b1/c1/s1/u1", "4:9: bad path b1/c1/s1/u1 (a path is book/chapter/scene:image; an odd id is quoted)"},
	{"request b1/s*", "4:12: the id s* needs quotes (write \"s*\")"},
	{"request b1//s1", "4:12: an id is missing (between / or , stands an id)"},
	{"expect state b1 = ready", "4:14: b1 is a book, and a stage is needed (write book/chapter/scene:image, where * stands for all)"},
	{"expect indexed b1/*:image", "4:16: b1/*:image is a stage, and a scene is needed (write book/chapter/scene, where * stands for all)"},

	{"book b1", "4:6: the book b1 is declared already"},
	{"book b*", "4:6: the id b* needs quotes (write \"b*\")"},
	{"book b2 scenes=0", "4:16: 0 is too small: at least 1"},
	{"book b2 scenes=-3", `4:16: bad count -3 (write 3 for a count, or "-3" for an id)`},
	{"book b2 scenes=1..3", `4:16: bad count 1..3 (write 3 for a count, or "1..3" for an id)`},
	{"book b2 scenes=2e3", `4:16: bad count 2e3 (write 3 for a count, or "2e3" for an id)`},
	{"book b2 scenes=1.5", `4:16: bad count 1.5 (write 3 for a count, or "1.5" for an id)`},
	{"book b2 chapters=1_000", `4:18: bad count 1_000 (write 3 for a count, or "1_000" for an id)`},
	{"book b2 scenes=1..3,9", `4:16: bad count 1..3 (write 3 for a count, or "1..3" for an id)`},
	{"book b2 scenes=20001", "4:16: 20001 is too big: at most 20000"},
	{"book b2 chapters=2 scenes=20000", "4:6: 40000 scenes are too many: a book holds at most 20000"},
	{"book b2 scenes=x,x", "4:18: x is there twice"},
	{"book b2 stages=image,vide", "4:22: unknown stage vide (did you mean video?)"},
	{"bok b2\nrequest b2", "4:1: unknown verb bok (did you mean book?)"},
	{"book b2 scenes=0\nrequest b2", "4:16: 0 is too small: at least 1"},
	{"config tick=0s", "4:13: bad duration 0s: it must be whole milliseconds, and at least one (as in 30s)"},
	{"config window.image=1500us", "4:21: bad duration 1500us: it must be whole milliseconds, and at least one (as in 30s)"},
	{"config cooldown.image=-5s", "4:23: bad duration -5s: it is negative"},
	{"config trip.image=0", "4:19: 0 is too small: at least 1"},
	{"config permits.image=0", "4:22: 0 is too small: at least 1"},
	{"config trips.image=3", "4:8: unknown key trips.image (did you mean trip.image?)"},
	{"workers job=5s", "4:1: workers of which type? (as in workers image=2)"},
	{"workers image=1 later=5", "4:17: unknown key later (the keys of workers are audio, image, video, job, workspace, shared)"},
	{"hub", "4:1: hub says nothing (usage: hub [fences=yes|no] [scope=echo|absent|foreign] [capacity=COUNT])"},
	{"hub fences=maybe", "4:12: maybe is neither yes nor no"},
	{"latency none redis=1ms", "4:1: latency takes none, or ranges by service (as in latency hub=1ms..30ms)"},
	{"latency redis=2ms..1ms", "4:15: bad range 2ms..1ms (write the smaller end first)"},
	{"preload hash k", "4:9: preload hash does not take that (usage: preload string KEY VALUE [ttl=D] | hash KEY FIELD=VALUE... | zset KEY MEMBER=SCORE... | set KEY MEMBER...)"},
	{"preload zset k m=x", "4:9: bad score x (as in m=1000)"},
	{"property slotz off x", "4:10: unknown word slotz (did you mean slots?)"},
	{"property slots off", `4:16: a reason is missing after off (as in property slots off "why")`},

	{"fault hubb lost", "4:7: unknown word hubb (did you mean hub?)"},
	{"fault hub", "4:1: a service is missing after fault (one of redis, hub, callback, worker, content, artifacts, media, consumer, pg)"},
	{"fault hub lsot", "4:11: unknown effect lsot of hub (did you mean lost?)"},
	{"fault redis drop", "4:13: unknown effect drop of redis (one of refuse, lost, slow, late, hang, down, crash, pause, noscript, evict, cut, oom, readonly)"},
	{"fault pg publish partial", "4:10: partial means nothing to publish of pg (it is of pointer, marks)"},
	{"fault artifacts p* */u1 missing", "4:17: missing means nothing to p* of artifacts (it is of stat)"},
	{`fault call="e1/tick media.place b1/c1/s1:audio #1" missing`, "4:12: missing means nothing to place of media (it is of merge)"},
	{"fault hub slow", "4:11: delay is missing: slow needs it (as in slow delay=5s)"},
	{"fault hub lost delay=5s", "4:22: delay means nothing to lost"},
	{"fault hub lost for=5s until=6s", "4:29: a fault ends by for or by until, not by both"},
	{"fault hub lost rate=20", "4:21: bad percentage 20 (above 0% and up to 100%, as in 20%)"},
	{"fault hub lost on=e3", "4:19: unknown process e3 (the engines are e1 to e2; `engines N` comes before)"},
	{"fault hub call=x lost", "4:7: a fault names a service or a call, not both"},
	{"fault call=x lost", `4:12: bad name of a call (as in call="e1/dispatch hub.post b1/c1/s1:image/u2 #1")`},
	{`fault call="e1/tick redis.get k #1" lost rate=5%`, "4:47: rate means nothing beside call: the call is named already"},
	{"evict redis leases b1", "4:13: unknown family leases (sim help evict lists them)"},
	{"evict redis b1", "4:7: a family is missing after redis (usage: evict redis FAMILY PATH | evict \"KEY\")"},
	{"preload set k", "4:9: preload set does not take that (usage: preload string KEY VALUE [ttl=D] | hash KEY FIELD=VALUE... | zset KEY MEMBER=SCORE... | set KEY MEMBER...)"},
	{"request b1/", "4:12: an id is missing (between / or , stands an id)"},
	{"crash E1", "4:7: bad process E1 (as in e1, hub or image-1)"},
	{"crash e01", "4:7: bad process e01 (as in e1, hub or image-1)"},
	{"crash e0", "4:7: bad process e0 (as in e1, hub or image-1)"},
	{"crash image-x", "4:7: bad process image-x (as in e1, hub or image-1)"},
	{"fault worker fail code=job_timout", "4:24: unknown word job_timout (did you mean job_timeout?)"},

	{"expect", "4:1: a metric is missing after expect (sim help expect lists the metrics)"},
	{"expect = 3", "4:1: a metric is missing after expect (sim help expect lists the metrics)"},
	{"expect atempts *:image = 3", "4:8: unknown metric atempts (did you mean attempts?)"},
	{"expect attempts = 3", "4:8: a subject is missing after attempts: STAGE (as in attempts b1/c1/s1:image = 8..9)"},
	{"expect attempts b1/*:image", "4:8: attempts is a count: an operator and a value are missing (as in expect attempts b1/c1/s1:image = 8..9)"},
	{"expect attempts b1/*:image 3", "4:28: left-over argument 3 (put the operator before the value, as in attempts b1/c1/s1:image = 8..9)"},
	{"expect attempts b1/*:image = 3 4", "4:32: left-over argument 4"},
	{"expect attempts b1/*:image =", "4:28: a value is missing after ="},
	{"expect attempts b1/*:image = x", "4:30: bad count x (write a whole number, as in 3)"},
	{"expect attempts b1/*:image < 3..4", "4:30: a range cannot be compared by < (use = or !=, or one value)"},
	{"expect state b1/*:image = redy", "4:27: unknown word redy (did you mean ready?)"},
	{"expect state b1/*:image > ready", "4:25: ready cannot be compared by > (use = or !=)"},
	{"expect budget b1/*:image >= full", "4:26: full cannot be compared by >= (use = or !=)"},
	{"show", "4:1: show says nothing (usage: show METRIC [SUBJECT] | show trace [GLOB] | show redis [GLOB])"},
	{"run 5s\n----\n----", "5:1: a golden block after run (only show prints something)"},
}

func TestErrors(t *testing.T) {
	for _, c := range badBodies {
		t.Run(c.body, func(t *testing.T) {
			p, err := vet(head + c.body + "\n")
			require.Error(t, err)
			require.Equal(t, "x.sim:"+c.want, err.Error())
			require.Nil(t, p)
		})
	}
}

func TestErrorsOfTheHeader(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", `x.sim: no scenario: there is no statement in it (begin with scenario "what it shows")`},
		{"# only a comment\n", `x.sim: no scenario: there is no statement in it (begin with scenario "what it shows")`},
		{"run 5s", `x.sim:1:1: the first statement must be scenario (as in scenario "what it shows")`},
		{`scenario " "`, "x.sim:1:10: the scenario has no name (say in a sentence what it shows)"},
		{"scenario x seed=1..21", "x.sim:1:17: a file names at most 20 seeds (sweep more with --seeds)"},
		{"scenario x seed=1,1", "x.sim:1:19: seed 1 is there twice"},
		{"scenario x seed=2..1", "x.sim:1:17: bad range 2..1 (write the smaller end first)"},
		{"scenario x seed=0..9223372036854775807", "x.sim:1:17: a file names at most 20 seeds (sweep more with --seeds)"},
		{"scenario x\nrequest *", "x.sim:2:9: * matches nothing (declare a book above)"},
	} {
		_, err := vet(c.src)
		require.EqualError(t, err, c.want)
	}
}
