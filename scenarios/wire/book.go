package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Book is a grid of scenes that are all alike.
type Book struct {
	ID                       string
	Chapters, Scenes, Stages []string
	Units                    int         // image units of each scene: u1, u2, …
	Segments                 int         // of its audio text: 0001, 0002, …
	Groups                   int         // of its video, g1, g2, …, with as many units each as can be
	Workspace                string      // whose it is; "": nobody's
	State                    asset.State // new: never asked for
	Canonical                bool        // of a versioned world: its pictures are of the time before pointers
	Later                    []string    // scenes of each chapter that come only with Insert
}

// Cut are the scenes of the book, in reading order, those that come later included.
func (b Book) Cut() (scenes []ports.Scene) {
	for _, chapter := range b.Chapters {
		for _, name := range b.Scenes {
			scene := ports.Scene{SceneID: ports.SceneID{Book: b.ID, Chapter: chapter, Scene: name}, Version: 1, Workspace: b.Workspace, Layers: map[string]bool{}}
			for _, stage := range b.Stages {
				scene.Layers[stage] = true
			}
			for i := range b.Units {
				scene.Units = append(scene.Units, ports.Unit{ID: "u" + strconv.Itoa(i+1)})
			}
			setSegments(&scene, b.Segments)
			setGroups(&scene, b.Groups)
			scenes = append(scenes, scene)
		}
	}
	return scenes
}

// AddBook puts a book into the content. With state ready its artifacts stand, and
// with a state other than new the stages have been asked for.
func (w *World) AddBook(b Book) {
	for _, scene := range b.Cut() {
		w.name(scene)
		if slices.Contains(b.Later, scene.Scene) {
			w.later = append(w.later, scene)
			continue
		}
		w.Content.Set(scene)
		for _, stage := range b.Stages {
			w.preset(scene, stage, b)
		}
	}
	w.Recorder.addBook(b)
}

// Insert puts a scene that was to come later into its book, where it was declared.
func (w *World) Insert(id ports.SceneID) {
	i := slices.IndexFunc(w.later, func(s ports.Scene) bool { return s.SceneID == id })
	if i < 0 {
		return // it is there
	}
	after := w.Recorder.order[slices.IndexFunc(w.Recorder.order, func(s ports.StageID) bool { return s.SceneID == id }):]
	var behind []ports.SceneID
	for _, s := range after {
		if s.Book == id.Book && s.SceneID != id {
			behind = append(behind, s.SceneID)
		}
	}
	w.Content.Insert(w.later[i], behind...)
	w.later = slices.Delete(w.later, i, i+1)
}

// Edit is a change of a scene's content.
type Edit struct {
	Scene            ports.SceneID
	Units            []string // image units and segments that are not what they were
	Same             bool     // the content is what it was
	Layers           []string // that are enabled; none: as before
	Segments, Groups int      // how many there are from now on; negative: as before
}

func (w *World) edit(e Edit) {
	w.disturbed[e.Scene] = w.Sim.Elapsed()
	if e.Same {
		return
	}
	w.Content.Edit(e.Scene, e.Apply)
	if scene, ok := w.Content.Get(e.Scene); ok {
		w.name(scene)
	}
}

// Apply does it to a scene whose version was raised.
func (e Edit) Apply(s *ports.Scene) {
	if e.Segments >= 0 {
		setSegments(s, e.Segments)
	}
	if e.Groups >= 0 {
		setGroups(s, e.Groups)
	}
	if len(e.Layers) > 0 {
		s.Layers = map[string]bool{}
	}
	for _, layer := range e.Layers {
		s.Layers[layer] = true
	}
	for _, units := range [][]ports.Unit{s.Units, s.Segments} {
		for i := range units {
			if slices.Contains(e.Units, units[i].ID) {
				units[i].Version = s.Version
			}
		}
	}
}

func setSegments(s *ports.Scene, n int) {
	s.Segments = nil
	for i := range n {
		segment := ports.Unit{ID: keys.ChunkID(i + 1)}
		if len(s.Units) > 0 {
			segment.Unit = s.Units[i*len(s.Units)/n].ID // each reads a run of the text, in order
		}
		s.Segments = append(s.Segments, segment)
	}
}

// setGroups cuts the units of a scene into n runs, the first ones longer by one if they
// do not divide.
func setGroups(s *ports.Scene, n int) {
	s.Groups = nil
	for i, from := 0, 0; i < n; i++ {
		to := from + (len(s.Units)-from+n-i-1)/(n-i)
		g := ports.VideoGroup{ID: "g" + strconv.Itoa(i+1)}
		for _, u := range s.Units[from:to] {
			g.Units = append(g.Units, u.ID)
		}
		s.Groups = append(s.Groups, g)
		from = to
	}
}

// Parts are the units of a stage.
func Parts(s ports.Scene, kind string) (ids []string) {
	switch kind {
	case asset.Audio:
		for _, u := range s.Segments {
			ids = append(ids, u.ID)
		}
	case asset.Image:
		for _, u := range s.Units {
			ids = append(ids, u.ID)
		}
	case asset.Video:
		for _, g := range s.Groups {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// name notes what the paths of a scene's artifacts are about.
func (w *World) name(s ports.Scene) {
	for _, kind := range asset.Stages() {
		id := s.Of(kind).String()
		for _, part := range Parts(s, kind) {
			w.files[keys.ArtifactPath(s.SceneID, kind, part)] = id + "/" + ports.Quote(part)
		}
		w.files[keys.ScenePath(s.SceneID, kind)] = id
	}
}

// preset writes what a stage in that state would have left.
func (w *World) preset(scene ports.Scene, stage string, b Book) {
	past, has := b.Past(scene, stage, w.opts.Config.Versioned, func(unit string) (ports.Artifact, error) {
		a, _ := w.Artifacts.Get(w.picturePath(scene.SceneID, unit))
		return a, nil
	})
	if !has {
		return
	}
	db := w.Redis.DB()
	for _, hash := range past.Hashes {
		db.HSet(hash[0], hash[1:]...)
	}
	for _, set := range past.Sets {
		db.SAdd(set[0], set[1])
	}
	for _, p := range past.Pointers {
		w.Pointers.SetPointer(scene.SceneID, p)
	}
	for _, file := range past.Files {
		w.Artifacts.Set(file)
	}
	w.Recorder.preset(scene.Of(stage))
}

// Lose takes files of a stage out of the tree: of some units, or, without any, of all and
// of the scene.
func (w *World) Lose(s ports.StageID, units []string) {
	w.disturbed[s.SceneID] = w.Sim.Elapsed()
	scene, _ := w.Content.Get(s.SceneID)
	for _, path := range LostFiles(scene, s.Stage, units, w.pictures(s.SceneID)) {
		w.Artifacts.Remove(path)
	}
}

// LostFiles are the files that go if a stage loses those of some units, or, without any, all
// and that of the scene. picture says where the picture of a unit is.
func LostFiles(scene ports.Scene, kind string, units []string, picture func(unit string) string) (paths []string) {
	if len(units) == 0 {
		paths, units = append(paths, keys.ScenePath(scene.SceneID, kind)), Parts(scene, kind)
	}
	for _, part := range units {
		paths = append(paths, keys.ArtifactPath(scene.SceneID, kind, part))
		if kind == asset.Image {
			paths = append(paths, picture(part))
		}
	}
	return paths
}

// Files are the files that a stage leaves: that of the scene, and those of its units.
func Files(scene ports.Scene, kind string, picture func(unit string) string) []string {
	paths := []string{keys.ScenePath(scene.SceneID, kind)}
	for _, part := range Parts(scene, kind) {
		if kind == asset.Image {
			paths = append(paths, picture(part))
			continue
		}
		paths = append(paths, keys.ArtifactPath(scene.SceneID, kind, part))
	}
	return paths
}

// pathName is what a path of the artifact tree is about, as jobs are named. The versions of
// a picture are about the same.
func (w *World) pathName(path string) string {
	if name, ok := w.files[path]; ok {
		return name
	}
	if at := strings.LastIndexByte(path, '@'); at >= 0 {
		return w.files[path[:at]+".png"]
	}
	return ""
}

// picturePath is where the picture of a unit is, as far as anybody can know.
func (w *World) picturePath(s ports.SceneID, unit string) string {
	if p, published := w.Pointers.Pointer(s, unit); published && p.Status == ports.PointerOK {
		return p.Path
	}
	return keys.ArtifactPath(s, asset.Image, unit)
}

// pictures is picturePath for the units of a scene.
func (w *World) pictures(s ports.SceneID) func(unit string) string {
	return func(unit string) string { return w.picturePath(s, unit) }
}

// WholeArtifacts counts the whole files of a stage: of its units, and of the scene. A
// placeholder is none.
func (w *World) WholeArtifacts(s ports.StageID) int {
	scene, _ := w.Content.Get(s.SceneID)
	paths := Files(scene, s.Stage, w.pictures(s.SceneID))
	return len(slices.DeleteFunc(paths, func(path string) bool {
		a, _ := w.Artifacts.Get(path)
		return a.Size == 0 || a.Placeholder
	}))
}
