package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// smallest takes out of a case that fails what can be taken out: chunks of its commands and
// calls, from large ones to single ones, and then the rests. It knows the steps, so it
// finds smaller cases than rapid can by the draws that made them. It stops at a time.
func smallest(steps []step, stop time.Time, fails func([]step) bool) []step {
	better := func(smaller []step) bool {
		if len(smaller) == 0 || time.Now().After(stop) || !fails(smaller) {
			return false
		}
		steps = smaller
		return true
	}
	for size := units(steps); size > 0; size /= 2 {
		for again := true; again; {
			again = false
			for at := units(steps) - size; at >= 0; at -= size {
				again = better(without(steps, at, size)) && size == 1 || again
			}
		}
	}
	for i := range steps {
		if steps[i].restMs > 0 {
			smaller := append([]step{}, steps...)
			smaller[i].restMs = 0
			better(smaller)
		}
	}
	return steps
}

// units counts what can be taken out of a case: commands, and calls of the store.
func units(steps []step) (n int) {
	for _, s := range steps {
		n += max(1, len(s.commands))
	}
	return n
}

// without is a case that lacks some units, from one on. The rest before a step that is gone
// goes to the next one.
func without(steps []step, from, size int) (left []step) {
	unit, restMs := 0, int64(0)
	for _, s := range steps {
		var commands [][]string
		stays := false
		for i := range max(1, len(s.commands)) {
			if unit < from || unit >= from+size {
				stays = true
				if s.call == nil {
					commands = append(commands, s.commands[i])
				}
			}
			unit++
		}
		restMs += s.restMs
		if stays {
			s.commands, s.restMs = commands, restMs
			left, restMs = append(left, s), 0
		} else {
			restMs += gapMs
		}
	}
	return left
}

// TestSmallest: of a case that fails by two of its parts, those two are left.
func TestSmallest(t *testing.T) {
	culprit, innocent := []string{"culprit"}, []string{"innocent"}
	called := false
	call := func(*play) { called = true }
	steps := []step{
		commands(innocent, innocent, innocent), commands(innocent, culprit, innocent), {restMs: 3, call: call}, {call: call}, commands(innocent, innocent),
	}
	left := smallest(steps, time.Now().Add(time.Minute), func(steps []step) bool {
		guilty := 0
		for _, s := range steps {
			if s.call != nil {
				guilty |= 1
			}
			for _, command := range s.commands {
				if command[0] == "culprit" {
					guilty |= 2
				}
			}
		}
		return guilty == 3
	})
	require.Len(t, left, 2)
	require.Equal(t, [][]string{culprit}, left[0].commands)
	require.Zero(t, left[1].restMs)
	left[1].call(nil)
	require.True(t, called)
}
