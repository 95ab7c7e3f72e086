package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

func TestRestore(t *testing.T) {
	asked := "HSET K:intent:b:c:s:image generation 3 status active\nSADD K:active-scenes b:c:s\nSADD K:scenes-of:b c:s\n"
	restore := func(w *world) (store.Verdict, error) { return w.Restore(ctx, stage) }
	lost := `
		+ K:asset-state:b:c:s image.fence = 1000000
		+ K:asset-state:b:c:s image.generation = 3
		+ K:asset-state:b:c:s image.state = pending`
	indexed := `
		+ K:active-scenes has b:c:s
		+ K:scenes-of:b has c:s`
	table(t, asked, restore, []test{
		{"its state is lost, and the fence with it", "", store.Restored, lost},
		{"generating without a dispatch", "HSET K:asset-state:b:c:s image.state generating image.fence 5 image.generation 3", store.Restored,
			"- K:asset-state:b:c:s image.state = generating\n+ K:asset-state:b:c:s image.state = pending"},
		{"generating with a dispatch", "HSET K:asset-state:b:c:s image.state generating image.dispatch d1", store.Kept, ""},
		{"with a dispatch, and not in the index", "HSET K:asset-state:b:c:s image.state generating image.dispatch d1\nDEL K:active-scenes K:scenes-of:b", store.Indexed, indexed},
		{"with a dispatch, and not in the index of its book", "HSET K:asset-state:b:c:s image.state generating image.dispatch d1\nDEL K:scenes-of:b", store.Indexed,
			"+ K:scenes-of:b has c:s"},
		{"pending", "HSET K:asset-state:b:c:s image.state pending image.fence 5", store.Kept, ""},
		{"pending, and not in the index", "HSET K:asset-state:b:c:s image.state pending image.fence 5\nDEL K:active-scenes K:scenes-of:b", store.Indexed, indexed},
		{"ready", "HSET K:asset-state:b:c:s image.state ready\nDEL K:active-scenes", store.Kept, ""},
		{"failed", "HSET K:asset-state:b:c:s image.state failed\nDEL K:active-scenes", store.Kept, ""},
		{"cancelled", "HSET K:intent:b:c:s:image status cancelled\nDEL K:active-scenes", store.Kept, ""},
		{"never asked for", "DEL K:intent:b:c:s:image K:active-scenes", store.Kept, ""},
	})
}

// TestDirty: only what is ready, asked for and not begun anew since the view.
func TestDirty(t *testing.T) {
	ready := "HSET K:intent:b:c:s:image generation 3 status active\nHSET K:asset-state:b:c:s image.state ready image.fence 5\n"
	dirty := func(w *world) (store.Verdict, error) { return w.Dirty(ctx, store.StageView{Stage: stage, Fence: 5}) }
	table(t, ready, dirty, []test{
		{"ready", "", store.Dirty, `
			- K:asset-state:b:c:s image.state = ready
			+ K:active-scenes has b:c:s
			+ K:asset-state:b:c:s image.reason = artifact_missing
			+ K:asset-state:b:c:s image.state = dirty
			+ K:scenes-of:b has c:s`},
		{"made again since", "HSET K:asset-state:b:c:s image.fence 6", store.Kept, ""},
		{"at work again", "HSET K:asset-state:b:c:s image.dispatch d1", store.Kept, ""},
		{"failed since", "HSET K:asset-state:b:c:s image.state failed", store.Kept, ""},
		{"cancelled", "HSET K:intent:b:c:s:image status cancelled", store.Kept, ""},
		{"its book is cancelled", "SET K:generation:cancel:b 1", store.Kept, ""},
		{"never asked for", "DEL K:intent:b:c:s:image", store.Kept, ""},
	})
}

func TestSlotsOfTheDead(t *testing.T) {
	w := newWorld(t)
	w.do("ZADD K:runtime:slots:image 1 d1 2000000 d2\nSET K:runtime:slots:audio x")
	got, err := w.SlotHolders(ctx, []string{asset.Image, asset.Audio})
	var corrupt *store.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, map[string][]string{"image": {"d1", "d2"}}, got, "the other stage's are read all the same")
	w.do("DEL K:runtime:slots:audio")
	got, err = w.SlotHolders(ctx, []string{asset.Image, asset.Audio})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"image": {"d1", "d2"}, "audio": {}}, got)
	n, err := w.ReleaseSlots(ctx, asset.Image, []string{"d2", "d3"})
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestPurges(t *testing.T) {
	w := newWorld(t)
	w.do("ZADD K:runtime:purges 3 d3 1 d1 2 d2")
	require.NoError(t, w.Purged(ctx, "d2"))
	ids, err := w.Purges(ctx, 5)
	require.NoError(t, err)
	require.Equal(t, []string{"d1", "d3"}, ids)
	ids, err = w.Purges(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"d1"}, ids)
}

func TestSuspicion(t *testing.T) {
	w := newWorld(t)
	row, err := w.Suspicion(ctx)
	require.NoError(t, err)
	require.Zero(t, row)
	for _, row := range []store.Suspicion{{Agreed: 2, What: "a|b"}, {}} {
		require.NoError(t, w.SetSuspicion(ctx, row))
		got, err := w.Suspicion(ctx)
		require.NoError(t, err)
		require.Equal(t, row, got)
	}
	w.do("SET K:runtime:suspicion x")
	row, err = w.Suspicion(ctx)
	require.NoError(t, err, "what makes no sense is no row")
	require.Zero(t, row)
	w.do("DEL K:runtime:suspicion\nSADD K:runtime:suspicion x")
	_, err = w.Suspicion(ctx)
	var corrupt *store.CorruptError
	require.ErrorAs(t, err, &corrupt)
}

func TestKnownScenes(t *testing.T) {
	w := newWorld(t)
	w.do("HSET K:asset-state:b:c:s image.state ready\nHSET K:asset-state:b:c%:s image.state ready\nHSET K:asset-state:b:%2A:s image.state ready")
	got, err := w.KnownScenes(ctx, []ports.SceneID{scene, {Book: "z", Chapter: "c", Scene: "s"}})
	require.NoError(t, err)
	require.Equal(t, []ports.SceneID{{Book: "b", Chapter: "*", Scene: "s"}, scene, {Book: "z", Chapter: "c", Scene: "s"}}, got)
}
