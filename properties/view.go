package properties

import (
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// View is what properties may see of a run. All of it is read-only.
type View struct {
	World    *sim.World
	Redis    redis.Peek
	Profile  func(stage string) asset.Profile // the limits in force
	Tick     time.Duration                    // between two ticks of one replica; 0: 5 s
	Pass     time.Duration                    // between two reconcile passes of one replica; 0: 60 s
	Replicas int
	Consumer bool // somebody is told of results

	// Scenes lists every scene that the scenario declares.
	Scenes func() []ports.SceneID
	// Enabled says whether the layer of a stage is on.
	Enabled func(ports.StageID) bool
	// Wanted lists the stages that are requested and enabled, done ones included,
	// and neither cancelled nor deleted.
	Wanted func() []ports.StageID
	// Stands says what is missing of the artifacts that a stage must leave, by the books of
	// the fakes; "" if all stands. It may be nil, with all below: there are no artifacts.
	Stands func(ports.StageID) string
	// Pictured says whether a picture stands for an image unit, and has stood for a while.
	Pictured func(s ports.StageID, unit string) bool
	// Disturbed is when content or files of a scene were changed last by other hands than
	// the engine's and the workers'.
	Disturbed func(ports.SceneID) time.Duration
	// Marks are the dirty marks of a scene, by unit.
	Marks func(ports.SceneID) map[string]int64
	// Published is the highest dirty mark that the published picture of a unit settles.
	Published func(s ports.SceneID, unit string) int64
	// ScopeEchoed says whether the hub echoes the scope of a clear, at this instant.
	ScopeEchoed func() bool
	// Fenced says whether the hub refuses what is below a fence, or was cleared, at this
	// instant.
	Fenced func() bool
}

// redisNow is the time of Redis, in ms since 1970.
func (v *View) redisNow() int64 { return v.World.Now().UnixMilli() }

// done says whether nothing is left to do for a stage, as Redis has it.
func (v *View) done(r *row) bool { return asset.Done(r.State, true) }

// incarnation is the life of a process that a task belongs to: e1.2 of e1.2/dispatch.
func incarnation(task string) string { return sim.CallName{Task: task}.Process() }
