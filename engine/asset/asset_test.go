package asset_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/guard"
)

// matrix is schema 6 drawn by hand: a row per state, an x where the move is legal.
const matrix = `
             new pending generating ready dirty failed placeholder
new           .     x        .        .     .     .        .
pending       .     .        x        .     .     x        .
generating    .     x        .        x     x     x        .
ready         .     .        .        .     x     .        .
dirty         .     .        x        .     .     x        .
failed        .     x        .        .     .     .        .
placeholder   .     .        x        .     .     x        .
`

func TestMoves(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(matrix), "\n")
	to := strings.Fields(lines[0])
	legal := 0
	for _, line := range lines[1:] {
		row := strings.Fields(line)
		for i, mark := range row[1:] {
			require.Equal(t, mark == "x", asset.CanMove(asset.State(row[0]), asset.State(to[i])), "%s -> %s", row[0], to[i])
			if mark == "x" {
				legal++
			}
		}
	}
	require.Len(t, asset.Moves(), legal, "a move is listed twice, or one has an unknown state")
	require.Len(t, asset.States(), len(to))
}

// TestUnknownState: a corrupt state goes nowhere and nobody comes to it.
func TestUnknownState(t *testing.T) {
	for _, s := range asset.States() {
		require.False(t, asset.CanMove(s, "READY"), "states are lower case")
		require.False(t, asset.CanMove("", s))
	}
	require.False(t, asset.Dispatchable(""))
	require.False(t, asset.Done("", true))
}

func TestDoneAndDispatchable(t *testing.T) {
	for _, s := range asset.States() {
		require.True(t, asset.Done(s, false), "%s: a disabled layer is done", s)
		require.Equal(t, s == asset.Ready || s == asset.Failed, asset.Done(s, true), s)
		require.Equal(t, s == asset.Pending || s == asset.Dirty || s == asset.Placeholder, asset.Dispatchable(s), s)
		require.False(t, asset.Done(s, true) && asset.Dispatchable(s), "%s is both done and dispatchable", s)
	}
}

func TestProfiles(t *testing.T) {
	for _, want := range []struct {
		stage                     string
		slots                     int
		lease, renewed            time.Duration // seconds
		jobTimeout, progressLimit time.Duration // minutes
	}{
		{"audio", 8, 1860, 2040, 10, 15},
		{"image", 4, 1200, 1380, 20, 25},
		{"video", 2, 1800, 1980, 60, 65},
	} {
		p := asset.ProfileOf(want.stage)
		require.Equal(t, asset.Profile{
			Stage: want.stage, Slots: want.slots,
			Lease: want.lease * time.Second, RenewedLease: want.renewed * time.Second, RenewEvery: 30 * time.Second,
			JobTimeout: want.jobTimeout * time.Minute, ProgressDeadline: want.progressLimit * time.Minute,
			RetryBudget: 10, RefillEvery: 6 * time.Minute, Breaker: guard.Published(),
		}, p)
		require.True(t, asset.ValidStage(want.stage))
	}
	stages := []string{}
	for _, p := range asset.Profiles() {
		stages = append(stages, p.Stage)
	}
	require.Equal(t, asset.Stages(), stages)
	require.False(t, asset.ValidStage("Image"))
	require.PanicsWithValue(t, `asset: no profile of stage "text"; check ValidStage first`, func() { asset.ProfileOf("text") })
}

func TestTablesAreCopies(t *testing.T) {
	asset.Moves()[0].To = asset.Failed
	asset.Profiles()[0].Slots = 0
	require.True(t, asset.CanMove(asset.New, asset.Pending))
	require.Equal(t, 8, asset.ProfileOf(asset.Audio).Slots)
}
