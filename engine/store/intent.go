package store

import (
	"context"
	"fmt"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// IntentOp is what a user asks for of a stage.
type IntentOp string

// The intents.
const (
	OpRequest    IntentOp = "request"    // make it, unless it is ready
	OpRegenerate IntentOp = "regenerate" // make it again
	OpReset      IntentOp = "reset"      // make it again
	OpEdit       IntentOp = "edit"       // make what it lacks now, if it is asked for
	OpCancel     IntentOp = "cancel"     // stop, and begin nothing
	OpDelete     IntentOp = "delete"     // stop, and forget the stage
)

// The statuses of an intent.
const (
	StatusActive    = "active"
	StatusCancelled = "cancelled"
	StatusDeleted   = "deleted"
)

const intentTriesMax = 8 // each failure is a dispatch begun or ended in between

// IntentReply says what an intent did.
type IntentReply struct {
	Kept          bool        // OpEdit: nobody asks for the stage, and nothing was done; only the states are set then
	Generation    int64       // the new one
	Before        asset.State // "" if the stage was unknown
	State         asset.State // after it; "" if the stage is unknown now
	Replaced      string      // the live dispatch that it ended, whose jobs must be purged
	ReplacedFence int64       // the last fence of the stage
}

// Intent raises the generation of a stage and makes it ready for what is asked
// (schema 3): no deferral, budget or backoff of before counts any more (DF1, RB1), the
// live dispatch is ended in the same step, and the indexes follow (HB5). A dispatch that
// begins or ends meanwhile makes it start over, 8 times at most. With an error Replaced
// is the dispatch that it was about to end, or may have ended.
func (s *Store) Intent(ctx context.Context, op IntentOp, stage ports.StageID, force bool) (IntentReply, error) {
	_, r, err := s.intent(ctx, StartArgs{Stage: stage, Op: op, Force: force})
	return r, err
}

// StartArgs is a stage to be started for a scope.
type StartArgs struct {
	Scope  Scope
	Stage  ports.StageID
	Op     IntentOp
	Force  bool
	Number int64 // of the order that asks for it
	Stands bool  // all that it must leave was proved present: one never asked for is ready
}

// Start is Intent for a scope: OK, Started if the same order has started the stage before,
// and Stale if the scope has an order later than those that the caller read, or is gone, or
// the scene does not stand where it did; these two write nothing. So a stage is started once
// for an order, however many look, and never when its scene has left the window meanwhile.
func (s *Store) Start(ctx context.Context, a StartArgs) (Verdict, IntentReply, error) {
	return s.intent(ctx, a)
}

func (s *Store) intent(ctx context.Context, a StartArgs) (Verdict, IntentReply, error) {
	live := ""
	for range intentTriesMax {
		r, err := s.tryIntent(ctx, a, live)
		if err != nil {
			return "", IntentReply{Replaced: live}, err
		}
		switch r.verdict() {
		case OK, Started:
			return r.verdict(), IntentReply{false, r.int(1), asset.State(r[2]), asset.State(r[3]), r[4], r.int(5)}, nil
		case Kept:
			return Kept, IntentReply{Kept: true, Before: asset.State(r[2]), State: asset.State(r[3])}, nil
		case Stale:
			return Stale, IntentReply{}, nil
		}
		live = r[1]
	}
	return "", IntentReply{}, fmt.Errorf("store: intent %s: its dispatch changed %d times in a row; try again", a.Stage, intentTriesMax)
}

// tryIntent tries once, for the live dispatch that the caller knows of ("": none).
func (s *Store) tryIntent(ctx context.Context, a StartArgs, live string) (reply, error) {
	stage := a.Stage
	line, dispatch := Line{Kind: LineFinished, Dispatch: live, Outcome: "cancelled", Stage: stage}, live
	if dispatch == "" {
		dispatch = "none" // its keys are declared and not used
	}
	return s.run(ctx, &scripts.intent, stage.String(),
		[]string{
			keys.Intent(stage), keys.AssetState(stage.SceneID), keys.Deferred(stage), keys.DeferredOf(stage.Book),
			keys.Budget(stage), keys.ActiveScenes(), keys.ScenesOf(stage.Book), keys.Cancel(stage.Book), keys.Outbox(),
			keys.Lease(stage), keys.Dispatch(stage), keys.Slots(stage.Stage), keys.DispatchJobs(dispatch),
			keys.DispatchCompleted(stage, dispatch), keys.BreakerPermits(stage.Stage),
			keys.Purges(), keys.Scope(stage.Book),
		},
		string(a.Op), stage.Stage, live, keys.SceneMember(stage.SceneID), keys.BookSceneMember(stage.SceneID),
		keys.BookStageMember(stage), flag(a.Force), line.String(),
		a.Scope.ID, a.Scope.last, a.Scope.place(stage.SceneID), a.Scope.mark(a.Number), flag(a.Stands))
}

// Retire takes a scene out of the active index if each of the stages is ready or failed,
// or nobody asks for it (design 5.4.5). It returns false if work is left.
func (s *Store) Retire(ctx context.Context, scene ports.SceneID, stages []string) (bool, error) {
	names := []string{keys.AssetState(scene), keys.ActiveScenes()}
	for _, stage := range stages {
		names = append(names, keys.Intent(scene.Of(stage)))
	}
	return s.yes(ctx, &scripts.retire, scene.String(), names, with([]any{keys.SceneMember(scene)}, stages...)...)
}
