package wire

import (
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/stage"
	"github.com/animastor/orchestra/ports"
)

// missing says what a stage lacks, by the books of the fakes and not by the engine's
// proofs; "" if all that it must leave stands. Of what a video was made is not asked.
func (w *World) missing(s ports.StageID) string {
	scene, ok := w.Content.Get(s.SceneID)
	floor := number(w.field(s, "floor"))
	switch {
	case !ok:
		return ""
	case s.Stage == asset.Image:
		for _, u := range scene.Units {
			if !w.pictured(scene, u, floor) {
				return "the picture of " + ports.Quote(u.ID)
			}
		}
		return ""
	case s.Stage == asset.Audio && len(scene.Segments) == 0:
		return ""
	}
	a, _ := w.Artifacts.Get(keys.ScenePath(s.SceneID, s.Stage))
	composed := s.Stage != asset.Audio || a.Composition == stage.AudioComposition(scene)
	if a.Size == 0 || a.Placeholder || a.Generation < floor || !composed {
		return "its file"
	}
	return ""
}

// pictured says whether a unit has the picture that it must have now.
func (w *World) pictured(scene ports.Scene, u ports.Unit, floor int64) bool {
	a, _ := w.Artifacts.Get(w.picturePath(scene.SceneID, u.ID))
	return a.Size > 0 && a.Generation >= floor && a.Version >= u.Version &&
		w.Pointers.MarksOf(scene.SceneID)[u.ID] <= w.settles(scene.SceneID, u.ID)
}

// settles is the highest dirty mark that the published picture of a unit settles.
func (w *World) settles(s ports.SceneID, unit string) int64 {
	p, _ := w.Pointers.Pointer(s, unit)
	return p.Mark
}

// fresh is how old a picture may be that whoever looked did not see.
const fresh = 30 * time.Second

// hasPicture says whether a picture stands for a unit, and has stood for a while.
func (w *World) hasPicture(s ports.StageID, unit string) bool {
	scene, _ := w.Content.Get(s.SceneID)
	if s.Stage != asset.Image || w.Sim.Elapsed()-w.Artifacts.Since(w.picturePath(s.SceneID, unit)) <= fresh {
		return false
	}
	for _, u := range scene.Units {
		if u.ID == unit {
			return w.pictured(scene, u, number(w.field(s, "floor")))
		}
	}
	return false
}
