package asset

import "slices"

// State is the state of a stage, as it stands in the hash asset-state (schema 2, 6).
type State string

// The states of a stage.
const (
	New         State = "new"         // never asked for
	Pending     State = "pending"     // asked for, waits for a dispatch
	Generating  State = "generating"  // a dispatch is live
	Ready       State = "ready"       // an artifact of the current version exists
	Dirty       State = "dirty"       // must be made again
	Failed      State = "failed"      // given up until an explicit intent
	Placeholder State = "placeholder" // silent audio stands in; pending if the layer is on, done if it is off
)

// States returns all states.
func States() []State {
	return []State{New, Pending, Generating, Ready, Dirty, Failed, Placeholder}
}

// Move is one edge of the state machine.
type Move struct {
	From, To State
	When     string // what makes the move, for the documentation
}

// moves is the whole state machine (schema 6). A placeholder is written by who
// makes the silent file, not by a move, and leaves as PENDING does.
var moves = []Move{
	{New, Pending, "requested"},
	{Pending, Generating, "begin"},
	{Dirty, Generating, "begin"},
	{Placeholder, Generating, "begin, with the audio layer on"},
	{Generating, Ready, "every unit accepted and proved"},
	{Generating, Pending, "the dispatch ended without a result"},
	{Generating, Failed, "a permanent failure"},
	{Generating, Dirty, "edited meanwhile, or a dirty unit is left"},
	{Pending, Failed, "blocked_by_image, retry_budget_exhausted"},
	{Dirty, Failed, "blocked_by_image, retry_budget_exhausted"},
	{Placeholder, Failed, "retry_budget_exhausted, with the audio layer on"},
	{Ready, Dirty, "edited, regenerated, or its artifact lost"},
	{Failed, Pending, "explicit intent; after blocked_by_image also when the image becomes ready"},
}

// Moves returns every legal move; all others are refused, change nothing and are
// reported.
func Moves() []Move { return slices.Clone(moves) }

// CanMove reports whether a stage may go from one state to another. Staying is
// not a move.
func CanMove(from, to State) bool {
	for i := range moves {
		if moves[i].From == from && moves[i].To == to {
			return true
		}
	}
	return false
}

// Done reports whether nothing is left to do for a stage: it is READY or FAILED,
// or its layer is disabled (design 5.4.5). It is the only definition of done.
func Done(state State, enabled bool) bool {
	return !enabled || state == Ready || state == Failed
}

// Dispatchable reports whether begin may take an enabled stage in this state:
// whether it may move to GENERATING.
func Dispatchable(state State) bool { return CanMove(state, Generating) }

// Awaited reports whether an image stage in this state keeps the video of its scene
// waiting: it was asked for and is not done (design 5.4.5).
func Awaited(image State) bool { return image == Pending || image == Dirty || image == Generating }
