package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
)

// rig is a replica with a hub that has a worker for audio, and none for pictures.
type rig struct {
	*daemon
	db          *miniredis.Miniredis
	books, tree string
}

func startRig(t *testing.T, flags ...string) *rig { return startSlowRig(t, "10ms", flags...) }

// startSlowRig is startRig with jobs that take a time.
func startSlowRig(t *testing.T, job string, flags ...string) *rig {
	clean(t)
	r := &rig{db: miniredis.RunT(t), books: t.TempDir(), tree: t.TempDir()}
	r.write(t, 1)
	t.Setenv("ORCHESTRA_HUB_KEY", secret)
	t.Setenv("ORCHESTRA_ARTIFACTS", r.tree)
	t.Setenv("ORCHESTRA_BOOKS", r.books)
	t.Setenv("ORCHESTRA_REDIS_URL", "redis://"+r.db.Addr())
	engines := openGate(t)
	hub := start(t, "hub", "--workers=audio=1", "--job-min="+job, "--job-max="+job, "--engines="+engines.url)
	r.daemon = start(t, append([]string{"serve", "--tick=50ms", "--reconcile=1h", "--hub-url=" + hub.url}, flags...)...)
	engines.leadTo(r.daemon)
	t.Setenv("ORCHESTRA_ENGINE", r.url)
	return r
}

// write writes the manifest; of a version above 1 the second segment is new.
func (r *rig) write(t *testing.T, version int64) {
	second := map[string]any{"unit": "u1"}
	if version > 1 {
		second["version"] = version
	}
	text, err := json.Marshal(map[string]any{"id": "b1", "scenes": []any{map[string]any{"chapter": "c1", "scene": "s1", "version": version,
		"layers": []string{"audio", "image"}, "segments": []any{map[string]any{"unit": "u1"}, second}, "units": []string{"u1"}}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.books, "b1.json"), text, 0o600))
}

// stat is what stands in the tree.
func (r *rig) stat(t *testing.T, file string) ports.Artifact {
	tree, err := artifactdir.Open(r.tree)
	require.NoError(t, err)
	a, _, err := tree.Stat(context.Background(), "b1/c1/s1/"+file)
	require.NoError(t, err)
	return a
}

// says runs a client command that succeeds, until it says something.
func says(t *testing.T, what string, args ...string) {
	t.Helper()
	var out, errs string
	require.Eventually(t, func() bool {
		var status int
		status, out, errs = command(args...)
		return status == exitOK && strings.Contains(out, what)
	}, 20*time.Second, 20*time.Millisecond, "%s: %s %s", args, out, errs)
}

// fails runs a client command that the replica refuses.
func fails(t *testing.T, why string, args ...string) {
	t.Helper()
	status, out, errs := command(args...)
	require.Equal(t, exitFailure, status, "%s", out)
	require.Contains(t, errs, why)
}

// TestEdit: the manifest has a new version of one segment; the edit makes that one and the
// whole anew, and keeps the other.
func TestEdit(t *testing.T) {
	r := startRig(t)
	says(t, "request b1: 1 stages", "request", "b1", "--stage=audio")
	says(t, " ready", "status", "b1", "--wait=10s")
	r.write(t, 2)
	says(t, "edit b1: 1 stages, 0 live dispatches ended", "edit", "b1", "--chapter=c1", "--scene=s1")
	require.Eventually(t, func() bool { return r.stat(t, "audio.mp3").Version == 2 }, 20*time.Second, 20*time.Millisecond, r.last())
	require.EqualValues(t, 1, r.stat(t, "audio/0001.mp3").Version, "it was not edited")
	require.EqualValues(t, 2, r.stat(t, "audio/0002.mp3").Version)

	fails(t, "400 Bad Request: bad_request", "edit", "b1", "--scene=s1")
	fails(t, "they need their scene", "edit", "b1", "--units=u1")
	fails(t, "no dirty marks", "edit", "b1", "--chapter=c1", "--scene=s1", "--units=u1")
	r.ended(t)
}

// TestNothingToStop: who stops, edits or clears what nobody asked for is told so.
func TestNothingToStop(t *testing.T) {
	r := startRig(t)
	for range 2 {
		for _, op := range []string{"cancel", "delete", "edit"} {
			says(t, op+" b1: 0 stages, 0 live dispatches ended: nothing of it was asked for", op, "b1")
		}
		says(t, "clear deferrals b1: 0 were open: nothing of it was asked for", "clear", "deferrals", "b1")
		says(t, "request b1: 1 stages, 0 live dispatches ended\n", "request", "b1", "--stage=audio")
		says(t, " ready", "status", "b1", "--wait=10s")
		says(t, "clear deferrals b1: 0 were open\n", "clear", "deferrals", "b1")
		says(t, "cancel b1: 1 stages, 0 live dispatches ended\n", "cancel", "b1")
		says(t, "delete b1: 1 stages, 0 live dispatches ended\n", "delete", "b1")
	}
	r.ended(t)
}

// TestNothingAskedFor: a book that nobody has asked for has no status, whether there is such
// a book or not; nor has one that was deleted. Nobody waits for it.
func TestNothingAskedFor(t *testing.T) {
	r := startRig(t)
	for range 2 {
		for _, book := range []string{"b1", "nosuchbook"} {
			fails(t, "nothing of "+book+" was asked for", "status", book)
			fails(t, "nothing of "+book+" was asked for", "status", book, "--wait=1h")
		}
		says(t, "request b1: 1 stages", "request", "b1", "--stage=audio")
		says(t, " ready", "status", "b1", "--wait=10s")
		says(t, "delete b1", "delete", "b1")
	}
	r.ended(t)
}

// TestPlaceholder: silence stands in for the audio while it is made.
func TestPlaceholder(t *testing.T) {
	r := startSlowRig(t, "2s")
	says(t, "request b1: 1 stages", "request", "b1", "--stage=audio")
	require.Eventually(t, func() bool { return r.stat(t, "audio.mp3").Placeholder }, 10*time.Second, 20*time.Millisecond, r.last())
	says(t, " ready", "status", "b1", "--wait=20s")
	require.False(t, r.stat(t, "audio.mp3").Placeholder)
	fails(t, "404 Not Found: no_times: times are kept in PostgreSQL", "times", "b1", "--chapter=c1", "--scene=s1")
	require.Equal(t, 6*time.Second, r.stat(t, "audio.mp3").Duration, "of two chunks")
	r.ended(t)
}

// TestClearDeferrals: what nobody can take now waits, until its deferrals are cleared.
func TestClearDeferrals(t *testing.T) {
	r := startRig(t)
	says(t, "clear deferrals b1: 0 were open", "clear", "deferrals", "b1")
	says(t, "request b1: 1 stages", "request", "b1", "--stage=image")
	says(t, "clear deferrals b1: 1 were open", "clear", "deferrals", "b1")
	says(t, "clear deferrals b1: 1 were open", "clear", "deferrals", "b1", "--chapter=c1", "--scene=s1")
	fails(t, "scene id", "clear", "deferrals", "b1", "--chapter=c1")
	fails(t, "chapter id", "clear", "deferrals", "b1", "--scene=s1")
	r.ended(t)
}

// TestReconcile: a pass on order says what it did, or why there was none.
func TestReconcile(t *testing.T) {
	r := startRig(t)
	says(t, "request b1: 1 stages", "request", "b1", "--stage=audio")
	says(t, " ready", "status", "b1", "--wait=10s")
	require.NoError(t, os.Remove(filepath.Join(r.tree, "b1/c1/s1/audio.mp3")))
	says(t, "1 stages restored", "reconcile")
	says(t, " ready", "status", "b1", "--wait=10s")
	require.FileExists(t, filepath.Join(r.tree, "b1/c1/s1/audio.mp3"))
	says(t, "reconcile: 1 scenes", "reconcile", "--force")
	require.NoError(t, r.db.Set(keys.CleanupLock(), "another|1"))
	fails(t, "409 Conflict: skipped", "reconcile")
	r.db.Del(keys.CleanupLock())
	r.db.Server().SetPreHook(func(_ *server.Peer, command string, args ...string) bool {
		if command == "ZRANGE" && args[0] == keys.Purges() { // the first repair
			r.db.Del(keys.CleanupLock())
		}
		return false
	})
	fails(t, "409 Conflict: lock_lost", "reconcile")
	r.db.Server().SetPreHook(nil)
	require.NoError(t, os.Remove(filepath.Join(r.tree, ".orchestra-tree")))
	fails(t, "503 Service Unavailable: incomplete", "reconcile")
	r.ended(t)
}

// TestEvents: the host hears of a stage, of its scene and of the book, each with the key.
func TestEvents(t *testing.T) {
	kinds := make(chan string, 100)
	host := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Kind string }
		if r.Header.Get("X-Api-Key") == secret && json.NewDecoder(r.Body).Decode(&e) == nil {
			kinds <- e.Kind
		}
	}))
	defer host.Close()
	r := startRig(t, "--events-url="+host.URL+"/hook", "--layers=audio")
	says(t, "request b1: 1 stages", "request", "b1")
	var heard []string
	for range 3 {
		select {
		case kind := <-kinds:
			heard = append(heard, kind)
		case <-time.After(20 * time.Second):
			t.Fatal("only ", heard, r.last())
		}
	}
	require.ElementsMatch(t, []string{"ready", "scene_ready", "generation_complete"}, heard)
	r.ended(t)
	require.NotContains(t, r.String(), secret)
}

// TestControl: what a control route cannot make sense of is refused, and nothing is done.
func TestControl(t *testing.T) {
	r := startRig(t, "--tick=1h") // whose lock is no leaving
	for _, test := range []struct {
		route, body string
		status      int
		says        string
	}{
		{"request", `{"book":"b1","scen":"s1"}`, 400, "unknown field"},
		{"delete", `{"book":"b1","units":["u1"]}`, 400, "units are of an edit"},
		{"cancel", `{"book":"b1","scene":"s1"}`, 400, "a scene needs its chapter"},
		{"request", `{"book":"b1","stage":"text"}`, 400, "no executor"},
		{"request", `{"book":"b1","stage":"video"}`, 404, "nothing_enabled"},
		{"request", `{"book":"b1","chapter":"c9"}`, 404, "nothing_enabled"},
		{"edit", `{"book":"b1","chapter":"c1","scene":"s1","units":["a\u0000"]}`, 400, "holds a NUL"},
		{"clear-deferrals", `{"book":""}`, 400, "book id"},
		{"clear-deferrals", `{"book":"b1","stage":"image"}`, 400, "unknown field"},
		{"reconcile", `{"forced":true}`, 400, "unknown field"},
		{"reconcile", ``, 400, "the body is empty"},
		{"cancel", " \n", 400, "the body is empty"},
		{"request", `{"book":"b1"} trailing`, 400, "there is more after"},
		{"request", `{"book":"b1"}{"book":"b1"}`, 400, "there is more after"},
		{"request", "{\"book\":\"\xff\"}", 400, "not valid UTF-8"},
		{"request", `{"book":"\ud800"}`, 400, "half of a surrogate pair"},
		{"request", `{"book":"\\\ud800\ud800"}`, 400, "half of a surrogate pair"},
		{"request", `{"book":"\ud83d\ude00 \\ud800 \ufffd"}`, 404, "unknown_book"},
	} {
		req, err := http.NewRequest(http.MethodPost, r.url+"/control/"+test.route, strings.NewReader(test.body))
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 401, resp.StatusCode, test.route)
		req.Body, err = req.GetBody()
		require.NoError(t, err)
		req.Header.Set("X-Api-Key", secret)
		resp, err = http.DefaultClient.Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, test.status, resp.StatusCode, "%s %s: %s", test.route, test.body, text)
		require.Contains(t, string(text), test.says)
	}
	require.Empty(t, r.db.Keys(), "what was refused leaves nothing")
	r.ended(t)
}

// TestHangingTree: a tree that hangs makes a replica not ready, and says so while it hangs.
func TestHangingTree(t *testing.T) {
	r := startRig(t)
	marker, err := os.Open(filepath.Join(r.tree, artifactdir.Marker))
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(marker.Fd()), syscall.LOCK_EX))
	status, text := get(t, r.url+"/readyz")
	require.Equal(t, 503, status)
	require.JSONEq(t, `{"artifacts":"not ok","books":"ok","redis":"ok","hub":"ok"}`, text)
	require.NoError(t, marker.Close())
	status, text = get(t, r.url+"/readyz")
	require.Equal(t, 200, status, text)
	r.ended(t)
}

// TestBooksGone: that the directory of books is gone proves of no book that there is none; a
// name that no file can have does.
func TestBooksGone(t *testing.T) {
	r := startRig(t)
	long := strings.Repeat("b", 256)
	fails(t, "404 Not Found: unknown_book", "request", "b2")
	fails(t, "404 Not Found: unknown_book", "request", long)
	require.NoError(t, os.RemoveAll(r.books))
	fails(t, "503 Service Unavailable: failed", "request", "b1")
	fails(t, "503 Service Unavailable: failed", "request", "b2")
	status, text := get(t, r.url+"/readyz")
	require.Equal(t, 503, status)
	require.JSONEq(t, `{"artifacts":"ok","books":"not ok","redis":"ok","hub":"ok"}`, text)
	r.ended(t)
}
