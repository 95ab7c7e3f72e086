package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// takeOut takes out of a case that fails what can be taken out: chunks of its units, from large
// ones to single ones. It knows the case, so it finds smaller ones than rapid can by the draws
// that made it. It stops at a time.
func takeOut[T any](items []T, units func([]T) int, without func(items []T, from, size int) []T, stop time.Time, fails func([]T) bool) []T {
	for size := units(items); size > 0; size /= 2 {
		for again := true; again; {
			again = false
			for at := units(items) - size; at >= 0; at -= size {
				if smaller := without(items, at, size); len(smaller) > 0 && time.Now().Before(stop) && fails(smaller) {
					items, again = smaller, size == 1
				}
			}
		}
	}
	return items
}

// smallest takes out of a case that fails what can be taken out: commands and calls, and then
// the rests.
func smallest(steps []step, stop time.Time, fails func([]step) bool) []step {
	steps = takeOut(steps, units, without, stop, fails)
	for i := range steps {
		if steps[i].restMs > 0 {
			smaller := append([]step{}, steps...)
			smaller[i].restMs = 0
			if time.Now().Before(stop) && fails(smaller) {
				steps = smaller
			}
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
