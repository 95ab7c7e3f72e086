package wire

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/internal/universe"
	"github.com/animastor/orchestra/sim"
)

// round is one step of a drive: what is set, how long it rests, which calls follow.
type round struct {
	set   [][]string
	sleep time.Duration
	calls []universe.Call
}

func drawRounds(t *rapid.T) (rounds []round) {
	u := universe.OneOf(t, universe.All...)
	for range 1 + universe.Evenly(t, 16) {
		r := round{set: u.State(t), sleep: universe.OneOf(t, 0, time.Millisecond, 2*time.Millisecond, 90*time.Second)}
		for range 1 + universe.Evenly(t, 6) {
			r.calls = append(r.calls, u.Call(t))
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
				_ = call(ctx, store.New(client)) // the hook writes down what it was told
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
		args := make([]any, len(command))
		for i, arg := range command {
			args[i] = universe.At(arg, now)
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
	"finish": "ok finished not_owner", "intent": "ok retry kept stale started", "order": "ok ended none", "slide": "ok moved", "conclude": "ok moved", "retire": "0 1", "restore": "kept restored indexed dirty", "lock": "0 1", "unlock": "0 1", "undefer": "0 1", "drain": "0 1 2", "due": "0 1", "delivered": "ok last moved",
}

// TestTwins: a script and its twin answer the same, write the same and leave the same
// trace, whatever they find. And the property is not idle: it goes on until it has seen
// each verdict.
func TestTwins(t *testing.T) {
	seen := map[string]int{}
	unseen := []string{"all"}
	for try := 0; try < 20 && len(unseen) > 0; try++ {
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
			engine, u := store.New(s.Client(p)), universe.All[0]
			p.Go(p.Context(), "t", func(ctx context.Context) {
				for i := range b.N {
					r, err := engine.Intent(ctx, store.OpRequest, u.Stage, false)
					require.NoError(b, err)
					got, err := engine.Begin(ctx, store.BeginArgs{Stage: u.Stage, Dispatch: "d" + num(int64(i)), Holder: "h1",
						Generation: r.Generation, Lease: time.Minute, Slots: 4, Jobs: u.Jobs})
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
	args := append([]string{"image", "d1", "h1", "3", "7", "9", "60000", "4", "line"}, universe.All[0].Jobs...)
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
