package stage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/outcome"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/ports"
)

// disk is an artifact tree with a merger: files by path, and paths that cannot be asked for.
type disk struct {
	files  map[string]ports.Artifact
	broken map[string]bool
	asked  []string
	merges []ports.Merge

	refuses error // the answer of a merge that is not carried out
	loses   error // the answer of one that is
	lies    bool  // it answers well and makes nothing
}

var (
	_ ports.Artifacts = (*disk)(nil)
	_ ports.Media     = (*disk)(nil)
)

var errMedia = errors.New("media: no codec")

func (d *disk) Stat(_ context.Context, path string) (ports.Artifact, ports.Presence, error) {
	d.asked = append(d.asked, path)
	if d.broken[path] {
		return ports.Artifact{}, ports.Unknown, errDown
	}
	if a, ok := d.files[path]; ok {
		return a, ports.Present, nil
	}
	return ports.Artifact{}, ports.Absent, nil
}

func (d *disk) Merge(_ context.Context, m ports.Merge) error {
	d.merges = append(d.merges, m)
	if d.refuses != nil {
		return d.refuses
	}
	if !d.lies {
		whole := m.Whole
		whole.Size = 1
		d.files[whole.Path] = whole
	}
	return d.loses
}

var (
	ctx = context.Background()
	id  = ports.SceneID{Book: "b", Chapter: "c", Scene: "s"}
	// scene has two segments, three pictures, and two groups of them.
	scene = ports.Scene{SceneID: id, Version: 7, Segments: units("0001", "0002"), Units: units("u1", "u2", "u3"),
		Groups: []ports.VideoGroup{{ID: "g1", Units: []string{"u1", "u2"}}, {ID: "g2", Units: []string{"u3"}}}}
	build = stage.Build{Generation: 2, Floor: 2}
)

func units(ids ...string) (list []ports.Unit) {
	for _, id := range ids {
		list = append(list, ports.Unit{ID: id})
	}
	return list
}

// The compositions of g1, g2 and the video when every picture is of generation 2.
const (
	g1      = "u1@2.7,u2@2.7"
	g2      = "u3@2.7"
	ofVideo = "g1=" + g1 + ";g2=" + g2
)

// full is a disk on which everything stands, of generation 2.
func full() *disk {
	d := &disk{files: map[string]ports.Artifact{}, broken: map[string]bool{}}
	put := func(path, composition string) {
		d.files[path] = ports.Artifact{Path: path, Generation: 2, Version: 7, Size: 1, Composition: composition}
	}
	for _, u := range scene.Segments {
		put(part("audio", u.ID), "")
	}
	for _, u := range scene.Units {
		put(part("image", u.ID), "")
	}
	put(part("video", "g1"), g1)
	put(part("video", "g2"), g2)
	put(whole("audio"), "0001,0002")
	put(whole("video"), ofVideo)
	return d
}

func part(stage, unit string) string { return keys.ArtifactPath(id, stage, unit) }
func whole(stage string) string      { return keys.ScenePath(id, stage) }

// but returns a full disk on which something happened to some files.
func but(change func(*ports.Artifact), paths ...string) *disk {
	d := full()
	for _, path := range paths {
		a := d.files[path]
		change(&a)
		d.files[path] = a
	}
	return d
}

func without(paths ...string) *disk {
	d := full()
	for _, path := range paths {
		delete(d.files, path)
	}
	return d
}

func unreadable(d *disk, paths ...string) *disk {
	for _, path := range paths {
		d.broken[path] = true
	}
	return d
}

// What makes of a file something that proves nothing.
func empty(a *ports.Artifact)       { a.Size = 0 }
func placeholder(a *ports.Artifact) { a.Placeholder = true }
func old(a *ports.Artifact)         { a.Generation = 1 }
func ofOthers(a *ports.Artifact)    { a.Composition = "others" }

func executor(d *disk, name string) stage.Stage {
	image := &stage.Image{Artifacts: d}
	switch name {
	case asset.Audio:
		return &stage.Audio{Artifacts: d, Media: d}
	case asset.Video:
		return &stage.Video{Artifacts: d, Media: d, Image: image}
	}
	return image
}

func TestNames(t *testing.T) {
	for _, name := range asset.Stages() {
		require.Equal(t, name, executor(full(), name).Name())
	}
}

func TestPlan(t *testing.T) {
	mute, bare := scene, scene
	mute.Segments, bare.Groups = nil, nil
	both, groups, pictures := []string{"0001", "0002"}, []string{"g1", "g2"}, []string{"u1", "u2", "u3"}
	for name, test := range map[string]struct {
		disk  *disk
		stage string
		scene ports.Scene
		want  stage.Plan
		asks  int
	}{
		"audio that stands is not asked for by chunks": {full(), "audio", scene, stage.Plan{Cached: both, Whole: true}, 1},
		"audio is merged of chunks that stand":         {without(whole("audio")), "audio", scene, stage.Plan{Cached: both}, 3},
		"one chunk is missing":                         {without(whole("audio"), part("audio", "0002")), "audio", scene, stage.Plan{Units: both[1:], Cached: both[:1]}, 3},
		"a placeholder is no audio":                    {but(placeholder, whole("audio")), "audio", scene, stage.Plan{Cached: both}, 3},
		"a placeholder is no chunk":                    {but(placeholder, whole("audio"), part("audio", "0001")), "audio", scene, stage.Plan{Units: both[:1], Cached: both[1:]}, 3},
		"an unfinished upload is no chunk":             {but(empty, whole("audio"), part("audio", "0001")), "audio", scene, stage.Plan{Units: both[:1], Cached: both[1:]}, 3},
		"everything is asked for anew":                 {but(old, whole("audio"), part("audio", "0001"), part("audio", "0002")), "audio", scene, stage.Plan{Units: both}, 3},
		"audio of other segments":                      {but(ofOthers, whole("audio")), "audio", scene, stage.Plan{Cached: both}, 3},
		"no speech":                                    {without(whole("audio")), "audio", mute, stage.Plan{Whole: true, Reason: outcome.NoSegments}, 0},
		"every picture stands":                         {full(), "image", scene, stage.Plan{Cached: pictures, Whole: true}, 3},
		"one picture is missing":                       {without(part("image", "u2")), "image", scene, stage.Plan{Units: []string{"u2"}, Cached: []string{"u1", "u3"}}, 3},
		"a scene without pictures":                     {full(), "image", ports.Scene{SceneID: id}, stage.Plan{}, 0},
		"a video that stands":                          {full(), "video", scene, stage.Plan{Cached: groups, Whole: true}, 4},
		"a video is merged of groups that stand":       {without(whole("video")), "video", scene, stage.Plan{Cached: groups}, 3 + 1 + 3 + 2},
		"a group of other pictures":                    {but(ofOthers, whole("video"), part("video", "g2")), "video", scene, stage.Plan{Units: groups[1:], Cached: groups[:1]}, 3 + 1 + 3 + 2},
		"a picture was made anew": {but(func(a *ports.Artifact) { a.Generation = 3 }, part("image", "u3")), "video", scene,
			stage.Plan{Units: groups[1:], Cached: groups[:1]}, 3 + 1 + 3 + 2},
		"a picture of another version": {but(func(a *ports.Artifact) { a.Version = 8 }, part("image", "u1")), "video", scene,
			stage.Plan{Units: groups[:1], Cached: groups[1:]}, 3 + 1 + 3 + 2},
		"no groups": {full(), "video", bare, stage.Plan{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := executor(test.disk, test.stage).Plan(ctx, test.scene, 2)
			require.NoError(t, err)
			require.Equal(t, test.want, plan)
			require.Len(t, test.disk.asked, test.asks, "%v", test.disk.asked)
			require.Empty(t, test.disk.merges, "a plan writes nothing")
		})
	}
}

func TestPlanIsComplete(t *testing.T) {
	for want, plans := range map[bool][]stage.Plan{
		true:  {{Whole: true}, {Whole: true, Reason: outcome.NoSegments}, {Cached: []string{"u1"}}},
		false: {{}, {Units: []string{"u1"}}, {Units: []string{"u1"}, Cached: []string{"u2"}}},
	} {
		for _, p := range plans {
			require.Equal(t, want, p.Complete(), "%+v", p)
		}
	}
}

// What cannot be read is never taken for absent, whichever file it is.
func TestUnreadable(t *testing.T) {
	for stageName, paths := range map[string][]string{
		"audio": {whole("audio"), part("audio", "0001"), part("audio", "0002")},
		"image": {part("image", "u1"), part("image", "u3")},
		"video": {whole("video"), part("video", "g1"), part("video", "g2"), part("image", "u1"), part("image", "u3")},
	} {
		for _, path := range paths {
			t.Run(path, func(t *testing.T) {
				d := unreadable(without(whole("audio"), whole("video")), path)
				s := executor(d, stageName)
				_, err := s.Plan(ctx, scene, 2)
				require.ErrorIs(t, err, errDown)
				presence, err := s.Assemble(ctx, scene, build)
				require.Equal(t, ports.Unknown, presence)
				require.ErrorIs(t, err, errDown)
				require.Empty(t, d.merges)
			})
		}
	}
	for _, s := range asset.Stages() {
		path := whole(s)
		if s == asset.Image {
			path = part(s, "u2")
		}
		presence, err := executor(unreadable(full(), path), s).Prove(ctx, scene, 2)
		require.Equal(t, ports.Unknown, presence)
		require.ErrorIs(t, err, errDown)
	}
	for _, path := range []string{part("video", "g1"), part("image", "u2")} {
		presence, err := executor(unreadable(full(), path), asset.Video).Stat(ctx, scene, "g1", 2)
		require.Equal(t, ports.Unknown, presence)
		require.ErrorIs(t, err, errDown)
	}
}

func TestStat(t *testing.T) {
	for _, s := range []struct{ stage, unit string }{{"audio", "0001"}, {"image", "u1"}, {"video", "g1"}} {
		path := part(s.stage, s.unit)
		for name, test := range map[string]struct {
			disk *disk
			want ports.Presence
		}{
			"stands":               {full(), ports.Present},
			"of a newer intent":    {but(func(a *ports.Artifact) { a.Generation = 3 }, path), ports.Present},
			"missing":              {without(path), ports.Absent},
			"an unfinished upload": {but(empty, path), ports.Absent},
			"a placeholder":        {but(placeholder, path), ports.Absent},
			"of an older intent":   {but(old, path), ports.Absent},
		} {
			t.Run(s.stage+" "+name, func(t *testing.T) {
				presence, err := executor(test.disk, s.stage).Stat(ctx, scene, s.unit, 2)
				require.NoError(t, err)
				require.Equal(t, test.want, presence)
			})
		}
	}
}

func TestComposition(t *testing.T) {
	for _, s := range []struct{ stage, unit, want string }{{"audio", "0001", ""}, {"image", "u1", ""}, {"video", "g1", g1}, {"video", "g2", g2}} {
		got, err := executor(full(), s.stage).Composition(ctx, scene, s.unit)
		require.NoError(t, err)
		require.Equal(t, s.want, got, "%s %s", s.stage, s.unit)
	}
	got, err := executor(without(part("image", "u2")), "video").Composition(ctx, scene, "g1")
	require.NoError(t, err)
	require.Equal(t, "u1@2.7,u2@0.0", got, "a picture that is missing has a place of its own")
	_, err = executor(full(), "video").Composition(ctx, scene, "g9")
	require.ErrorContains(t, err, "b/c/s:video has no group g9 any more")

	// Ids cannot be taken for the signs between them.
	odd := ports.VideoGroup{ID: "g;1", Units: []string{"u@1,u"}}
	none := func(string) (ports.Artifact, error) { return ports.Artifact{}, nil }
	whole, err := stage.VideoComposition(ports.Scene{Groups: []ports.VideoGroup{odd}}, none)
	require.NoError(t, err)
	require.Equal(t, "g%3B1=u%401%2Cu@0.0", whole)
	require.Equal(t, "a%2Cb,c", stage.AudioComposition(ports.Scene{Segments: units("a,b", "c")}))
}

func TestProve(t *testing.T) {
	mute := scene
	mute.Segments = nil
	for name, test := range map[string]struct {
		disk  *disk
		stage string
		scene ports.Scene
		want  ports.Presence
	}{
		"audio":                           {without(part("audio", "0001")), "audio", scene, ports.Present},
		"no audio":                        {without(whole("audio")), "audio", scene, ports.Absent},
		"a placeholder is no proof":       {but(placeholder, whole("audio")), "audio", scene, ports.Absent},
		"no speech":                       {without(whole("audio")), "audio", mute, ports.Present},
		"pictures":                        {full(), "image", scene, ports.Present},
		"a picture short":                 {without(part("image", "u2")), "image", scene, ports.Absent},
		"a video":                         {without(part("video", "g1")), "video", scene, ports.Present},
		"a video of older pictures is it": {but(ofOthers, whole("video")), "video", scene, ports.Present},
		"an older video is not":           {but(old, whole("video")), "video", scene, ports.Absent},
	} {
		t.Run(name, func(t *testing.T) {
			presence, err := executor(test.disk, test.stage).Prove(ctx, test.scene, 2)
			require.NoError(t, err)
			require.Equal(t, test.want, presence)
		})
	}
}

func TestAssemble(t *testing.T) {
	mute, bare := scene, scene
	mute.Segments, bare.Groups = nil, nil
	for name, test := range map[string]struct {
		disk   *disk
		stage  string
		scene  ports.Scene
		want   ports.Presence
		merges int
	}{
		"audio":                     {without(whole("audio")), "audio", scene, ports.Present, 1},
		"audio that stands":         {full(), "audio", scene, ports.Present, 0},
		"over its placeholder":      {but(placeholder, whole("audio")), "audio", scene, ports.Present, 1},
		"over an older one":         {but(old, whole("audio")), "audio", scene, ports.Present, 1},
		"a chunk is missing":        {without(whole("audio"), part("audio", "0002")), "audio", scene, ports.Absent, 0},
		"a chunk is older":          {but(old, whole("audio"), part("audio", "0002")), "audio", scene, ports.Absent, 0},
		"no speech":                 {without(whole("audio")), "audio", mute, ports.Present, 0},
		"pictures":                  {full(), "image", scene, ports.Present, 0},
		"a picture is missing":      {without(part("image", "u2")), "image", scene, ports.Absent, 0},
		"video":                     {without(whole("video")), "video", scene, ports.Present, 1},
		"video of other pictures":   {but(ofOthers, whole("video")), "video", scene, ports.Present, 1},
		"a group of other pictures": {but(ofOthers, whole("video"), part("video", "g1")), "video", scene, ports.Absent, 0},
		"the groups went":           {full(), "video", bare, ports.Absent, 0},
	} {
		t.Run(name, func(t *testing.T) {
			presence, err := executor(test.disk, test.stage).Assemble(ctx, test.scene, build)
			require.NoError(t, err)
			require.Equal(t, test.want, presence)
			require.Len(t, test.disk.merges, test.merges)
		})
	}
}

// A merge gets all parts in their order, and says of what, and for whom, the whole is made.
func TestMergeOrder(t *testing.T) {
	for name, test := range map[string]struct {
		parts       []string
		composition string
	}{
		"audio": {[]string{part("audio", "0001"), part("audio", "0002")}, "0001,0002"},
		"video": {[]string{part("video", "g1"), part("video", "g2")}, ofVideo},
	} {
		d := without(whole(name))
		_, err := executor(d, name).Assemble(ctx, scene, stage.Build{Generation: 5, Floor: 2})
		require.NoError(t, err)
		require.Equal(t, []ports.Merge{{Parts: test.parts,
			Whole: ports.Artifact{Path: whole(name), Generation: 5, Version: 7, Composition: test.composition}}}, d.merges)
	}
}

// Whether the whole stands decides, whatever the merge answers.
func TestMergeAnswers(t *testing.T) {
	failing := func(change func(*disk)) *disk {
		d := without(whole("audio"))
		change(d)
		return d
	}
	for name, test := range map[string]struct {
		disk *disk
		want ports.Presence
		err  error
		text string
	}{
		"its answer is lost":      {failing(func(d *disk) { d.loses = errMedia }), ports.Present, nil, ""},
		"it fails":                {failing(func(d *disk) { d.refuses = errMedia }), ports.Unknown, errMedia, "stage: merge b/c/s:audio: media: no codec; it is tried again"},
		"it misses a part":        {failing(func(d *disk) { d.refuses = fmt.Errorf("%w: x", ports.ErrMissingPart) }), ports.Unknown, ports.ErrMissingPart, "a part is missing: x"},
		"it is done, and is not":  {failing(func(d *disk) { d.lies = true }), ports.Unknown, nil, "the file does not stand"},
		"nobody knows if it does": {failing(func(d *disk) { d.loses = errMedia }), ports.Unknown, errDown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := executor(test.disk, "audio").(*stage.Audio)
			if test.err == errDown {
				s.Media = blinding{test.disk}
			}
			presence, err := s.Assemble(ctx, scene, build)
			require.Equal(t, test.want, presence)
			if test.want == ports.Present {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.ErrorContains(t, err, test.text)
			if test.err != nil {
				require.ErrorIs(t, err, test.err)
			}
			var merge *stage.MergeError
			require.Equal(t, test.err != errDown, errors.As(err, &merge), "what cannot be read is no failure of the merge")
		})
	}
}

// blinding is a merger after which the whole cannot be asked for.
type blinding struct{ *disk }

func (b blinding) Merge(ctx context.Context, m ports.Merge) error {
	b.broken[m.Whole.Path] = true
	return b.disk.Merge(ctx, m)
}
