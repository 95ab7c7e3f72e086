package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// scenesPerRead is how many scenes one round trip reads.
const scenesPerRead = 250

// Active returns the active scenes in order, and the members of the index that are no
// scenes.
func (s *Store) Active(ctx context.Context) (scenes []ports.SceneID, bad []string, err error) {
	return active(s.client.SMembers(ctx, keys.ActiveScenes()))
}

func active(cmd *redis.StringSliceCmd) (scenes []ports.SceneID, bad []string, err error) {
	members, err := cmd.Result()
	if err != nil {
		return nil, nil, unread("read", "active scenes", keys.ActiveScenes(), err)
	}
	for _, member := range members {
		if scene, err := keys.ParseSceneMember(member); err == nil {
			scenes = append(scenes, scene)
		} else {
			bad = append(bad, member)
		}
	}
	slices.SortFunc(scenes, ports.SceneID.Compare)
	slices.Sort(bad)
	return scenes, bad, nil
}

// ScenesOf returns the scenes of a book that an intent asked for, in order. Members of
// the index that cannot be read are left out.
func (s *Store) ScenesOf(ctx context.Context, book string) ([]ports.SceneID, error) {
	key := keys.ScenesOf(book)
	members, err := s.client.SMembers(ctx, key).Result()
	if err != nil {
		return nil, unread("scenes of", book, key, err)
	}
	var scenes []ports.SceneID
	for _, member := range members {
		if scene, err := keys.ParseBookSceneMember(book, member); err == nil {
			scenes = append(scenes, scene)
		}
	}
	slices.SortFunc(scenes, ports.SceneID.Compare)
	return scenes, nil
}

// SceneView is what Redis knows of a scene. It may be out of date when it is read;
// the scripts check for themselves.
type SceneView struct {
	Scene     ports.SceneID
	Cancelled bool // the book's cancel flag is set
	Stages    []StageView
	Err       error // a key of this scene is corrupt; what Stages say is of the state alone then
}

// State is the state of one of the stages that were read, "" for another.
func (v SceneView) State(stage string) asset.State {
	for _, s := range v.Stages {
		if s.Stage.Stage == stage {
			return s.State
		}
	}
	return ""
}

// Asked says whether one of the stages that were read was ever asked for.
func (v SceneView) Asked(stage string) bool {
	for _, s := range v.Stages {
		if s.Stage.Stage == stage {
			return s.State != "" || s.Intent.Present
		}
	}
	return false
}

// StageView is what Redis knows of one stage. Numbers that cannot be read are 0.
type StageView struct {
	Stage      ports.StageID
	State      asset.State // "": never asked for
	Reason     string      // of the last finish
	Dispatch   string      // the live one, if any
	Holder     string      // of the live one
	Fence      int64       // of the last dispatch
	Generation int64       // of the last dispatch
	Version    int64       // of the last dispatch
	Mark       int64       // of the last dispatch
	Started    time.Time   // of the last dispatch
	Renewed    time.Time   // of the live one
	Idle       int64       // zero-progress attempts in a row
	Next       time.Time   // until when it backs off
	Floor      int64       // an artifact of a lower generation is not good enough
	Intent     IntentView
	Deferral   *Deferral // nil: none, or one that cannot be read
}

// IntentView is what was asked for of a stage last.
type IntentView struct {
	Present    bool // false: nothing was asked for, all else is zero
	Corrupt    bool // the scripts answer intent_corrupt; generation or status is no good
	Generation int64
	Status     string // active, cancelled, deleted
	Force      bool
}

// Active says whether the stage is to be worked on.
func (i IntentView) Active() bool { return i.Present && !i.Corrupt && i.Status == StatusActive }

// Stopped says whether somebody has cancelled or deleted the stage: of one that is corrupt, or
// was evicted, nobody can tell.
func (i IntentView) Stopped() bool { return i.Present && !i.Corrupt && i.Status != StatusActive }

// ReadScenes reads the given stages of scenes, 250 scenes in a round trip. Each view has
// its stages in the order given. A corrupt key spoils its scene alone; any other error
// is returned.
func (s *Store) ReadScenes(ctx context.Context, scenes []ports.SceneID, stages []string) ([]SceneView, error) {
	views := make([]SceneView, 0, len(scenes))
	for some := range slices.Chunk(scenes, scenesPerRead) {
		reads := make([]sceneRead, len(some))
		cancels := map[string]*redis.StringCmd{}
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, scene := range some {
				reads[i] = readScene(ctx, p, scene, stages, cancels)
			}
			return nil
		})
		if err != nil && !isAnswer(err) {
			return nil, unread("read", some[0].String()+" and others", "", err)
		}
		for i := range reads {
			view, err := reads[i].view(stages)
			var bad *CorruptError
			if err != nil && !errors.As(err, &bad) {
				return nil, err
			}
			view.Err = err
			views = append(views, view)
		}
	}
	return views, nil
}

// ReadStage reads one stage. A corrupt key is an error.
func (s *Store) ReadStage(ctx context.Context, stage ports.StageID) (StageView, error) {
	views, err := s.ReadScenes(ctx, []ports.SceneID{stage.SceneID}, []string{stage.Stage})
	if err == nil {
		err = views[0].Err
	}
	if err != nil {
		return StageView{}, err
	}
	return views[0].Stages[0], nil
}

// sceneRead is the commands that read one scene.
type sceneRead struct {
	scene     ports.SceneID
	cancel    *redis.StringCmd // shared by the scenes of a book
	state     *redis.MapStringStringCmd
	intents   []*redis.MapStringStringCmd
	deferrals []*redis.StringCmd
}

func readScene(ctx context.Context, p redis.Pipeliner, scene ports.SceneID, stages []string, cancels map[string]*redis.StringCmd) sceneRead {
	if cancels[scene.Book] == nil {
		cancels[scene.Book] = p.Get(ctx, keys.Cancel(scene.Book))
	}
	r := sceneRead{scene: scene, cancel: cancels[scene.Book], state: p.HGetAll(ctx, keys.AssetState(scene))}
	for _, stage := range stages {
		r.intents = append(r.intents, p.HGetAll(ctx, keys.Intent(scene.Of(stage))))
		r.deferrals = append(r.deferrals, p.Get(ctx, keys.Deferred(scene.Of(stage))))
	}
	return r
}

// view makes a view of the answers. The error is of the first command that failed; who is
// live stands in the state, and is told all the same.
func (r *sceneRead) view(stages []string) (SceneView, error) {
	view := SceneView{Scene: r.scene}
	for _, stage := range stages {
		view.Stages = append(view.Stages, stageView(r.scene.Of(stage), r.state.Val()))
	}
	commands := []redis.Cmder{r.cancel, r.state}
	for i := range stages {
		commands = append(commands, r.intents[i], r.deferrals[i])
	}
	for _, c := range commands {
		if err := c.Err(); err != nil && err != redis.Nil {
			key, _ := c.Args()[1].(string)
			return view, unread("read", r.scene.String(), key, err)
		}
	}
	view.Cancelled = r.cancel.Err() == nil
	for i := range stages {
		v := &view.Stages[i]
		v.Intent = intentView(r.intents[i].Val())
		v.Deferral = parseDeferral(r.deferrals[i].Val())
	}
	return view, nil
}

func stageView(stage ports.StageID, hash map[string]string) StageView {
	field := func(name string) string { return hash[stage.Stage+"."+name] }
	return StageView{
		Stage:      stage,
		State:      asset.State(field("state")),
		Reason:     field("reason"),
		Dispatch:   field("dispatch"),
		Holder:     field("holder"),
		Fence:      number(field("fence")),
		Generation: number(field("generation")),
		Version:    number(field("version")),
		Mark:       number(field("mark")),
		Started:    instant(field("started")),
		Renewed:    instant(field("renewed")),
		Idle:       number(field("idle")),
		Next:       instant(field("next")),
		Floor:      number(field("floor")),
	}
}

func intentView(hash map[string]string) IntentView {
	if len(hash) == 0 {
		return IntentView{}
	}
	v := IntentView{Present: true, Generation: number(hash["generation"]), Status: hash["status"], Force: hash["force"] == "1"}
	known := v.Status == StatusActive || v.Status == StatusCancelled || v.Status == StatusDeleted
	v.Corrupt = v.Generation == 0 || !known
	return v
}

// Job is one job of a dispatch.
type Job struct {
	ID     string
	State  string // JobOutstanding, ...
	Result string // of a done or failed one
}

// Jobs returns the jobs of a live dispatch, by id.
func (s *Store) Jobs(ctx context.Context, dispatch string) ([]Job, error) {
	key := keys.DispatchJobs(dispatch)
	hash, err := s.client.HGetAll(ctx, key).Result()
	if err != nil {
		return nil, unread("jobs of", dispatch, key, err)
	}
	jobs := make([]Job, 0, len(hash))
	for id, value := range hash { //sim:unordered sorted below
		state, result, _ := strings.Cut(value, "|")
		jobs = append(jobs, Job{id, state, result})
	}
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Compare(a.ID, b.ID) })
	return jobs, nil
}
