package artifactdir_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
	"github.com/animastor/orchestra/ports/mediatest"
)

// TestCases: the rules that the fakes of a world keep, too.
func TestCases(t *testing.T) {
	for _, c := range mediatest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			tree, _ := open(t)
			put := func(ctx context.Context, a ports.Artifact) error {
				return tree.Put(ctx, a, strings.NewReader(strings.Repeat("x", int(a.Size))))
			}
			require.NoError(t, c.Run(ctx, mediatest.Tree{Media: &artifactdir.Merger{Tree: tree}, Placeholders: tree, Artifacts: tree, Put: put}))
		})
	}
}

// TestSilence: a second of MP3, frame after frame, and nothing else.
func TestSilence(t *testing.T) {
	tree, root := open(t)
	require.NoError(t, tree.Place(ctx, "b/c/s/audio.mp3"))
	text, err := os.ReadFile(filepath.Join(root, "b/c/s/audio.mp3"))
	require.NoError(t, err)
	milliseconds := 0
	for rest := text; len(rest) > 0; milliseconds += 24 { // 1152 samples of 48,000 a second
		require.GreaterOrEqual(t, len(rest), 4)
		require.Equal(t, "\xff\xfb\x14\xc4", string(rest[:4]), "MPEG-1, layer III, no checksum; 32 kbit/s, 48 kHz; one channel")
		length := 144 * 32_000 / 48_000
		require.GreaterOrEqual(t, len(rest), length, "half a frame")
		require.Empty(t, strings.Trim(string(rest[4:length]), "\x00"), "no granule has a bit of sound")
		rest = rest[length:]
	}
	require.Equal(t, 1008, milliseconds)
	description, err := os.ReadFile(filepath.Join(root, "b/c/s/audio.mp3.json"))
	require.NoError(t, err)
	require.JSONEq(t, `{"generation":0,"version":0,"placeholder":true}`, string(description))
	files, err := os.ReadDir(filepath.Join(root, "b/c/s"))
	require.NoError(t, err)
	require.Len(t, files, 2, "a file, its description and nothing else")
}

// TestSilenceIsNoAnswerToTheUnknown: what cannot be read may be the real audio.
func TestSilenceIsNoAnswerToTheUnknown(t *testing.T) {
	tree, root := open(t)
	put(t, tree, "b/audio.mp3", 3, "real")
	require.NoError(t, os.WriteFile(filepath.Join(root, "b/audio.mp3.json"), []byte("{"), 0o600))
	require.ErrorContains(t, tree.Place(ctx, "b/audio.mp3"), "place silence at b/audio.mp3")
	text, err := os.ReadFile(filepath.Join(root, "b/audio.mp3"))
	require.NoError(t, err)
	require.Equal(t, "real", string(text))
	require.NoError(t, os.Remove(filepath.Join(root, artifactdir.Marker)))
	require.ErrorContains(t, tree.Place(ctx, "b/other.mp3"), "is it mounted?")
	require.NoFileExists(t, filepath.Join(root, "b/other.mp3"))
	require.ErrorContains(t, tree.Place(ctx, "../audio.mp3"), "is no path of an artifact")
}

// TestSilenceBesideMerges: whoever comes first, the audio stands in the end, whole.
func TestSilenceBesideMerges(t *testing.T) {
	tree, root := open(t)
	put(t, tree, "b/1.mp3", 1, "one ")
	put(t, tree, "b/2.mp3", 1, "two")
	m := artifactdir.Merger{Tree: tree}
	for range 30 {
		for _, name := range []string{"audio.mp3", "audio.mp3.json"} {
			_ = os.Remove(filepath.Join(root, "b", name))
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := tree.Place(ctx, "b/audio.mp3"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			order := ports.Merge{Whole: ports.Artifact{Path: "b/audio.mp3", Generation: 1}, Parts: []string{"b/1.mp3", "b/2.mp3"}}
			if err := m.Merge(ctx, order); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		a, _, err := tree.Stat(ctx, "b/audio.mp3")
		require.NoError(t, err)
		require.False(t, a.Placeholder)
		require.EqualValues(t, 7, a.Size)
	}
}
