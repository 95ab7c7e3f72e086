package store

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
)

// IntentOp is what a user asks for of a stage.
type IntentOp string

// The intents.
const (
	OpRequest    IntentOp = "request"    // make it, unless it is ready
	OpRegenerate IntentOp = "regenerate" // make it again
	OpReset      IntentOp = "reset"      // make it again
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
func (s *Store) Intent(ctx context.Context, op IntentOp, stage asset.StageID, force bool) (IntentReply, error) {
	live := ""
	for range intentTriesMax {
		r, err := s.intent(ctx, op, stage, force, live)
		if err != nil {
			return IntentReply{Replaced: live}, err
		}
		if r.verdict() == OK {
			return IntentReply{r.int(1), asset.State(r[2]), asset.State(r[3]), r[4], r.int(5)}, nil
		}
		live = r[1]
	}
	return IntentReply{}, fmt.Errorf("store: intent %s: its dispatch changed %d times in a row; try again", stage, intentTriesMax)
}

// intent tries once, for the live dispatch that the caller knows of ("": none).
func (s *Store) intent(ctx context.Context, op IntentOp, stage asset.StageID, force bool, live string) (reply, error) {
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
			keys.Purges(),
		},
		string(op), stage.Stage, live, keys.SceneMember(stage.SceneID), keys.BookSceneMember(stage.SceneID),
		keys.BookStageMember(stage), flag(force), line.String())
}

// Retire takes a scene out of the active index if each of the stages is ready or failed,
// or nobody asks for it (design 5.4.5). It returns false if work is left.
func (s *Store) Retire(ctx context.Context, scene asset.SceneID, stages []string) (bool, error) {
	names := []string{keys.AssetState(scene), keys.ActiveScenes()}
	for _, stage := range stages {
		names = append(names, keys.Intent(scene.Of(stage)))
	}
	return s.yes(ctx, &scripts.retire, scene.String(), names, with([]any{keys.SceneMember(scene)}, stages...)...)
}

// CancelBook sets the cancel flag of a book: from now on Begin and Admit refuse its
// stages (SC3), until a new intent takes it away. at is only for who reads the flag.
func (s *Store) CancelBook(ctx context.Context, book string, at time.Time) error {
	if err := s.client.Set(ctx, keys.Cancel(book), at.UnixMilli(), 0).Err(); err != nil {
		return failed("cancel", book, err)
	}
	return nil
}
