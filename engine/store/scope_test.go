package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// scope is an open scope of the book: all of it requested, then a stage of it cancelled.
const scope = `
	HSET K:scope:b id x rev 4 last 3 window 2 order::: 1|request|1 order:c:s:image 3|cancel|0 scene:c:s2 1|entered|image scene:c:s1 1|past|
	SADD K:open-scopes b
`

var finale = store.Finale{Book: "b", Scope: "x", Ready: 2, Failed: 1}

// read reads the scope of the book.
func read(w *world) store.Scope {
	s, err := w.ReadScope(ctx, "b")
	require.NoError(w.t, err)
	return s
}

// opened is the scope above, as read from a world of its own.
func opened(t *testing.T) store.Scope {
	w := newWorld(t)
	w.do(scope)
	return read(w)
}

func TestReadScope(t *testing.T) {
	w := newWorld(t)
	require.Empty(t, read(w).ID)
	w.do(scope + "HSET K:scope:b order:x 1|request|0 order:::audio 2|request scene:c 1|past| scene:c:s3 1|past")
	got := read(w)
	require.Equal(t, "x", got.ID)
	require.Equal(t, 2, got.Window)
	require.Equal(t, int64(3), got.Last())
	require.Equal(t, []store.Order{
		{Op: store.OpRequest, Force: true, Number: 1},
		{Chapter: "c", Scene: "s", Stage: "image", Op: store.OpCancel, Number: 3},
	}, got.Orders, "what cannot be read is left out")
	require.Equal(t, map[ports.SceneID]store.Place{
		{Book: "b", Chapter: "c", Scene: "s1"}: {Number: 1, Phase: store.Past},
		{Book: "b", Chapter: "c", Scene: "s2"}: {Number: 1, Phase: store.Entered, Started: []string{"image"}},
	}, got.Places)

	_, wanted := got.Wants(stage)
	require.False(t, wanted, "the last order about it is to stop")
	order, wanted := got.Wants(scene.Of("audio"))
	require.True(t, wanted)
	require.Equal(t, got.Orders[0], order)
	_, wanted = store.Scope{}.Wants(stage)
	require.False(t, wanted)
}

// TestOrder: what each order leaves of a scope.
func TestOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		given  string
		order  store.Order
		writes string
	}{
		"the first opens": {"SET K:generation:cancel:b 1", store.Order{Chapter: "c", Op: store.OpReset}, `
			- K:generation:cancel:b = 1
			+ K:open-scopes has b
			+ K:scope:b id = new
			+ K:scope:b last = 1
			+ K:scope:b order:c:: = 1|reset|0
			+ K:scope:b rev = 1
			+ K:scope:b window = 5`},
		"a later one joins": {scope, store.Order{Chapter: "c", Scene: "s", Op: store.OpRegenerate, Force: true}, `
			- K:scope:b last = 3
			- K:scope:b rev = 4
			- K:scope:b window = 2
			+ K:scope:b last = 5
			+ K:scope:b order:c:s: = 5|regenerate|1
			+ K:scope:b rev = 5
			+ K:scope:b window = 5`},
		"one of the whole book replaces": {scope, store.Order{Op: store.OpRequest}, `
			- K:scope:b last = 3
			- K:scope:b order::: = 1|request|1
			- K:scope:b order:c:s:image = 3|cancel|0
			- K:scope:b rev = 4
			- K:scope:b window = 2
			+ K:scope:b last = 5
			+ K:scope:b order::: = 5|request|0
			+ K:scope:b rev = 5
			+ K:scope:b window = 5`},
		"to cancel a part": {scope, store.Order{Chapter: "c", Op: store.OpCancel}, `
			- K:scope:b last = 3
			- K:scope:b rev = 4
			- K:scope:b window = 2
			+ K:scope:b last = 5
			+ K:scope:b order:c:: = 5|cancel|0
			+ K:scope:b rev = 5
			+ K:scope:b window = 5`},
		"to cancel a part of nothing": {"", store.Order{Chapter: "c", Op: store.OpCancel}, ""},
		"to cancel one stage of all":  {"", store.Order{Stage: "image", Op: store.OpCancel}, ""},
		"to cancel the book": {scope, store.Order{Op: store.OpCancel}, `
			- K:open-scopes has b
			- K:scope:b id = x
			- K:scope:b last = 3
			- K:scope:b order::: = 1|request|1
			- K:scope:b order:c:s:image = 3|cancel|0
			- K:scope:b rev = 4
			- K:scope:b scene:c:s1 = 1|past|
			- K:scope:b scene:c:s2 = 1|entered|image
			- K:scope:b window = 2
			+ K:generation:cancel:b = 1000000`},
		"to cancel a book without a scope": {"", store.Order{Op: store.OpCancel}, "+ K:generation:cancel:b = 1000000"},
		"to delete a book without a scope": {"", store.Order{Op: store.OpDelete}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.do(tt.given)
			require.Equal(t, unindent(tt.writes), w.changes(func() { require.NoError(t, w.Order(ctx, "b", tt.order, "new", 5)) }))
		})
	}
}

// TestStart: a stage is started once for an order, and not for a scope that ended or has
// a later order.
func TestStart(t *testing.T) {
	w := newWorld(t)
	w.do(scope)
	before := read(w)
	start := func(scope store.Scope, number int64, stands bool) (store.Verdict, store.IntentReply) {
		verdict, in, err := w.Start(ctx, store.StartArgs{Scope: scope, Stage: stage, Op: store.OpRequest, Number: number, Stands: stands})
		require.NoError(t, err)
		return verdict, in
	}
	verdict, in := start(before, 1, false)
	require.Equal(t, store.OK, verdict)
	require.Equal(t, store.IntentReply{Generation: 1, State: asset.Pending}, in)
	require.Empty(t, w.changes(func() { // the answer was lost, or another looked too
		verdict, in := start(before, 1, false)
		require.Equal(t, store.Started, verdict)
		require.Equal(t, store.IntentReply{Generation: 1, Before: asset.Pending, State: asset.Pending}, in)
	}))
	verdict, in = start(before, 3, true)
	require.Equal(t, store.OK, verdict)
	require.Equal(t, asset.Pending, in.State, "only one never asked for is ready by what stands")

	moved, _, err := w.Slide(ctx, read(w), []ports.SceneID{scene}, func(ports.SceneID) store.Place { return store.Place{Number: 3, Phase: store.Past} })
	require.NoError(t, err)
	require.Empty(t, w.changes(func() {
		verdict, _ := start(before, 4, false)
		require.Equal(t, store.Stale, verdict, "the scene has left the window")
	}))
	require.NoError(t, w.Order(ctx, "b", store.Order{Op: store.OpRequest}, "new", 2))
	require.Empty(t, w.changes(func() {
		verdict, _ := start(moved, 4, false)
		require.Equal(t, store.Stale, verdict, "a later order")
	}))
	after := read(w)
	w.do("DEL K:asset-state:b:c:s")
	verdict, in = start(after, after.Last(), true)
	require.Equal(t, store.OK, verdict)
	require.Equal(t, store.IntentReply{Generation: 3, State: asset.Ready}, in)
	require.NoError(t, w.Order(ctx, "b", store.Order{Op: store.OpDelete}, "new", 2))
	verdict, _ = start(after, after.Last()+1, false)
	require.Equal(t, store.Stale, verdict, "the scope ended")
}

// TestSlide: one of two that read the same scope moves its window.
func TestSlide(t *testing.T) {
	w := newWorld(t)
	w.do(scope)
	mine, others := read(w), read(w)
	claim := func(ports.SceneID) store.Place { return store.Place{Number: 3, Phase: store.Claimed} }
	require.Equal(t, unindent(`
		- K:scope:b rev = 4
		+ K:scope:b rev = 5
		+ K:scope:b scene:c:s = 3|claimed|`), w.changes(func() {
		after, verdict, err := w.Slide(ctx, mine, []ports.SceneID{scene}, claim)
		require.NoError(t, err)
		require.Equal(t, store.OK, verdict)
		require.Equal(t, read(w), after)
	}))
	require.Empty(t, w.changes(func() {
		_, verdict, err := w.Slide(ctx, others, []ports.SceneID{scene}, claim)
		require.NoError(t, err)
		require.Equal(t, store.Moved, verdict)
	}))
}

// TestConclude: a scope ends once, and nobody ends one that was written since.
func TestConclude(t *testing.T) {
	w := newWorld(t)
	w.do(scope)
	before := read(w)
	require.NoError(t, w.Order(ctx, "b", store.Order{Chapter: "c", Op: store.OpRequest}, "new", 2))
	conclude := func(s store.Scope, f store.Finale) store.Verdict {
		verdict, err := w.Conclude(ctx, s, f)
		require.NoError(t, err)
		return verdict
	}
	require.Empty(t, w.changes(func() { require.Equal(t, store.Moved, conclude(before, finale)) }))
	after := read(w)
	require.Equal(t, store.OK, conclude(after, finale))
	require.Equal(t, []string{"K:runtime:outbox 0 = concluded|x|2|1|b|1000000"}, w.dump())
	require.Empty(t, w.changes(func() { require.Equal(t, store.Moved, conclude(after, finale)) }))

	w.do("DEL K:runtime:outbox" + scope)
	require.Equal(t, store.OK, conclude(read(w), store.Finale{Book: "b", Scope: "x"}), "nothing of it was wanted any more")
	require.Empty(t, w.dump())
}

// TestForgetScope: only a book whose scope is gone is unlisted.
func TestForgetScope(t *testing.T) {
	w := newWorld(t)
	w.do(scope)
	lost, err := w.ForgetScope(ctx, "b")
	require.NoError(t, err)
	require.False(t, lost)
	w.do("DEL K:scope:b\nSADD K:open-scopes b:x")
	books, bad, err := w.OpenScopes(ctx)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"b"}, {"b:x"}}, [][]string{books, bad})
	for _, want := range []bool{true, false} {
		lost, err = w.ForgetScope(ctx, "b")
		require.NoError(t, err)
		require.Equal(t, want, lost)
	}
}

// TestFinaleProperties: whatever a line says, it can be read back.
func TestFinaleProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := store.Finale{Book: rapid.String().Draw(t, "book"), Scope: rapid.String().Draw(t, "scope"), Ready: rapid.IntRange(0, 20_000).Draw(t, "ready"), Failed: rapid.IntRange(0, 20_000).Draw(t, "failed"), At: at(rapid.Int64Range(0, 1e9).Draw(t, "at"))}
		got, ok := store.ParseFinale(f.String())
		require.True(t, ok)
		require.Equal(t, f, got)
	})
	for _, text := range []string{"", "finished|d|ready||b|c|s|image", "concluded|x|1|0|a:b|1", "concluded|x|-1|0|b|1", "concluded|x|1|0|b", "concluded|x|1|0|b|0"} {
		_, ok := store.ParseFinale(text)
		require.False(t, ok, text)
	}
}
