package keys_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

func TestArtifactPath(t *testing.T) {
	s := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}
	long := func(id string) string { return path.Base(keys.ArtifactPath(s, "image", id)) }
	for _, c := range []struct{ got, want string }{
		{keys.ArtifactPath(s, "image", "u1"), "b1/c1/s1/image/u1.png"},
		{keys.ArtifactPath(s, "audio", "0001"), "b1/c1/s1/audio/0001.mp3"},
		{keys.ArtifactPath(s, "video", "g:1"), "b1/c1/s1/video/g%3A1.mp4"},
		{keys.ArtifactPath(s, "audio", keys.ChunkID(12)), "b1/c1/s1/audio/0012.mp3"},
		{keys.ScenePath(s, "audio"), "b1/c1/s1/audio.mp3"},
		{keys.VersionPath(s, "u1", 12), "b1/c1/s1/image/u1@12.png"},
		{keys.VersionPath(s, "u1@1", 2), "b1/c1/s1/image/u1%401@2.png"},
		{keys.ScenePath(ports.SceneID{Book: "a/b", Chapter: ".", Scene: "s"}, "video"), "a%2Fb/%2E/s/video.mp4"},
		{keys.ArtifactPath(ports.SceneID{Book: ".", Chapter: "..", Scene: "..."}, "image", "../x"), "%2E/%2E%2E/.../image/..%2Fx.png"},
		{long(strings.Repeat("x", 200)), strings.Repeat("x", 200) + ".png"},
		{
			long(strings.Repeat("x", 201)),
			strings.Repeat("x", 100) + "%%84a0678c90937f5dcf9994d5866668da6b995109c8ad845410559b48a4ecafed.png",
		},
	} {
		require.Equal(t, c.want, c.got)
	}
	require.Panics(t, func() { keys.ArtifactPath(s, "text", "u1") })
}

// TestLongPathComponentKeepsEscapesWhole: the cut moves to before an escape that
// would lose a digit, and only then.
func TestLongPathComponentKeepsEscapesWhole(t *testing.T) {
	for plain, want := range map[int]int{97: 100, 98: 98, 99: 99, 100: 100} {
		id := strings.Repeat("x", plain) + "*" + strings.Repeat("y", 200)
		base := path.Base(keys.ArtifactPath(ports.SceneID{Book: "b", Chapter: "c", Scene: "s"}, "image", id))
		head, _, _ := strings.Cut(base, "%%")
		require.Len(t, head, want)
		back, err := keys.Decode(head)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(id, back))
	}
}

func TestArtifactPathProperties(t *testing.T) {
	id := rapid.Custom(func(t *rapid.T) string {
		return anyID().Draw(t, "id") + strings.Repeat(rapid.SampledFrom(nasty).Draw(t, "filler"), rapid.IntRange(0, 210).Draw(t, "times"))
	}).Filter(func(s string) bool { return s != "" })
	rapid.Check(t, func(t *rapid.T) {
		a := ports.SceneID{Book: id.Draw(t, "book"), Chapter: id.Draw(t, "chapter"), Scene: id.Draw(t, "scene")}
		unit := id.Draw(t, "unit")
		checkPath(t, a, "image", unit)
		other := id.Draw(t, "other")
		require.Equal(t, unit == other, keys.ArtifactPath(a, "image", unit) == keys.ArtifactPath(a, "image", other))
		b := a
		b.Scene = other
		require.Equal(t, a == b, keys.ArtifactPath(a, "image", unit) == keys.ArtifactPath(b, "image", unit))
	})
}

// checkPath: five names that a file system takes, none of which climbs out.
func checkPath(t require.TestingT, s ports.SceneID, stage, unit string) {
	p := keys.ArtifactPath(s, stage, unit)
	names := strings.Split(p, "/")
	require.Len(t, names, 5, p)
	for _, name := range names {
		require.NotContains(t, []string{".", ".."}, name, p)
		require.LessOrEqual(t, len(name), 255, p)
		require.False(t, strings.ContainsAny(name, "\\:*?\x00"), p)
	}
	require.Equal(t, stage, names[3])
}
