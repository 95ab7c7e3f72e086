package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/internal/universe"
	"github.com/animastor/orchestra/ports"
)

// everywhere runs the same on the real server and on each fake, each empty at first. It
// is for what cannot be compared answer by answer; times play no part in it.
func everywhere(t tester, run func(name string, client *goredis.Client)) {
	t.Helper()
	real.reset(t)
	run("redis", real.client)
	for _, f := range redisFakes() {
		w, s := f.world()
		process := w.Process("e1")
		client := s.Client(process)
		process.Go(process.Context(), "case", func(context.Context) { run(f.name, client) })
		w.RunFor(time.Hour)
		w.Close()
		if failures := w.Failures(); len(failures) > 0 {
			t.Fatalf("%s: %v", f.name, failures)
		}
	}
}

// scanned is a scan to its end; meanwhile runs after each page.
func scanned(client *goredis.Client, match string, count int64, meanwhile func(page int)) (found []string, err error) {
	cursor := uint64(0)
	for page := 0; page < 1000; page++ {
		var keys []string
		if keys, cursor, err = client.Scan(ctx, cursor, match, count).Result(); err != nil {
			return nil, err
		}
		found = append(found, keys...)
		if cursor == 0 {
			slices.Sort(found)
			return slices.Compact(found), nil // a page may come twice
		}
		meanwhile(page)
	}
	return nil, fmt.Errorf("a scan of %q by %d does not end", match, count)
}

// pieces are what hostile keys and patterns are made of.
var pieces = []string{"a", "b", "c", "*", "?", "[", "]", `\`, "^", "-", "ä", "\x80", "\xff", "\x00", "\n", ":", "[a-c]", "[^b]", `\*`, `\E`, "."}

func drawText(t *rapid.T, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, most).Draw(t, "text"), "")
}

// TestScanMatch: a pattern covers the same keys, whatever it and they are made of. What is
// there during the whole scan is found, and nothing that never was.
func TestScanMatch(t *testing.T) {
	needServer(t)
	rapid.Check(t, func(t *rapid.T) {
		var stay, leave, come []string
		for range 1 + universe.Evenly(t, 30) {
			stay = append(stay, drawText(t, 5))
		}
		for range universe.Evenly(t, 5) {
			leave, come = append(leave, "going "+drawText(t, 3)), append(come, "coming "+drawText(t, 3))
		}
		match, count := drawText(t, 5), int64(1+universe.Evenly(t, 12))
		var want []string
		everywhere(t, func(name string, client *goredis.Client) {
			for _, key := range append(slices.Clone(stay), leave...) {
				client.Set(ctx, key, "v", 0)
			}
			found, err := scanned(client, match, count, func(page int) {
				if page < len(come) {
					client.Del(ctx, leave[page])
					client.Set(ctx, come[page], "v", 0)
				}
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			found = slices.DeleteFunc(found, func(key string) bool { return slices.Contains(leave, key) || slices.Contains(come, key) })
			if name == "redis" {
				want = found
			} else if !slices.Equal(want, found) {
				t.Fatalf("%q MATCH %q COUNT %d\nredis: %q\n%s: %q", stay, match, count, want, name, found)
			}
			if match == "*" && !slices.Equal(found, slices.Compact(slices.Sorted(slices.Values(stay)))) {
				t.Fatalf("%s: SCAN of %q found %q", name, stay, found)
			}
		})
	})
}

// TestKnownScenes: the one SCAN of the engine finds every scene, whatever else is there.
func TestKnownScenes(t *testing.T) {
	needServer(t)
	var want []ports.SceneID
	everywhere(t, func(name string, client *goredis.Client) {
		for i := range 700 {
			scene := ports.SceneID{Book: pieces[i%len(pieces)], Chapter: "*" + number(int64(i)), Scene: `[s]\`}
			client.HSet(ctx, keys.AssetState(scene), "image.state", "pending")
			client.Set(ctx, keys.Lease(scene.Of(asset.Image)), "d", 0)
		}
		client.Set(ctx, "animastor:asset-state:no scene", "v", 0)
		found, err := store.New(client).KnownScenes(ctx, nil)
		require.NoError(t, err, name)
		if name == "redis" {
			want = found
		}
		require.Len(t, found, 700, name)
		require.Equal(t, want, found, name)
	})
}

// TestLargeBook: more scenes than Lua unpacks arguments are taken into a window at once.
func TestLargeBook(t *testing.T) {
	needServer(t)
	var scenes []ports.SceneID
	for i := range 9_000 {
		scenes = append(scenes, ports.SceneID{Book: "b", Chapter: "c", Scene: number(int64(i))})
	}
	everywhere(t, func(name string, client *goredis.Client) {
		s := store.New(client)
		require.NoError(t, s.Order(ctx, "b", store.Order{Op: store.OpRequest}, "x", 0), name)
		scope, err := s.ReadScope(ctx, "b")
		require.NoError(t, err, name)
		_, verdict, err := s.Slide(ctx, scope, scenes, func(ports.SceneID) store.Place { return store.Place{Number: 1, Phase: store.Claimed} })
		require.NoError(t, err, name)
		require.Equal(t, store.OK, verdict, name)
	})
}

// TestScanErrors: what SCAN refuses.
func TestScanErrors(t *testing.T) {
	needServer(t)
	var scans [][]string
	for _, form := range []string{"0", "x", "0 count 0", "0 count x", "0 count", "0 match", "0 nonsense x", "0 type hash", "0 type nonsense", "0 count 5 match k* type string"} {
		scans = append(scans, append([]string{"scan"}, strings.Fields(form)...))
	}
	check(t, []step{commands([]string{"set", "k", "v"}), {commands: scans}})
}

// TestJournalLength: an approximate MAXLEN leaves at least that many entries, the last ones.
func TestJournalLength(t *testing.T) {
	needServer(t)
	everywhere(t, func(name string, client *goredis.Client) {
		for i := range 400 {
			client.XAdd(ctx, &goredis.XAddArgs{Stream: "x", MaxLen: 100, Approx: true, ID: fmt.Sprintf("%d-1", i+1), Values: []string{"f", "v"}})
		}
		entries := client.XRange(ctx, "x", "-", "+").Val()
		require.GreaterOrEqual(t, len(entries), 100, name)
		require.Less(t, len(entries), 300, name)
		require.Equal(t, "400-1", entries[len(entries)-1].ID, name)
		require.Equal(t, fmt.Sprintf("%d-1", 401-len(entries)), entries[0].ID, name)
	})
}

// TestNoScript: a script is known by EVALSHA after LOAD or EVAL, until it is forgotten.
func TestNoScript(t *testing.T) {
	needServer(t)
	i := slices.IndexFunc(store.Scripts(), func(s store.Script) bool { return s.Name == "lock" })
	lock := store.Scripts()[i]
	run := func(command, script string) []string { return []string{command, script, "1", "k", "a", "60000", "7"} }
	exists := []string{"script", "exists", lock.SHA, "unknown"}
	check(t, []step{
		commands(run("evalsha", lock.SHA), run("evalsha", "unknown"), exists),
		{fault: "noscript", commands: [][]string{run("evalsha", lock.SHA)}},
		commands(run("evalsha", lock.SHA), exists),
		commands(run("eval", lock.Source)),
		commands(run("evalsha", lock.SHA), exists),
		{fault: "noscript", commands: [][]string{exists}},
		commands([]string{"script", "load", lock.Source}, run("evalsha", lock.SHA), exists),
		dump([]string{"k"}),
	})
}
