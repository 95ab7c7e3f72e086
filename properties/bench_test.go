package properties_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/properties"
	"github.com/animastor/orchestra/sim"
)

// bench is a world without an engine: a test writes into its Redis and its trace what a
// good or a bad engine would, and sees what one property makes of it.
type bench struct {
	t       *testing.T
	world   *sim.World
	redis   *redis.Server
	set     *properties.Set
	scenes  []ports.SceneID
	wanted  []ports.StageID
	missing string // what s1 lacks
	marks   map[string]int64
	settled int64
	changed time.Duration
	echoes  bool
	fences  bool
}

// s1 and s2 are the stages of most tests.
var (
	s1 = ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image")
	s2 = ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s2"}.Of("image")
)

// watching returns a bench on which one property is on.
func watching(t *testing.T, id string) *bench {
	b := &bench{t: t, world: sim.New(sim.Options{}), scenes: []ports.SceneID{s1.SceneID, s2.SceneID}, wanted: []ports.StageID{s1}, echoes: true, fences: true}
	t.Cleanup(b.world.Close)
	b.redis = redis.New(b.world, redis.Options{})
	b.set = properties.New(properties.View{
		World: b.world, Redis: b.redis.Peek(), Profile: asset.ProfileOf, Tick: 5 * time.Second, Replicas: 1, Consumer: true,
		Scenes:      func() []ports.SceneID { return b.scenes },
		Enabled:     func(s ports.StageID) bool { return s.Stage == "image" },
		Wanted:      func() []ports.StageID { return b.wanted },
		Stands:      func(ports.StageID) string { return b.missing },
		Pictured:    func(_ ports.StageID, unit string) bool { return unit == "stands" },
		Disturbed:   func(ports.SceneID) time.Duration { return b.changed },
		Marks:       func(ports.SceneID) map[string]int64 { return b.marks },
		Published:   func(ports.SceneID, string) int64 { return b.settled },
		ScopeEchoed: func() bool { return b.echoes },
		Fenced:      func() bool { return b.fences },
	})
	for _, other := range properties.IDs() {
		if other != id {
			b.set.Off(other, "not the one under test")
		}
	}
	b.world.Trace().Watch(b.set.Event)
	b.set.Reload()
	return b
}

// scene is one test of a property: want is a part of the message of its only violation,
// or empty for a near miss.
type scene struct {
	name string
	play func(*bench)
	want string
}

// play runs the tests of a property.
func play(t *testing.T, id string, scenes []scene) {
	t.Helper()
	breaks, misses := 0, 0
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			b := watching(t, id)
			s.play(b)
			if s.want == "" {
				misses++
				require.Empty(t, b.set.Violations())
				return
			}
			breaks++
			require.Len(t, b.set.Violations(), 1, "%v", b.set.Violations())
			v := b.set.Violations()[0]
			require.Equal(t, id, v.Property)
			require.Contains(t, v.Message, s.want)
			require.NotEmpty(t, v.Subject)
		})
	}
	require.Positive(t, breaks, "no test breaks it")
	require.Positive(t, misses, "no test comes close")
}
func (b *bench) wait(d time.Duration) { b.world.RunFor(d) }

// tell lets a task of an engine observe an event.
func (b *bench) tell(task string, e ports.Event) {
	b.world.Emit(sim.Event{Process: task, Kind: e.Kind(), Data: e})
}

// hub lets the hub report what happened to a job.
func (b *bench) hub(kind hub.Kind, j ports.Job, reason string) {
	b.world.Emit(sim.Event{Process: "hub", Kind: "hub", Subject: j.JobID, Detail: string(kind), Data: hub.Event{Kind: kind, Job: j, Reason: reason}})
}

// job is a job of a stage for one unit.
func job(s ports.StageID, dispatch, unit string, generation int64) ports.Job {
	return ports.Job{JobID: keys.Job(s, unit, generation), DispatchID: dispatch, BookID: s.Book, ChapterID: s.Chapter, SceneID: s.Scene,
		Stage: s.Stage, UnitID: unit, Generation: generation}
}

// write makes a call that writes these keys.
func (b *bench) write(task, verb string, do func(*redis.DB), names ...string) {
	db := b.redis.DB()
	do(db)
	require.NoError(b.t, db.Err())
	subject := ""
	for _, k := range names {
		if subject == "" {
			subject = keys.Subject(k)
		}
	}
	b.set.Write(redis.WriteInfo{Task: task, Verb: verb, Subject: subject, Keys: names})
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// request asks for a stage as the engine does.
func (b *bench) request(s ports.StageID, generation int64) {
	b.write("api/request", "intent", func(db *redis.DB) {
		db.HSet(keys.Intent(s), "generation", itoa(generation), "status", "active")
		db.HSet(keys.AssetState(s.SceneID), s.Stage+".state", "pending")
		db.HDel(keys.AssetState(s.SceneID), s.Stage+".dispatch")
		db.Del(keys.Deferred(s))
		db.SAdd(keys.ActiveScenes(), keys.SceneMember(s.SceneID))
	}, keys.Intent(s), keys.AssetState(s.SceneID), keys.Deferred(s), keys.ActiveScenes())
}

// begin begins a dispatch in Redis; what it is not to write is left out.
func (b *bench) begin(s ports.StageID, dispatch string, generation int64, without ...string) {
	written := []string{keys.AssetState(s.SceneID), keys.Lease(s), keys.Dispatch(s), keys.DispatchJobs(dispatch), keys.Slots(s.Stage)}
	b.write("e1/dispatch", "begin", func(db *redis.DB) {
		db.HSet(keys.AssetState(s.SceneID), s.Stage+".state", "generating", s.Stage+".dispatch", dispatch, s.Stage+".generation", itoa(generation))
		db.SetPX(keys.Lease(s), dispatch, 1_200_000)
		db.HSet(keys.Dispatch(s), "dispatch_id", dispatch)
		db.PExpire(keys.Dispatch(s), 1_200_000)
		db.HSet(keys.DispatchJobs(dispatch), keys.Job(s, "u1", generation), "outstanding")
		db.PExpire(keys.DispatchJobs(dispatch), 1_200_000)
		if len(without) == 0 {
			db.ZAdd(keys.Slots(s.Stage), float64(db.Now()+1_200_000), dispatch)
		}
	}, written...)
}

// end ends a dispatch in Redis; state is that of the stage after it.
func (b *bench) end(s ports.StageID, dispatch, state string) {
	b.write("e1/dispatch", "finish", func(db *redis.DB) {
		db.Del(keys.Lease(s), keys.Dispatch(s), keys.DispatchJobs(dispatch))
		db.ZRem(keys.Slots(s.Stage), dispatch)
		db.HSet(keys.AssetState(s.SceneID), s.Stage+".state", state)
		db.HDel(keys.AssetState(s.SceneID), s.Stage+".dispatch")
		db.SetPX(keys.DispatchCompleted(s, dispatch), "nothing|0", 86_400_000)
	}, keys.Lease(s), keys.Dispatch(s), keys.DispatchJobs(dispatch), keys.Slots(s.Stage), keys.AssetState(s.SceneID), keys.DispatchCompleted(s, dispatch))
}

// deferTo writes a deferral.
func (b *bench) deferTo(s ports.StageID, generation int64, window time.Duration) {
	b.write("e1/dispatch", "finish", func(db *redis.DB) {
		db.SetPX(keys.Deferred(s), "no_worker_available|capacity|"+itoa(generation)+"|d|0|"+itoa(db.Now()+window.Milliseconds()), window.Milliseconds())
	}, keys.Deferred(s))
}

// tick ends a tick of e1.
func (b *bench) tick() { b.tell("e1/engine", ports.Tick{}) }
