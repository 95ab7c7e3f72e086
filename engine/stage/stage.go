package stage

import (
	"context"
	"errors"

	"github.com/animastor/orchestra/ports"
)

// Stage is the executor of one kind of media. floor is the lowest generation that is
// good enough for an artifact.
type Stage interface {
	// Name is asset.Audio, asset.Image or asset.Video.
	Name() string
	// Plan lists the units that still lack an artifact. An error means that it could
	// not be told.
	Plan(ctx context.Context, scene ports.Scene, floor int64) (Plan, error)
	// Path is where the artifact of a unit goes that a dispatch of that generation makes.
	Path(scene ports.SceneID, unit string, generation int64) string
	// Composition is what the artifact of a unit is to be made of now, for the payload of
	// its job; "" where that is the content alone.
	Composition(ctx context.Context, scene ports.Scene, unit string) (string, error)
	// Stat is the proof for one unit.
	Stat(ctx context.Context, scene ports.Scene, unit string, floor int64) (ports.Presence, error)
	// Assemble makes what the stage must leave of the units' artifacts, if there is
	// anything to make, and proves it: Absent says that an artifact of a unit is missing.
	// It may be asked again, also while another does the same. The error is a
	// *MergeError if the proofs could be read and the file could not be made, and ErrEdited
	// if a unit was marked dirty since the dispatch was planned.
	Assemble(ctx context.Context, scene ports.Scene, b Build) (ports.Presence, error)
	// Prove says whether what the stage must leave stands, of whatever it was made.
	Prove(ctx context.Context, scene ports.Scene, floor int64) (ports.Presence, error)
}

// Companion is what a stage does beside its jobs, as well as it can: an error is reported,
// and fails no work.
type Companion interface {
	// Begun follows the begin of a dispatch that has jobs.
	Begun(ctx context.Context, scene ports.Scene) error
	// Proved follows the proof that all stands, before the stage is READY. It may be called
	// again.
	Proved(ctx context.Context, scene ports.Scene) error
}

// ErrEdited says that what was made is not enough: a unit was marked dirty meanwhile.
var ErrEdited = errors.New("stage: a unit was marked dirty since the dispatch was planned")

// Build is what is assembled, and for what.
type Build struct {
	Generation int64 // of the dispatch
	Floor      int64
	Mark       int64    // the highest dirty mark that the dispatch was planned for
	Units      []string // whose artifacts the dispatch has made
}

// Plan is what a stage of a scene still needs.
type Plan struct {
	Units  []string // to generate, in reading order
	Cached []string // units whose artifact stands already
	Whole  bool     // all that the stage must leave stands
	Mark   int64    // the highest dirty mark that it minds
	Reason string   // why there is nothing to leave (outcome.NoSegments); then Whole is set
}

// Complete says that nothing is left to generate, and something was there to do.
func (p Plan) Complete() bool { return p.Whole || len(p.Units) == 0 && len(p.Cached) > 0 }

// plan asks for each unit.
func plan(units []string, stat func(unit string) (ports.Presence, error)) (Plan, error) {
	var p Plan
	for _, unit := range units {
		presence, err := stat(unit)
		switch {
		case err != nil:
			return Plan{}, err
		case presence == ports.Present:
			p.Cached = append(p.Cached, unit)
		default:
			p.Units = append(p.Units, unit)
		}
	}
	return p, nil
}

// prove asks for each unit until one does not stand: that proves absence, and an
// unreadable one leaves the answer unknown.
func prove(units []string, stat func(unit string) (ports.Presence, error)) (ports.Presence, error) {
	for _, unit := range units {
		presence, err := stat(unit)
		if presence != ports.Present {
			return presence, err
		}
	}
	return ports.Present, nil
}

// proves says whether a file that stands proves anything: one of size 0 is an unfinished
// upload, a placeholder stands for what is missing, and one of an older generation than
// floor, or of an older version than its unit, is not good enough.
func proves(a ports.Artifact, floor, version int64) bool {
	return a.Size > 0 && !a.Placeholder && a.Generation >= floor && !ports.Stale(a.Version, version)
}

// stands proves a file. A composition is demanded unless it is empty: a file of other
// parts is as good as none (audit of moved group boundaries, H-29).
func stands(ctx context.Context, tree ports.Artifacts, path, composition string, floor, version int64) (ports.Presence, error) {
	a, presence, err := tree.Stat(ctx, path)
	if presence == ports.Present && (!proves(a, floor, version) || composition != "" && a.Composition != composition) {
		presence = ports.Absent
	}
	return presence, err
}

// versionOf is the content version that changed a unit last; 0: no such unit.
func versionOf(units []ports.Unit, id string) int64 {
	for _, u := range units {
		if u.ID == id {
			return u.Version
		}
	}
	return 0
}

func ids(units []ports.Unit) []string {
	list := make([]string, len(units))
	for i, u := range units {
		list[i] = u.ID
	}
	return list
}
