package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// TestIntentStates: what each intent makes of each state, and of the indexes.
func TestIntentStates(t *testing.T) {
	states := []string{"none", "new", "pending", "generating", "ready", "dirty", "failed", "placeholder"}
	again := "pending pending pending pending dirty pending pending pending"
	for _, tt := range []struct {
		op     store.IntentOp
		after  string // one for each of states
		status string
		floor  bool
	}{
		{store.OpRequest, "pending pending pending pending ready pending pending pending", "active", false},
		{store.OpRegenerate, again, "active", true},
		{store.OpReset, again, "active", true},
		{store.OpCancel, "none new pending pending ready dirty failed placeholder", "cancelled", false},
		{store.OpDelete, "none none none none none none none none", "deleted", false},
	} {
		for i, before := range states {
			t.Run(string(tt.op)+" "+before, func(t *testing.T) {
				before := strings.TrimPrefix(before, "none")
				after := strings.TrimPrefix(strings.Fields(tt.after)[i], "none")
				w := newWorld(t)
				w.do("HSET K:intent:b:c:s:image generation 3 status active\nSET K:generation:cancel:b 1")
				if before != "" {
					w.do("HSET K:asset-state:b:c:s image.state " + before)
				}
				got, err := w.Intent(ctx, tt.op, stage, true)
				require.NoError(t, err)
				require.Equal(t, store.IntentReply{Generation: 4, Before: asset.State(before), State: asset.State(after)}, got)
				view, err := w.ReadScenes(ctx, []ports.SceneID{scene}, []string{"image"})
				require.NoError(t, err)
				want := store.StageView{Stage: stage, State: asset.State(after), Intent: store.IntentView{Present: true, Generation: 4, Status: tt.status, Force: true}}
				if tt.floor {
					want.Floor = 4
				}
				require.Equal(t, want, view[0].Stages[0])
				require.Equal(t, tt.status != "active", view[0].Cancelled, "the cancel flag")
				active, _, err := w.Active(ctx)
				require.NoError(t, err)
				ofBook, err := w.ScenesOf(ctx, "b")
				require.NoError(t, err)
				require.Equal(t, tt.status == "active", len(active) == 1)
				require.Equal(t, active, ofBook)
			})
		}
	}
}

// TestEdit: an edit asks for what is asked for, and for nothing else.
func TestEdit(t *testing.T) {
	for _, tt := range []struct {
		name, state string
		want        store.IntentReply
	}{
		{"ready", "HSET K:intent:b:c:s:image generation 3 status active\nHSET K:asset-state:b:c:s image.state ready",
			store.IntentReply{Generation: 4, Before: "ready", State: "dirty"}},
		{"failed", "HSET K:intent:b:c:s:image generation 3 status active\nHSET K:asset-state:b:c:s image.state failed",
			store.IntentReply{Generation: 4, Before: "failed", State: "pending"}},
		{"never asked for", "", store.IntentReply{Kept: true}},
		{"cancelled", "HSET K:intent:b:c:s:image generation 3 status cancelled\nHSET K:asset-state:b:c:s image.state ready",
			store.IntentReply{Kept: true, Before: "ready", State: "ready"}},
		{"its book is cancelled", "HSET K:intent:b:c:s:image generation 3 status active\nHSET K:asset-state:b:c:s image.state pending\nSET K:generation:cancel:b 1",
			store.IntentReply{Kept: true, Before: "pending", State: "pending"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.state != "" {
				w.do(tt.state)
			}
			got, err := w.Intent(ctx, store.OpEdit, stage, false)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			view, err := w.ReadStage(ctx, stage)
			require.NoError(t, err)
			require.Zero(t, view.Floor, "what stands may be good enough")
		})
	}
}

// TestIntentEndsDispatch: the live dispatch and everything that held the stage back go in
// one step.
func TestIntentEndsDispatch(t *testing.T) {
	w := newWorld(t)
	w.do(live + `
		HSET K:asset-state:b:c:s image.claim c image.claim_until 5 image.idle 4 image.next 9000000 image.reason r
		SET K:runtime:deferred:b:c:s:image x
		ZADD K:runtime:deferred-of:b 2000000 c:s:image 2000000 c:s:audio
		HSET K:budget:b:c:s:image tokens 0 at 1`)
	got, err := w.Intent(ctx, store.OpRegenerate, stage, false)
	require.NoError(t, err)
	require.Equal(t, store.IntentReply{Generation: 4, Before: asset.Generating, State: asset.Pending, Replaced: "d1", ReplacedFence: 5}, got)
	require.Equal(t, unindent(`
		K:active-scenes has b:c:s
		K:asset-state:b:c:s image.fence = 5
		K:asset-state:b:c:s image.floor = 4
		K:asset-state:b:c:s image.generation = 3
		K:asset-state:b:c:s image.mark = 9
		K:asset-state:b:c:s image.reason = r
		K:asset-state:b:c:s image.started = 1000000
		K:asset-state:b:c:s image.state = pending
		K:asset-state:b:c:s image.version = 7
		K:dispatch-completed:b:c:s:image:d1 = cancelled|1000000
		K:dispatch-completed:b:c:s:image:d1 lives 86400000
		K:intent:b:c:s:image at = 1000000
		K:intent:b:c:s:image force = 0
		K:intent:b:c:s:image generation = 4
		K:intent:b:c:s:image scope =
		K:intent:b:c:s:image status = active
		K:runtime:deferred-of:b c:s:audio = 2000000
		K:runtime:outbox 0 = finished|d1|cancelled||b|c|s|image|pending||1000000|0|3|
		K:runtime:purges d1 = 1000000
		K:scenes-of:b has c:s`), strings.Join(w.dump(), "\n"))

	again, err := w.Intent(ctx, store.OpRegenerate, stage, false) // the answer was lost
	require.NoError(t, err)
	require.Equal(t, store.IntentReply{Generation: 5, Before: asset.Pending, State: asset.Pending, ReplacedFence: 5}, again)
}

// TestIntentGeneration: it grows over whatever number is known, and garbage counts as 0.
func TestIntentGeneration(t *testing.T) {
	for given, want := range map[string]int64{
		"":                                       1,
		"HSET K:intent:b:c:s:image generation 7": 8,
		"HSET K:asset-state:b:c:s image.generation 9":                                                    10,
		"HSET K:intent:b:c:s:image generation 7\nHSET K:asset-state:b:c:s image.generation 5":            8,
		"HSET K:intent:b:c:s:image generation -7\nHSET K:asset-state:b:c:s image.generation 0x10":        1,
		"HSET K:intent:b:c:s:image generation 1e3 status x\nHSET K:asset-state:b:c:s image.generation 2": 3,
	} {
		w := newWorld(t)
		w.do(given)
		got, err := w.Intent(ctx, store.OpRequest, stage, false)
		require.NoError(t, err)
		require.Equal(t, want, got.Generation, given)
	}
}

// TestDelete: what other stages still need stays; so do the numbers that only grow.
func TestDelete(t *testing.T) {
	w := newWorld(t)
	_, err := w.Intent(ctx, store.OpRequest, stage, false)
	require.NoError(t, err)
	_, err = w.Intent(ctx, store.OpRequest, scene.Of("audio"), false)
	require.NoError(t, err)
	w.do("HSET K:asset-state:b:c:s image.fence 5 image.generation 3 image.version 7 image.mark 9 image.started 1 image.reason r image.floor 2")

	_, err = w.Intent(ctx, store.OpDelete, stage, false)
	require.NoError(t, err)
	active, _, _ := w.Active(ctx)
	require.Len(t, active, 1, "audio is still there")
	view, err := w.ReadStage(ctx, stage)
	require.NoError(t, err)
	require.Equal(t, store.StageView{Stage: stage, Fence: 5, Generation: 3, Intent: store.IntentView{Present: true, Generation: 4, Status: "deleted"}}, view)

	_, err = w.Intent(ctx, store.OpDelete, scene.Of("audio"), false)
	require.NoError(t, err)
	active, _, _ = w.Active(ctx)
	require.Empty(t, active)
	require.False(t, w.redis.Exists("animastor:scenes-of:b"))
}

func TestRetire(t *testing.T) {
	given := `
		SADD K:active-scenes b:c:s
		HSET K:intent:b:c:s:image generation 3 status active
		HSET K:intent:b:c:s:audio generation 3 status active
		HSET K:asset-state:b:c:s image.state ready audio.state failed
	`
	gone := "- K:active-scenes has b:c:s"
	table(t, given, func(w *world) (bool, error) { return w.Retire(ctx, scene, []string{"audio", "image"}) }, []test{
		{"all done", "", true, gone},
		{"one pending", "HSET K:asset-state:b:c:s image.state pending", false, ""},
		{"one dirty", "HSET K:asset-state:b:c:s audio.state dirty", false, ""},
		{"pending and cancelled", "HSET K:asset-state:b:c:s image.state pending\nHSET K:intent:b:c:s:image status cancelled", true, gone},
		{"pending and never asked for", "HSET K:asset-state:b:c:s image.state pending\nDEL K:intent:b:c:s:image", true, gone},
		{"pending and garbled", "HSET K:asset-state:b:c:s image.state pending\nHSET K:intent:b:c:s:image status x", false, ""},
		{"video is not enabled", "HSET K:asset-state:b:c:s video.state pending\nHSET K:intent:b:c:s:video generation 1 status active", true, gone},
		{"again, after a lost answer", "DEL K:active-scenes", true, ""},
	})
}

// TestOutboxIsBounded: the last 10,000 lines stay.
func TestOutboxIsBounded(t *testing.T) {
	w := newWorld(t)
	lines := make([]string, 10_000)
	for i := range lines {
		lines[i] = "x"
	}
	_, err := w.redis.Push("animastor:runtime:outbox", lines...)
	require.NoError(t, err)
	w.do(pending)
	_, err = begin(w)
	require.NoError(t, err)
	got, err := w.Outbox(ctx, 20_000)
	require.NoError(t, err)
	require.Len(t, got, 10_000)
	require.Equal(t, "started|d1|||b|c|s|image", got[9_999])
}
