package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/scenarios"
)

// TestEveryEnds: how long a settle takes, nobody knows before; what comes again and again until then
// ends with a failure, and not with the memory.
func TestEveryEnds(t *testing.T) {
	const text = "scenario x\nbook b1\nrequest b1\nevery 1ms heal hub\nsettle within=20m\n"
	failures := scenarios.RunProgram(vetted(t, "x.sim", text), 1, scenarios.RunOptions{Keep: 400}).Failures
	require.NotEmpty(t, failures)
	require.Equal(t, "4:1: every 1ms comes more than 1000000 times: saw no end of it; give it one with until, or let it come less often", failures[0].String())
}

// TestSettleWaitsForWhatAPassFinds: all is ready, and while the world rests a pass sees that the
// text has a segment more. World 105 was the first to end in the middle of that job; one that is
// short ends in time, and the host has not been told of it.
func TestSettleWaitsForWhatAPassFinds(t *testing.T) {
	const text = `scenario x

book     b1 stages=audio
workers  audio=1 job=20s

request  b1
run      2m40s
expect   state b1/*:audio = ready
edit     b1/c1/s1 segments=2
workers  audio=1 job=%s
settle   within=10m
expect   attempts b1/*:audio = 2
expect   leased b1/*:audio = no
`
	for _, job := range []string{"60s", "5s"} {
		program := vetted(t, "x.sim", fmt.Sprintf(text, job))
		require.Empty(t, scenarios.RunProgram(program, 1, scenarios.RunOptions{Keep: 400}).Failures, job)
	}
}
