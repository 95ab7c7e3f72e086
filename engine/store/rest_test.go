package store_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

func TestLock(t *testing.T) {
	held := store.Lock{Key: keys.CleanupLock(), Token: "t", Fence: 7}
	take := func(w *world) (bool, error) {
		turn, err := w.TakeTurn(ctx, held.Key, held.Token, 2*time.Minute)
		return turn.Locked, err
	}
	table(t, "", take, []test{
		{"free", "", true, "+ K:cleanup-lock = t|1000000\n+ K:cleanup-lock lives 120000"},
		{"another's", "SET K:cleanup-lock u|7 PX 1000", false, ""},
		{"one without a number", "SET K:cleanup-lock u PX 1000", false, ""},
		{"its own", "SET K:cleanup-lock t|7 PX 1000", true, "- K:cleanup-lock lives 1000\n+ K:cleanup-lock lives 120000"},
	})
	hold := func(w *world) (bool, error) { return w.Hold(ctx, held, 2*time.Minute) }
	table(t, "", hold, []test{
		{"its own", "SET K:cleanup-lock t|7 PX 1000", true, "- K:cleanup-lock lives 1000\n+ K:cleanup-lock lives 120000"},
		{"lapsed", "", false, ""},
		{"its own of later", "SET K:cleanup-lock t|8 PX 1000", false, ""},
		{"another's", "SET K:cleanup-lock u|7 PX 1000", false, ""},
	})
	unlock := func(w *world) (bool, error) { return w.Unlock(ctx, held) }
	table(t, "", unlock, []test{
		{"give back", "SET K:cleanup-lock t|7", true, "- K:cleanup-lock = t|7"},
		{"its own of later", "SET K:cleanup-lock t|8", false, ""},
		{"not its own", "SET K:cleanup-lock u|7", false, ""},
		{"none", "", false, ""},
	})
}

func TestTakeTurn(t *testing.T) {
	w := newWorld(t)
	w.do("SADD K:active-scenes b:c:s a:c:s a%2A:c:s a*:c:s x")
	for range 2 { // first by way of NOSCRIPT
		turn, err := w.TakeTurn(ctx, keys.SchedulerLock(), "t", time.Second)
		require.NoError(t, err)
		require.True(t, turn.Locked)
		require.NotZero(t, turn.Now)
		require.Equal(t, []ports.SceneID{{Book: "a", Chapter: "c", Scene: "s"}, {Book: "a*", Chapter: "c", Scene: "s"}, scene}, turn.Scenes)
		require.Equal(t, []string{"a*:c:s", "x"}, turn.Bad)
	}
	turn, err := w.TakeTurn(ctx, keys.SchedulerLock(), "u", time.Second)
	require.NoError(t, err)
	require.Zero(t, turn)

	w.do("DEL K:active-scenes\nSET K:active-scenes x")
	_, err = w.TakeTurn(ctx, keys.SchedulerLock(), "t", time.Second)
	var bad *store.CorruptError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, keys.ActiveScenes(), bad.Key)
}

func TestDeferrals(t *testing.T) {
	w := newWorld(t)
	other := ports.SceneID{Book: "b*", Chapter: "c", Scene: "s"}.Of("image")
	stages := []ports.StageID{}
	for i := range 501 { // more than one script clears
		stages = append(stages, ports.SceneID{Book: "b", Chapter: "c", Scene: fmt.Sprintf("s%03d", i)}.Of("image"))
	}
	for _, s := range append(stages, other) {
		require.NoError(t, w.client.Set(ctx, keys.Deferred(s), "x", 0).Err())
		require.NoError(t, w.client.ZAdd(ctx, keys.DeferredOf(s.Book), redis.Z{Score: start, Member: keys.BookStageMember(s)}).Err())
	}
	got, err := w.DeferralsOf(ctx, "b")
	require.NoError(t, err)
	require.Equal(t, stages, got)

	n, err := w.ClearDeferralsForScene(ctx, stages[0].SceneID)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, w.client.ZAdd(ctx, keys.DeferredOf("b"), redis.Z{Member: "garbage"}, redis.Z{Member: keys.BookStageMember(stages[0])}).Err())
	require.NoError(t, w.client.Del(ctx, keys.Deferred(stages[500])).Err())
	require.NoError(t, w.client.HSet(ctx, keys.Deferred(stages[500]), "a", "b").Err()) // in the second script
	n, err = w.ClearDeferralsForBook(ctx, "b")
	var bad *store.CorruptError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, keys.Deferred(stages[500]), bad.Key)
	require.Equal(t, 499, n, "what is gone is counted")

	require.NoError(t, w.client.Set(ctx, keys.Deferred(stages[500]), "x", 0).Err())
	n, err = w.ClearDeferralsForBook(ctx, "b")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.True(t, w.redis.Exists(keys.Deferred(other)), "a book named b* is another")
	w.do("DEL K:runtime:deferred-of:b\nSET K:runtime:deferred-of:b x")
	_, err = w.ClearDeferralsForBook(ctx, "b")
	require.ErrorAs(t, err, &bad)
}

func TestDrain(t *testing.T) {
	moves := []store.Move{{Line: "l1", Scene: scene, Event: "started"}, {Line: "l2"}, {Line: "l3", Scene: scene, Event: "finished"}}
	table(t, "", func(w *world) (int, error) { return w.Drain(ctx, moves) }, []test{
		{"all, and one is dropped", "RPUSH K:runtime:outbox l1 l2 l3 l4", 3, `
			- K:runtime:outbox 0 = l1
			- K:runtime:outbox 1 = l2
			- K:runtime:outbox 2 = l3
			- K:runtime:outbox 3 = l4
			+ K:event-journal:b:c:s 1000000-0 = event started line l1
			+ K:event-journal:b:c:s 1000000-1 = event finished line l3
			+ K:event-journal:b:c:s lives 2592000000
			+ K:runtime:outbox 0 = l4`},
		{"another was there", "RPUSH K:runtime:outbox l2 l1", 0, ""},
		{"another comes between", "RPUSH K:runtime:outbox l1 l3", 1, `
			- K:runtime:outbox 0 = l1
			- K:runtime:outbox 1 = l3
			+ K:event-journal:b:c:s 1000000-0 = event started line l1
			+ K:event-journal:b:c:s lives 2592000000
			+ K:runtime:outbox 0 = l3`},
		{"empty", "", 0, ""},
	})
	told := []store.Move{{Line: "l1", Scene: scene, Tell: true}, {Line: "l2", Scene: scene, Tell: true}}
	table(t, "RPUSH K:runtime:outbox l1 l2\n", func(w *world) (int, error) { return w.Drain(ctx, told) }, []test{
		{"to a queue", "", 2, `
			- K:runtime:outbox 0 = l1
			- K:runtime:outbox 1 = l2
			+ K:result-events:b:c:s 0 = l1
			+ K:result-events:b:c:s 1 = l2
			+ K:result-events:b:c:s lives 2592000000
			+ K:runtime:undelivered b:c:s = 1000000`},
		{"to the queue of a scene that is lent", "ZADD K:runtime:undelivered 1030000 b:c:s", 2, `
			- K:runtime:outbox 0 = l1
			- K:runtime:outbox 1 = l2
			+ K:result-events:b:c:s 0 = l1
			+ K:result-events:b:c:s 1 = l2
			+ K:result-events:b:c:s lives 2592000000`},
	})
	w := newWorld(t)
	n, err := w.Drain(ctx, nil)
	require.NoError(t, err)
	require.Zero(t, n)
}

// TestRetention: a queue of result events holds the last 1,000, and lives 30 days from the
// last one; so does a journal, whose length is a rough one.
func TestRetention(t *testing.T) {
	w := newWorld(t)
	for i := range 1200 {
		line := fmt.Sprint(i)
		w.do("RPUSH K:runtime:outbox " + line)
		_, err := w.Drain(ctx, []store.Move{{Line: line, Scene: scene, Event: "finished", Tell: true}})
		require.NoError(t, err)
	}
	lines, err := w.Events(ctx, scene, 2000)
	require.NoError(t, err)
	require.Len(t, lines, 1000)
	require.Equal(t, "200", lines[0])
	require.LessOrEqual(t, w.client.XLen(ctx, keys.Journal(scene)).Val(), int64(1100))
	for _, key := range []string{keys.Events(scene), keys.Journal(scene)} {
		require.Equal(t, 30*24*time.Hour, w.redis.TTL(key), key)
	}
}

func TestTell(t *testing.T) {
	w := newWorld(t)
	line := store.Line{Kind: store.LineRefused, Outcome: "E", Stage: stage}
	for range 10_002 {
		require.NoError(t, w.Tell(ctx, line))
	}
	lines, err := w.Outbox(ctx, 20_000)
	require.NoError(t, err)
	require.Len(t, lines, 10_000)
	got, err := store.ParseLine(lines[0])
	require.NoError(t, err)
	require.Equal(t, line, got)
	w.do("DEL K:runtime:outbox\nSET K:runtime:outbox x")
	require.ErrorAs(t, w.Tell(ctx, line), new(*store.CorruptError))
}

func TestDue(t *testing.T) {
	due := func(w *world) (string, error) {
		scenes, err := w.Due(ctx, 2, time.Minute)
		return fmt.Sprint(scenes), err
	}
	table(t, "", due, []test{
		{"none", "", "[]", ""},
		{"one is lent, and one is no scene", "ZADD K:runtime:undelivered 1000001 a:c:s 1000000 b:c:s 5 x", "[b/c/s]", `
			- K:runtime:undelivered b:c:s = 1000000
			- K:runtime:undelivered x = 5
			+ K:runtime:undelivered b:c:s = 1060000
			+ K:runtime:undelivered x = 1060000`},
		{"those that wait longest", "ZADD K:runtime:undelivered 3 a:c:s 1 b:c:s 2 c:c:s", "[b/c/s c/c/s]", `
			- K:runtime:undelivered b:c:s = 1
			- K:runtime:undelivered c:c:s = 2
			+ K:runtime:undelivered b:c:s = 1060000
			+ K:runtime:undelivered c:c:s = 1060000`},
	})
}

func TestDelivered(t *testing.T) {
	delivered := func(w *world) (store.Verdict, error) { return w.Delivered(ctx, scene, "l1", time.Minute) }
	table(t, "ZADD K:runtime:undelivered 5 b:c:s\n", delivered, []test{
		{"the last one", "RPUSH K:result-events:b:c:s l1", store.Last, "- K:result-events:b:c:s 0 = l1\n- K:runtime:undelivered b:c:s = 5"},
		{"more is left", "RPUSH K:result-events:b:c:s l1 l2", store.OK, `
			- K:result-events:b:c:s 0 = l1
			- K:result-events:b:c:s 1 = l2
			- K:runtime:undelivered b:c:s = 5
			+ K:result-events:b:c:s 0 = l2
			+ K:runtime:undelivered b:c:s = 1060000`},
		{"another has told it", "RPUSH K:result-events:b:c:s l2", store.Moved, ""},
		{"its time was over", "", store.Last, "- K:runtime:undelivered b:c:s = 5"},
	})
}

func TestLineProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		l := store.Line{
			Kind: text.Draw(t, "kind"), Dispatch: text.Draw(t, "dispatch"), Outcome: text.Draw(t, "outcome"), Reason: text.Draw(t, "reason"),
			Stage: ports.SceneID{Book: text.Draw(t, "b"), Chapter: text.Draw(t, "c"), Scene: text.Draw(t, "s")}.Of(text.Draw(t, "stage")),
		}
		if rapid.Bool().Draw(t, "finished") {
			time := rapid.Int64Range(1, 99_999_999_999)
			l.State, l.FinalReason, l.Also = asset.State(text.Draw(t, "state")), text.Draw(t, "final reason"), text.Draw(t, "also")
			l.At, l.Until = at(time.Draw(t, "at")), at(time.Draw(t, "until"))
			l.Generation = time.Draw(t, "generation")
		}
		got, err := store.ParseLine(l.String())
		require.NoError(t, err)
		require.Equal(t, l, got)
	})
	for _, text := range []string{"", "a|b", "a|b|c|d|e|f|g|h|i", "a|b|c|d|e|f|g|h|i|j", "a|b|c|d|e|f|g|%3a"} {
		_, err := store.ParseLine(text)
		require.Error(t, err, text)
	}
}

// TestReadScenes: a corrupt key spoils the scenes that need it and no others.
func TestReadScenes(t *testing.T) {
	w := newWorld(t)
	w.do(live + `
		HSET K:asset-state:b:c:s image.idle 2 image.next 1000001 image.floor 2 image.reason r
		SET K:runtime:deferred:b:c:s:image no_worker_available|capacity|3|d0|1000000|1060000
		SET K:runtime:deferred:b:c:s:audio garbage
		HSET K:intent:b:c:s:audio generation x status active
		SET K:generation:cancel:cancelled 1
		SET K:asset-state:b:c:bad x
		LPUSH K:generation:cancel:torn x
		HSET K:asset-state:torn:c:s image.dispatch d2`)
	id := func(b, s string) ports.SceneID { return ports.SceneID{Book: b, Chapter: "c", Scene: s} }
	views, err := w.ReadScenes(ctx, []ports.SceneID{scene, id("b", "bad"), id("cancelled", "s"), id("torn", "s")}, []string{"image", "audio"})
	require.NoError(t, err)
	require.Equal(t, store.SceneView{Scene: scene, Stages: []store.StageView{
		{
			Stage: stage, State: asset.Generating, Reason: "r", Dispatch: "d1", Holder: "h1", Fence: 5, Generation: 3, Version: 7, Mark: 9,
			Started: at(0), Renewed: at(0), Idle: 2, Next: at(1), Floor: 2,
			Intent:   store.IntentView{Present: true, Generation: 3, Status: "active"},
			Deferral: &store.Deferral{Reason: "no_worker_available", Bucket: "capacity", Generation: 3, Dispatch: "d0", Since: at(0), Until: at(60_000)},
		},
		{Stage: scene.Of("audio"), Intent: store.IntentView{Present: true, Corrupt: true, Status: "active"}},
	}}, views[0])
	require.True(t, views[2].Cancelled)
	for i, key := range map[int]string{1: "animastor:asset-state:b:c:bad", 3: "animastor:generation:cancel:torn"} {
		var bad *store.CorruptError
		require.ErrorAs(t, views[i].Err, &bad)
		require.Equal(t, key, bad.Key)
	}
	require.Empty(t, views[1].Stages[0].Dispatch)
	require.Equal(t, "d2", views[3].Stages[0].Dispatch, "who is live is known although the cancel flag is not")
	d := views[0].Stages[0].Deferral
	require.Equal(t, "no_worker_available|capacity|3|d0|1000000|1060000", d.String())
	require.True(t, d.Holds(3, at(59_999)))
	require.False(t, d.Holds(3, at(60_000)) || d.Holds(4, at(0)) || views[0].Stages[1].Deferral.Holds(3, at(0)))

	w.redis.Close()
	_, err = w.ReadScenes(ctx, []ports.SceneID{scene}, []string{"image"})
	require.ErrorContains(t, err, "store: read b/c/s and others: ")
}

// TestIdleTick: lock and index, 250 scenes a read, unlock.
func TestIdleTick(t *testing.T) {
	w := newWorld(t)
	scenes := []ports.SceneID{}
	for i := range 501 {
		scenes = append(scenes, ports.SceneID{Book: "b", Chapter: "c", Scene: fmt.Sprint(i)})
	}
	trips := &pipelines{}
	w.client.AddHook(trips)
	views, err := w.ReadScenes(ctx, scenes, []string{"image"})
	require.NoError(t, err)
	require.Len(t, views, 501)
	require.Equal(t, scenes[500], views[500].Scene)
	require.Equal(t, []int{751, 751, 4}, trips.commands) // one cancel flag per book and trip
}

// pipelines counts the commands of each round trip.
type pipelines struct {
	spy
	commands []int
}

func (p *pipelines) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		p.commands = append(p.commands, len(cmds))
		return next(ctx, cmds)
	}
}

func TestJobs(t *testing.T) {
	w := newWorld(t)
	w.do(live + "HSET K:dispatch-jobs:d1 image:b:c:s:u1:3 done|a|b")
	jobs, err := w.Jobs(ctx, "d1")
	require.NoError(t, err)
	require.Equal(t, []store.Job{{ID: job1, State: store.JobDone, Result: "a|b"}, {ID: job2, State: store.JobOutstanding}}, jobs)
	w.do("DEL K:dispatch-jobs:d1\nSET K:dispatch-jobs:d1 x")
	_, err = w.Jobs(ctx, "d1")
	require.ErrorAs(t, err, new(*store.CorruptError))
}

// TestGauges: what is over by Redis' own clock does not count; a key that cannot be read
// leaves nothing to rely on.
func TestGauges(t *testing.T) {
	w := newWorld(t)
	w.do(`
		SADD K:active-scenes b:c:s b:c:t
		RPUSH K:runtime:outbox l1 l2 l3
		ZADD K:runtime:purges 1 d9
		ZADD K:runtime:slots:image 999999 d1 1000000 d2 1000001 d3
		HSET K:breaker:image opened_at 999000
		HSET K:breaker:video hold open
		RPUSH K:result-events:b:c:s l1 l2
		RPUSH K:result-events:b:c:t l1
		ZADD K:runtime:undelivered 5 b:c:s 6 b:c:t 7 x`)
	got, err := w.Gauges(ctx, []string{"image", "video"})
	require.NoError(t, err)
	for i := range got.Stages {
		require.True(t, got.Stages[i].Now.Equal(at(0)))
		got.Stages[i].Now = time.Time{}
	}
	require.Equal(t, store.Gauges{Active: 2, Outbox: 3, Purges: 1, Stages: []store.StageGauge{
		{Stage: "image", Used: 1, OpenedAt: at(-1000)}, {Stage: "video", Held: true},
	}, UndeliveredScenes: 3, Undelivered: 3}, got)
	w.do("DEL K:runtime:outbox\nSET K:runtime:outbox x")
	_, err = w.Gauges(ctx, []string{"image"})
	require.ErrorContains(t, err, "store: read gauges")
}

// TestManyArguments: a script names its first arguments and walks over the others. Lua unpacks
// no more than 8,000 at once, and a book may have more scenes.
func TestManyArguments(t *testing.T) {
	const many = 9_000
	w := newWorld(t)
	w.do(scope + "\nHSET K:intent:b:c:s:image generation 3 status active\nHSET K:asset-state:b:c:s image.state pending image.fence 4")
	var scenes []ports.SceneID
	var jobs []string
	for i := range many {
		scenes = append(scenes, ports.SceneID{Book: "b", Chapter: "c", Scene: strconv.Itoa(i)})
		jobs = append(jobs, keys.Job(scenes[0].Of("image"), strconv.Itoa(i), 3))
	}
	after, verdict, err := w.Slide(ctx, read(w), scenes, func(ports.SceneID) store.Place { return store.Place{Number: 3, Phase: store.Claimed} })
	require.NoError(t, err)
	require.Equal(t, store.OK, verdict)
	require.Equal(t, after.Places, read(w).Places)

	begun, err := w.Begin(ctx, store.BeginArgs{Stage: stage, Dispatch: "d1", Holder: "h1", Generation: 3, Lease: time.Minute, Slots: 1,
		Breaker: guard.Published(), Permit: time.Minute, Jobs: jobs})
	require.NoError(t, err)
	require.Equal(t, store.OK, begun.Verdict)
	ended, err := w.Finish(ctx, store.FinishArgs{Stage: stage, Dispatch: "d1", Caller: "h1", Outcome: "lost", State: asset.Pending,
		BudgetLimit: 10, Refill: time.Minute, Breaker: guard.Published(), Jobs: jobs})
	require.NoError(t, err)
	require.Equal(t, store.OK, ended.Verdict)
}
