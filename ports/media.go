package ports

import (
	"context"
	"errors"
)

// Merge is the order to make one file of several.
type Merge struct {
	Whole Artifact // what is to stand; its Size is the merge's to say
	Parts []string // paths, in order; at least one
}

// ErrMissingPart says that a part of a merge does not stand.
var ErrMissingPart = errors.New("media: a part is missing")

// Media puts files together.
type Media interface {
	// Merge makes the whole of its parts, under the whole's path: all of it or nothing,
	// in place of what stood there, but never of a file of a higher generation. Asked
	// again it does the same again. A merge may go on after the caller's deadline, so any
	// error but ErrMissingPart is ambiguous: look whether the whole stands.
	Merge(ctx context.Context, m Merge) error
}
