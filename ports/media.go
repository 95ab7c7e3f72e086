package ports

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Merge is the order to make one file of several.
type Merge struct {
	Whole Artifact // what is to stand; its Size is the merge's to say
	Parts []string // paths, in order; at least one
}

// Joined is how long parts of audio are one after the other, with and without the silence at
// the end of the last one. If one of them was not measured, the whole was not (H-18).
func Joined(parts []Artifact) (duration, trimmed time.Duration) {
	for _, part := range parts {
		if part.Duration <= 0 || part.Trimmed <= 0 {
			return 0, 0
		}
		duration, trimmed = duration+part.Duration, duration+part.Trimmed
	}
	return duration, trimmed
}

// ErrMissingPart says that a part of a merge does not stand.
var ErrMissingPart = errors.New("media: a part is missing")

// Placeholders makes silent audio, which stands in until the real audio of a scene is
// there.
type Placeholders interface {
	// Place puts silence under the path, marked as a placeholder, unless a file stands
	// there: then it changes nothing, so that a late one never takes the place of the real
	// audio (H-69).
	Place(ctx context.Context, path string) error
}

// UnitTime is when a picture is shown, from the beginning of the scene's audio.
type UnitTime struct {
	Unit       string
	Start, End time.Duration
}

// ValidateTimes checks times of units of a scene. The error is ErrInvalid.
func (s SceneID) ValidateTimes(version int64, times []UnitTime) error {
	if err := errors.Join(s.Validate(), ValidateNumber("version", version)); err != nil {
		return err
	}
	for _, t := range times {
		if err := ValidateID("unit", t.Unit); err != nil {
			return err
		}
		if t.Start < 0 || t.End < t.Start {
			return fmt.Errorf("%w: unit %s is shown from %s to %s", ErrInvalid, Quote(t.Unit), t.Start, t.End)
		}
	}
	return nil
}

// Timings keeps when the pictures of scenes are shown.
type Timings interface {
	// SetTimes replaces the times of all units of a scene, at once, and touches nothing
	// else of them (H-18). Times of an older content version than the scene has now, as far
	// as it knows, are dropped, which is no error. What makes no sense is ErrInvalid.
	SetTimes(ctx context.Context, scene SceneID, version int64, times []UnitTime) error
}

// Media puts files together.
type Media interface {
	// Merge makes the whole of its parts, under the whole's path: all of it or nothing,
	// in place of what stood there, but never of a file of a higher generation. It is as
	// long as Joined says, but for silence that is cut off. Asked again it does the same
	// again. A merge may go on after the caller's deadline, so any error but ErrMissingPart
	// is ambiguous: look whether the whole stands.
	Merge(ctx context.Context, m Merge) error
}
