package artifactdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/animastor/orchestra/ports"
)

var _ ports.Placeholders = (*Tree)(nil)

// errStands says no to silence where something stands.
var errStands = errors.New("artifactdir: a file stands there")

// Place implements ports.Placeholders. What cannot be read is not taken for missing.
func (t *Tree) Place(ctx context.Context, path string) error {
	_, presence, err := t.Stat(ctx, path)
	if err == nil && presence == ports.Absent { // which the lock has to see, too
		err = t.put(ctx, ports.Artifact{Path: path, Placeholder: true}, writeSilence, func(_ ports.Artifact, presence ports.Presence, err error) error {
			if err == nil && presence == ports.Present {
				return errStands
			}
			return err
		})
	}
	if err != nil && !errors.Is(err, errStands) {
		return fmt.Errorf("place silence at %s: %w", path, err)
	}
	return nil
}

// A frame of MPEG-1 Layer III, 48 kHz, one channel, 32 kbit/s: 1152 samples in 96 bytes. Its
// header is the whole of it: with nothing but zeros behind, it has no sound to decode.
const (
	frameHeader  = "\xff\xfb\x14\xc4"
	frameBytes   = 96
	framesSecond = 42 // 24 ms each; silence for a second
)

func writeSilence(w io.Writer) error {
	frame := make([]byte, frameBytes)
	copy(frame, frameHeader)
	_, err := w.Write(bytes.Repeat(frame, framesSecond))
	return err
}
