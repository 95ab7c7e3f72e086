package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

// The universe of the property: one stage, with another of its scene beside it.
var (
	twinScene  = asset.SceneID{Book: "b", Chapter: "c", Scene: "s"}
	twinStage  = twinScene.Of(asset.Image)
	twinVideo  = twinScene.Of(asset.Video)
	twinJob    = keys.Job(twinStage, "u1", 3)
	otherJob   = keys.Job(twinStage, "u2", 3)
	dispatches = []string{"d1", "d2"}
	holders    = []string{"h1", "h2"}

	// hostile values break naive parsing; most are no number, or not one of ours.
	hostile = []string{"", "0", "-1", "007", "1e3", "0x10", " 3", "3 ", "nan", "inf", "1_0", "99999999999999999999", "999999999999999", "a|b", "|||||", "ready|", "Ä"}
)

// often is a list in which one value stands for most of the draws.
func often(usual string, others ...string) []string {
	return append(slices.Repeat([]string{usual}, 6), others...)
}

// value is a key of the universe and what it may hold: for a hash the values of each
// field, else elements (of a zset with scores).
type value struct {
	key, typ string
	fields   []field
}

type field struct {
	name   string
	values []string
}

// instants are times around a world's beginning, in ms after it.
var instants = []string{"@-3600000", "@-90000", "@-2", "@-1", "@0", "@1", "@59999", "@600000"}

// twinScope is a scope of the book, as it may be found.
func twinScope() []field {
	return []field{
		{"id", often("x", "y")}, {"rev", often("4", "5")}, {"last", often("3", "4")}, {"window", []string{"0", "2"}},
		{"order:::", []string{"1|request|0"}}, {"order:c:s:image", []string{"3|cancel|0", "3|reset|1"}}, {"scene:c:s", []string{"3|claimed", "1|past"}},
	}
}

// drawnScope is one as a caller may have read it.
func drawnScope(t *rapid.T) store.Scope {
	return store.ScopeOf("b", map[string]string{"id": oneOf(t, often("x", "y")...), "rev": oneOf(t, often("4", "5")...), "last": oneOf(t, often("3", "4")...)})
}

func universe() []value {
	numbers, one := often("3", "2", "4"), []string{"1"}
	stage := []field{
		{"image.state", []string{"pending", "pending", "dirty", "generating", "generating", "ready", "failed", "new", "placeholder"}},
		{"image.dispatch", often("d1", "d2", "")},
		{"image.holder", often("h1", "h2")},
		{"image.fence", often("5", "4")},
		{"image.generation", numbers},
		{"image.version", one},
		{"image.mark", []string{"9"}},
		{"image.renewed", instants},
		{"image.started", instants},
		{"image.claim", often("h2", "h1")},
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
	receipt := []field{
		{"dispatch", dispatches}, {"payload", []string{"p", "q"}}, {"generation", numbers}, {"fence", numbers},
		{"at", instants}, {"released", one},
	}
	jobs := []string{"outstanding", "posting", "sent", "unknown", "done|r", "failed|x|y", "done"}
	slots := []field{{"d1", instants}, {"d2", instants}, {"d3", instants}}
	values := []value{
		{keys.AssetState(twinScene), "hash", stage},
		{keys.Intent(twinStage), "hash", []field{
			{"generation", numbers}, {"status", often("active", "cancelled", "deleted")}, {"force", one}, {"at", instants}, {"scope", []string{"x:3", "x:2"}},
		}},
		{keys.Intent(twinVideo), "hash", []field{{"generation", numbers}, {"status", often("active", "cancelled", "deleted")}}},
		{keys.Lease(twinStage), "string", []field{{"", dispatches}}},
		{keys.Dispatch(twinStage), "hash", []field{{"dispatch_id", dispatches}, {"holder", holders}}},
		{keys.Slots(asset.Image), "zset", slots},
		{keys.Deferred(twinStage), "string", []field{{"", often("r|capacity|3|d1|1|@600000",
			"r|capacity|3|d1|1|@0", "r|capacity|3|d1|1|@1", "r|capacity|2|d1|1|@600000", "r|capacity|3|d1|1", "r|c|3|d|1|@600000|x")}}},
		{keys.DeferredOf("b"), "zset", []field{{keys.BookStageMember(twinStage), instants}, {"x", instants}}},
		{keys.Budget(twinStage), "hash", []field{{"tokens", []string{"0", "1", "2", "9", "10"}}, {"at", instants}}},
		{keys.Breaker(asset.Image), "hash", []field{{"opened_at", append(instants, "0")}, {"hold", often("closed", "open")}}},
		{keys.BreakerFailures(asset.Image), "zset", append(slots, field{"d9", instants})},
		{keys.BreakerPermits(asset.Image), "zset", slots},
		{keys.Purges(), "zset", slots},
		{keys.Scope("b"), "hash", twinScope()},
		{keys.OpenScopes(), "set", []field{{"", []string{"b", "x"}}}},
		{keys.Cancel("b"), "string", []field{{"", one}}},
		{keys.ActiveScenes(), "set", []field{{"", []string{keys.SceneMember(twinScene), "x"}}}},
		{keys.ScenesOf("b"), "set", []field{{"", []string{keys.BookSceneMember(twinScene), "x"}}}},
		{keys.Outbox(), "list", []field{{"", []string{"l1", "l2"}}, {"", []string{"l2"}}}},
		{keys.Events(twinScene), "list", []field{{"", []string{"l1", "l2"}}, {"", []string{"l2"}}}},
		{keys.Undelivered(), "zset", []field{{keys.SceneMember(twinScene), instants}, {"x", instants}}},
		{keys.Journal(twinScene), "stream", []field{{"event", []string{"e"}}}},
		{keys.CleanupLock(), "string", []field{{"", often("h1|3", "h1|4", "h2|3", "h1", "h1|x", "h1|3|y")}}},
		{keys.TaskDone(twinJob), "hash", []field{{"dispatch", dispatches}}},
		{keys.Receipt(twinJob), "hash", receipt},
		{keys.Receipt(otherJob), "hash", receipt},
	}
	for _, d := range dispatches {
		values = append(values,
			value{keys.DispatchJobs(d), "hash", []field{{twinJob, jobs}, {otherJob, jobs}}},
			value{keys.DispatchCompleted(twinStage, d), "string", []field{{"", []string{"ready|1"}}}})
	}
	return values
}

// odds say how a value is drawn, in percent.
type odds struct{ absent, hostile, wrong int }

// evenly draws a number below n, each as likely as the others: rapid itself prefers small
// ones. It shrinks to 0.
func evenly(t *rapid.T, n int) int {
	x := rapid.Uint64().Draw(t, "bits") // mixed as in murmur3, where 0 stays 0
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return int((x ^ x>>33) % uint64(n))
}

func chance(t *rapid.T, percent int) bool { return evenly(t, 100) >= 100-percent }

func oneOf[T any](t *rapid.T, from ...T) T { return from[evenly(t, len(from))] }

// set draws the commands that make a key what it is; `@n` is an instant.
func (v value) set(t *rapid.T, o odds) (commands [][]string) {
	commands = append(commands, []string{"DEL", v.key})
	typ := v.typ
	if chance(t, o.wrong) {
		typ = oneOf(t, "string", "hash", "zset", "set", "list", "stream")
	}
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
		switch typ {
		case "string":
			commands = append(commands, []string{"SET", v.key, x})
		case "hash":
			commands = append(commands, []string{"HSET", v.key, f.name, x})
		case "zset":
			if !strings.HasPrefix(x, "@") {
				x = "1"
			}
			commands = append(commands, []string{"ZADD", v.key, x, f.name})
		case "set":
			commands = append(commands, []string{"SADD", v.key, x})
		case "list":
			commands = append(commands, []string{"RPUSH", v.key, x})
		case "stream":
			commands = append(commands, []string{"XADD", v.key, "*", "f", x})
		}
	}
	if chance(t, 50) {
		commands = append(commands, []string{"PEXPIRE", v.key, oneOf(t, "1", "60000", "604800000", "604800000")})
	}
	return commands
}

// drawCall draws a call of one script through the store, as the engine makes them.
func drawCall(t *rapid.T, name string) func(context.Context, *store.Store) {
	d, h, job := oneOf(t, often("d1", "d2")...), oneOf(t, often("h1", "h2")...), oneOf(t, twinJob, otherJob)
	lease := oneOf(t, time.Millisecond, time.Minute, 1380*time.Second)
	jobs := oneOf(t, []string{twinJob, otherJob}, []string{twinJob}, nil)
	generation := intOr0(oneOf(t, often("3", "2", "4")...))
	switch name {
	case "begin":
		a := store.BeginArgs{Stage: oneOf(t, twinStage, twinStage, twinVideo), Dispatch: oneOf(t, "d1", "d2", "d9", "d9"), Holder: h, Generation: generation, Version: 7, Mark: 9,
			Lease: lease, Slots: oneOf(t, 0, 1, 1, 4), Jobs: jobs, Permit: lease,
			Breaker: guard.Breaker{Trip: 2, Window: time.Minute, CoolDown: oneOf(t, time.Millisecond, time.Minute), Permits: 1 + evenly(t, 2)}}
		return func(ctx context.Context, s *store.Store) { _, _ = s.Begin(ctx, a) }
	case "renew":
		return func(ctx context.Context, s *store.Store) {
			_, _ = s.Renew(ctx, store.RenewArgs{Stage: twinStage, Dispatch: d, Holder: h, Lease: lease, Jobs: jobs})
		}
	case "adopt":
		h := oneOf(t, holders...)
		return func(ctx context.Context, s *store.Store) { _, _ = s.Adopt(ctx, twinStage, d, h) }
	case "claim":
		return func(ctx context.Context, s *store.Store) { _, _ = s.Claim(ctx, twinStage, d, h) }
	case "admit":
		a := store.AdmitArgs{Stage: twinStage, Dispatch: d, Holder: h, Generation: generation, Fence: 5, Job: job, Payload: "p", Lease: lease}
		return func(ctx context.Context, s *store.Store) { _, _, _ = s.Admit(ctx, a) }
	case "mark":
		state := oneOf(t, store.JobSent, store.JobUnknown, store.JobOutstanding)
		return func(ctx context.Context, s *store.Store) { _, _, _ = s.Mark(ctx, twinStage, d, job, state, lease) }
	case "forget":
		return func(ctx context.Context, s *store.Store) { _, _ = s.Forget(ctx, d, job) }
	case "release":
		return func(ctx context.Context, s *store.Store) { _, _ = s.Release(ctx, twinStage, d, twinJob) }
	case "accept":
		a := store.AcceptArgs{Stage: twinStage, Dispatch: d, Fence: 5, Generation: generation, Job: job, State: oneOf(t, store.JobDone, store.JobFailed), Result: oneOf(t, hostile...)}
		return func(ctx context.Context, s *store.Store) { _, _ = s.Accept(ctx, a) }
	case "finish":
		a := store.FinishArgs{
			Stage: twinStage, Dispatch: d, Caller: h, Outcome: "nothing", State: asset.State(oneOf(t, "pending", "ready", "dirty", "failed")),
			Reason: oneOf(t, "no_worker_available", ""), Bucket: "capacity", Window: oneOf(t, 0, time.Minute),
			Idle: store.Op(oneOf(t, "inc", "inc", "reset", "keep")), Budget: store.Op(oneOf(t, "charge", "reset", "keep")), BudgetLimit: 1 + evenly(t, 10),
			Refill: oneOf(t, time.Millisecond, 6*time.Minute), Jobs: jobs,
			Evidence: oneOf(t, guard.Failure, guard.Success, guard.None),
			Breaker:  guard.Breaker{Trip: 1 + evenly(t, 4), Window: time.Minute, CoolDown: time.Minute},
		}
		return func(ctx context.Context, s *store.Store) { _, _ = s.Finish(ctx, a) }
	case "intent":
		op := store.IntentOp(oneOf(t, "request", "regenerate", "reset", "edit", "cancel", "delete"))
		stage := oneOf(t, twinStage, twinStage, twinVideo)
		if op != store.OpCancel && op != store.OpDelete && evenly(t, 2) == 0 {
			a := store.StartArgs{Scope: drawnScope(t), Stage: stage, Op: op, Number: int64(2 + evenly(t, 2)), Stands: evenly(t, 2) == 0}
			return func(ctx context.Context, s *store.Store) { _, _, _ = s.Start(ctx, a) }
		}
		return func(ctx context.Context, s *store.Store) { _, _ = s.Intent(ctx, op, stage, generation == 3) }
	case "order":
		o := store.Order{Chapter: oneOf(t, "", "c"), Stage: oneOf(t, "", "image"), Force: generation == 3,
			Op: store.IntentOp(oneOf(t, "request", "regenerate", "reset", "cancel", "cancel", "delete"))}
		return func(ctx context.Context, s *store.Store) { _ = s.Order(ctx, "b", o, "z", 2) }
	case "slide":
		scope, place := drawnScope(t), store.Place{Number: generation, Phase: store.Phase(oneOf(t, "claimed", "entered", "past"))}
		return func(ctx context.Context, s *store.Store) {
			_, _, _ = s.Slide(ctx, scope, []asset.SceneID{twinScene}, func(asset.SceneID) store.Place { return place })
		}
	case "conclude":
		scope, ready := drawnScope(t), evenly(t, 2)
		if chance(t, 20) {
			return func(ctx context.Context, s *store.Store) { _, _ = s.ForgetScope(ctx, "b") }
		}
		return func(ctx context.Context, s *store.Store) {
			_, _ = s.Conclude(ctx, scope, store.Finale{Book: "b", Scope: "x", Ready: ready})
		}
	case "retire":
		stages := oneOf(t, []string{"image", "audio"}, []string{"image"}, nil)
		return func(ctx context.Context, s *store.Store) { _, _ = s.Retire(ctx, twinScene, stages) }
	case "restore":
		view := store.StageView{Stage: twinStage, Fence: oneOf(t, int64(0), 5, 5, 5)}
		if view.Fence == 0 {
			return func(ctx context.Context, s *store.Store) { _, _ = s.Restore(ctx, twinStage) }
		}
		return func(ctx context.Context, s *store.Store) { _, _ = s.Dirty(ctx, view) }
	case "lock":
		taken, held := evenly(t, 2) == 0, store.Lock{Key: keys.CleanupLock(), Token: h, Fence: 3}
		return func(ctx context.Context, s *store.Store) {
			if taken {
				_, _ = s.TakeTurn(ctx, held.Key, h, lease)
			} else {
				_, _ = s.Hold(ctx, held, lease)
			}
		}
	case "unlock":
		held := store.Lock{Key: keys.CleanupLock(), Token: h, Fence: 3}
		return func(ctx context.Context, s *store.Store) { _, _ = s.Unlock(ctx, held) }
	case "undefer":
		return func(ctx context.Context, s *store.Store) { _, _ = s.ClearDeferralsForScene(ctx, twinScene) }
	case "drain":
		moves := []store.Move{{Line: "l1", Scene: twinScene, Event: oneOf(t, "started", ""), Tell: evenly(t, 2) == 0},
			{Line: oneOf(t, "l1", "l2"), Scene: twinScene, Event: "finished", Tell: true}}
		return func(ctx context.Context, s *store.Store) { _, _ = s.Drain(ctx, moves) }
	case "due":
		n := 1 + evenly(t, 3)
		return func(ctx context.Context, s *store.Store) { _, _ = s.Due(ctx, n, lease) }
	case "delivered":
		line, loan := oneOf(t, "l1", "l2", ""), oneOf(t, 0, lease)
		return func(ctx context.Context, s *store.Store) { _, _ = s.Delivered(ctx, twinScene, line, loan) }
	}
	panic("no call of script " + name)
}

// round is one step of a drive: what is set, how long it rests, which calls follow.
type round struct {
	set   [][]string
	sleep time.Duration
	calls []func(context.Context, *store.Store)
}

func drawRounds(t *rapid.T) (rounds []round) {
	o := oneOf(t, odds{1, 0, 0}, odds{1, 0, 0}, odds{2, 0, 0}, odds{10, 2, 1}, odds{30, 15, 4})
	for range 1 + evenly(t, 16) {
		r := round{sleep: oneOf(t, 0, time.Millisecond, 2*time.Millisecond, 90*time.Second)}
		for _, v := range universe() {
			o := o
			if v.key == keys.Cancel("b") {
				o.absent = 90 // or else little else is ever seen
			} else if v.key == keys.Deferred(twinStage) || v.key == keys.TaskDone(twinJob) || v.key == keys.Breaker(asset.Image) {
				o.absent = 50
			}
			r.set = append(r.set, v.set(t, o)...)
		}
		if state := keys.AssetState(twinScene); chance(t, 40) { // nothing live, so that begin gets far
			r.set = append(r.set, []string{"HDEL", state, "image.dispatch", "image.next"}, []string{"HSET", state, "image.state", "pending"})
			if chance(t, 30) { // half-open, with one permit out or two
				breaker, permits := keys.Breaker(asset.Image), keys.BreakerPermits(asset.Image)
				r.set = append(r.set, []string{"DEL", breaker, permits}, []string{"HSET", breaker, "opened_at", "@-3600000"},
					[]string{"ZADD", permits, "@600000", "d3", oneOf(t, "@600000", "@0"), "d2"})
			}
		}
		for range 1 + evenly(t, 6) {
			name := oneOf(t, store.Scripts()...).Name
			if chance(t, 60) {
				name = oneOf(t, "begin", "begin", "begin", "admit", "admit", "accept", "finish", "claim", "adopt") // they have the most to say
			}
			r.calls = append(r.calls, drawCall(t, name))
		}
		rounds = append(rounds, r)
	}
	return rounds
}

// result is all that a drive leaves behind.
type result struct {
	replies, writes []string
	database        []string // after each round
	digest          string
}

// drive plays rounds against a redis that runs the twins, or the scripts themselves.
func drive(t require.TestingT, rounds []round, lua bool) (r result) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	s := redis.New(w, redis.Options{Scripts: twinScripts(), Lua: lua})
	s.OnWrite(func(info redis.WriteInfo) { r.writes = append(r.writes, fmt.Sprint(info.Verb, info.Keys)) })
	p := w.Process("e1")
	client := s.Client(p)
	client.AddHook(replies{&r.replies})
	p.Go(p.Context(), "t", func(ctx context.Context) {
		for _, round := range rounds {
			set(ctx, client, p, round.set)
			_ = p.Sleep(ctx, round.sleep)
			for _, call := range round.calls {
				call(ctx, store.New(client))
			}
			r.database = append(r.database, database(s.Peek())...)
		}
	})
	w.RunFor(time.Hour)
	require.Empty(t, w.Failures())
	r.digest = w.Trace().Digest()
	return r
}

func twinScripts() (scripts []redis.Script) {
	for _, s := range store.Scripts() {
		scripts = append(scripts, redis.Script{Name: s.Name, SHA: s.SHA, Source: s.Source, Twin: Twins()[s.Name]})
	}
	return scripts
}

// set runs commands; those that meet a key of another type fail, and that is as good.
func set(ctx context.Context, client *goredis.Client, p *sim.Process, commands [][]string) {
	now := p.Now().UnixMilli()
	for _, command := range commands {
		var args []any
		for _, arg := range command {
			head, ms, ok := strings.Cut(arg, "@")
			if n, err := fmt.Sscan(ms, new(int64)); ok && n == 1 && err == nil {
				var offset int64
				rest := ""
				_, _ = fmt.Sscanf(ms, "%d%s", &offset, &rest)
				arg = head + num(now+offset) + rest
			}
			args = append(args, arg)
		}
		_ = client.Do(ctx, args...).Err()
	}
}

// replies remembers what each script answered.
type replies struct{ seen *[]string }

func (r replies) DialHook(next goredis.DialHook) goredis.DialHook { return next }
func (r replies) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

func (r replies) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		err := next(ctx, cmd)
		if script, ok := cmd.(*goredis.Cmd); ok && cmd.Name() == "evalsha" {
			name := ""
			for _, s := range store.Scripts() {
				if s.SHA == cmd.Args()[1] {
					name = s.Name
				}
			}
			*r.seen = append(*r.seen, fmt.Sprintf("%s %v %v", name, script.Val(), err))
		}
		return err
	}
}

// database is the whole of it, with the time that each key has left.
func database(p redis.Peek) (lines []string) {
	for _, k := range p.Keys() {
		text, _ := p.Get(k)
		lines = append(lines, fmt.Sprint(k, " ", p.Type(k), " ", p.PTTL(k), " ", text, p.HGetAll(k), p.ZRange(k), p.SMembers(k), p.LRange(k), p.XLen(k)))
	}
	return lines
}

// verdicts are all that the scripts may answer.
var verdicts = map[string]string{
	"begin": "ok cancelled intent_missing intent_corrupt intent_not_active stale_intent not_dispatchable deferred_capacity image_not_ready backoff duplicate circuit_open half_open_limit backpressure",
	"renew": "ok not_owner finished", "adopt": "ok fresh finished", "claim": "ok in_progress finished",
	"admit": "ok intent_not_active intent_missing stale_intent already_completed receipt_conflict duplicate_pending",
	"mark":  "ok finished", "forget": "0 1", "release": "released kept", "accept": "accepted last duplicate stale",
	"finish": "ok finished not_owner", "intent": "ok retry kept stale started", "order": "ok ended none", "slide": "ok moved", "conclude": "ok moved", "retire": "0 1", "restore": "kept restored indexed dirty", "lock": "0 1", "unlock": "0 1", "undefer": "0 1", "drain": "0 1 2", "due": "0 1", "delivered": "0 1 2",
}

// TestTwins: a script and its twin answer the same, write the same and leave the same
// trace, whatever they find. And the property is not idle: it goes on until it has seen
// each verdict.
func TestTwins(t *testing.T) {
	seen := map[string]int{}
	unseen := []string{"all"}
	for try := 0; try < 5 && len(unseen) > 0; try++ {
		rapid.Check(t, func(t *rapid.T) { compareTwins(t, drawRounds(t), seen) })
		unseen = nil
		for script, all := range verdicts {
			for _, verdict := range strings.Fields(all) {
				if seen[script+" "+verdict] == 0 {
					unseen = append(unseen, script+" "+verdict)
				}
			}
		}
	}
	require.Empty(t, unseen, "these were never answered; seen: %v", seen)
	require.Positive(t, seen["corrupt"])
}

func compareTwins(t *rapid.T, rounds []round, seen map[string]int) {
	twin, lua := drive(t, rounds, false), drive(t, rounds, true)
	require.Equal(t, lua.replies, twin.replies, "replies: script, twin")
	require.Equal(t, lua.database, twin.database, "database: script, twin")
	require.Equal(t, lua.writes, twin.writes, "writes: script, twin")
	require.Equal(t, lua.digest, twin.digest, "trace: script, twin")
	for _, reply := range twin.replies {
		words := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(reply))
		seen[words[0]+" "+words[1]]++
		if strings.Contains(reply, "CORRUPT") {
			seen["corrupt"]++
		}
	}
}

// TestEveryScriptHasItsTwin, and no other.
func TestEveryScriptHasItsTwin(t *testing.T) {
	require.Len(t, Twins(), len(store.Scripts()))
	for _, s := range store.Scripts() {
		require.NotNil(t, Twins()[s.Name], s.Name)
	}
}

// BenchmarkBegin is a begin and the intent that ends it, through the client: twins and
// scripts.
func BenchmarkBegin(b *testing.B) {
	for _, lua := range []bool{false, true} {
		b.Run(map[bool]string{false: "twin", true: "script"}[lua], func(b *testing.B) {
			w := sim.New(sim.Options{Keep: 100})
			defer w.Close()
			s := redis.New(w, redis.Options{Scripts: twinScripts(), Lua: lua})
			p := w.Process("e1")
			engine := store.New(s.Client(p))
			p.Go(p.Context(), "t", func(ctx context.Context) {
				for i := range b.N {
					r, err := engine.Intent(ctx, store.OpRequest, twinStage, false)
					require.NoError(b, err)
					got, err := engine.Begin(ctx, store.BeginArgs{Stage: twinStage, Dispatch: "d" + num(int64(i)), Holder: "h1",
						Generation: r.Generation, Lease: time.Minute, Slots: 4, Jobs: []string{twinJob, otherJob}})
					require.NoError(b, err)
					require.Equal(b, store.OK, got.Verdict)
				}
			})
			w.RunFor(time.Hour)
			require.Empty(b, w.Failures())
		})
	}
}

// BenchmarkBeginTwin is the twin alone.
func BenchmarkBeginTwin(b *testing.B) {
	w := sim.New(sim.Options{})
	defer w.Close()
	db := redis.New(w, redis.Options{}).DB()
	db.HSet("intent", "generation", "3", "status", "active")
	db.HSet("state", "image.state", "pending", "audio.state", "ready")
	keys := []string{"state", "intent", "lease", "record", "jobs", "slots", "deferred", "cancel", "outbox"}
	args := []string{"image", "d1", "h1", "3", "7", "9", "60000", "4", "line", twinJob, otherJob}
	for b.Loop() {
		reply, err := beginTwin(db, keys, args)
		if err != nil || reply.([]string)[0] != "ok" {
			b.Fatal(reply, err)
		}
		db.HSet("state", "image.state", "pending", "image.dispatch", "")
		db.Del("slots")
		db.Del("outbox")
	}
}
