package wire

import (
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// Past is what a stage that begins in another state than new would have left.
type Past struct {
	Hashes   [][]string  // in Redis: key, field, value, field, …
	Sets     [][2]string // in Redis: key, member
	Files    []ports.Artifact
	Pointers []ports.Pointer // in the pointer store
}

// Past is that of a stage of one scene of the book; has is false if it begins as new. The
// pictures that stand are asked of picture, by unit.
func (b Book) Past(scene ports.Scene, kind string, versioned bool, picture func(unit string) (ports.Artifact, error)) (past Past, has bool) {
	if b.State == asset.New || b.State == "" {
		return past, false
	}
	id := scene.Of(kind)
	past.Hashes = [][]string{
		{keys.AssetState(id.SceneID), kind + ".state", string(b.State), kind + ".generation", "1", kind + ".fence", "1"},
		{keys.Intent(id), "generation", "1", "status", store.StatusActive, "force", "0", "at", "0"},
	}
	past.Sets = [][2]string{{keys.ScenesOf(id.Book), keys.BookSceneMember(id.SceneID)}}
	if !asset.Done(b.State, true) {
		past.Sets = append(past.Sets, [2]string{keys.ActiveScenes(), keys.SceneMember(id.SceneID)})
	}
	if b.State == asset.Ready {
		past.files(scene, kind, versioned && !b.Canonical, picture)
	}
	return past, true
}

// files are the artifacts that a stage of generation 1 would have left, and the pointers at
// them.
func (p *Past) files(scene ports.Scene, kind string, published bool, picture func(unit string) (ports.Artifact, error)) {
	set := func(path, composition string) {
		p.Files = append(p.Files, ports.Artifact{Path: path, Generation: 1, Version: scene.Version, Size: 1, Composition: composition})
	}
	all := Parts(scene, kind)
	for i, part := range all {
		composition := ""
		if kind == asset.Video {
			composition, _ = stage.GroupComposition(scene.Groups[i], picture) // what cannot be read is made of nothing
		}
		path := keys.ArtifactPath(scene.SceneID, kind, part)
		if kind == asset.Image && published {
			path = keys.VersionPath(scene.SceneID, part, 1)
			p.Pointers = append(p.Pointers, ports.Pointer{Unit: part, Path: path, Status: ports.PointerOK, Generation: 1, Version: scene.Version})
		}
		set(path, composition)
	}
	if len(all) == 0 {
		return
	}
	switch kind {
	case asset.Audio:
		set(keys.ScenePath(scene.SceneID, kind), stage.AudioComposition(scene))
	case asset.Video:
		composition, _ := stage.VideoComposition(scene, picture)
		set(keys.ScenePath(scene.SceneID, kind), composition)
	}
}
