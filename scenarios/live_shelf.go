package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
	"github.com/animastor/orchestra/ports/bookdir"
	"github.com/animastor/orchestra/ports/pgstore"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
)

// shelf is the books of a live run: their manifests, their files, and the past that they begin
// with.
type shelf struct {
	service  LiveService
	tree     *artifactdir.Tree
	view     *store.Store
	pointers *pgstore.Store // nil: there are none
	scenes   []ports.Scene  // of all books, in their order, as they are now
	later    map[ports.SceneID]bool
}

// newShelf writes the books of a program, and the past of those that have one.
func newShelf(service LiveService, plan LivePlan) (*shelf, error) {
	tree, err := artifactdir.Open(service.Tree())
	if err != nil {
		return nil, err
	}
	s := &shelf{service: service, tree: tree, view: store.New(service.Client()), later: map[ports.SceneID]bool{}}
	if dsn := service.DSN(); dsn != "" {
		if s.pointers, err = pgstore.Open(context.Background(), dsn); err != nil {
			return nil, err
		}
	}
	if err := s.fill(plan); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close lets go of the pointer store.
func (s *shelf) close() {
	if s.pointers != nil {
		s.pointers.Close()
	}
}

// fill writes the books and their past.
func (s *shelf) fill(plan LivePlan) error {
	for _, b := range plan.Program.Books {
		scenes := wire.Book(b).Cut()
		s.scenes = append(s.scenes, scenes...)
		for _, scene := range scenes {
			if s.later[scene.SceneID] = slices.Contains(b.Later, scene.Scene); s.later[scene.SceneID] {
				continue
			}
			for _, stage := range b.Stages {
				if err := s.past(b, scene, stage, plan.Spec.Versioned); err != nil {
					return err
				}
			}
		}
		if err := s.write(b.ID); err != nil {
			return err
		}
	}
	return nil
}

// write replaces the manifest of a book.
func (s *shelf) write(book string) error {
	var scenes []ports.Scene
	for _, scene := range s.scenes {
		if scene.Book == book && !s.later[scene.SceneID] {
			scenes = append(scenes, scene)
		}
	}
	text, err := bookdir.Manifest(scenes)
	if err != nil {
		return err
	}
	path := filepath.Join(s.service.Books(), bookdir.FileName(book))
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// scene finds a scene as it is now.
func (s *shelf) scene(id ports.SceneID) *ports.Scene {
	i := slices.IndexFunc(s.scenes, func(scene ports.Scene) bool { return scene.SceneID == id })
	return &s.scenes[i]
}

// insert puts a scene that was to come later into its book.
func (s *shelf) insert(id ports.SceneID) error {
	s.later[id] = false
	return s.write(id.Book)
}

// edit changes a scene, and raises its version.
func (s *shelf) edit(e wire.Edit) error {
	if e.Same {
		return nil
	}
	scene := s.scene(e.Scene)
	scene.Version++
	e.Apply(scene)
	return s.write(e.Scene.Book)
}

// past writes what a stage would have left that begins in another state than new.
func (s *shelf) past(b lang.Book, scene ports.Scene, stage string, versioned bool) error {
	ctx := context.Background()
	pictures := sync.OnceValues(func() (func(string) string, error) { return s.pictures(ctx, scene.Of(asset.Image)) })
	past, has := wire.Book(b).Past(scene, stage, versioned, func(unit string) (ports.Artifact, error) {
		path, err := pictures()
		if err != nil {
			return ports.Artifact{}, err
		}
		file, _, err := s.tree.Stat(ctx, path(unit))
		return file, err
	})
	if !has {
		return nil
	}
	db := s.service.Client()
	var errs []error
	for _, hash := range past.Hashes {
		errs = append(errs, db.HSet(ctx, hash[0], hash[1:]).Err())
	}
	for _, set := range past.Sets {
		errs = append(errs, db.SAdd(ctx, set[0], set[1]).Err())
	}
	for _, file := range past.Files {
		errs = append(errs, s.tree.Put(ctx, file, strings.NewReader("This stands for "+file.Path+", of the time before.\n")))
	}
	for _, p := range past.Pointers {
		_, err := s.pointers.Publish(ctx, scene.SceneID, p)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// pictures says where the pictures of a scene are, by unit, as the pointer store has it now.
// Only of image it is asked: no other stage has any.
func (s *shelf) pictures(ctx context.Context, id ports.StageID) (func(unit string) string, error) {
	var published map[string]ports.Pointer
	if s.pointers != nil && id.Stage == asset.Image {
		var err error
		if published, err = ports.AllPublished(ctx, s.pointers, id.SceneID); err != nil {
			return nil, err
		}
	}
	return func(unit string) string {
		if p := published[unit]; p.Status == ports.PointerOK {
			return p.Path
		}
		return keys.ArtifactPath(id.SceneID, asset.Image, unit)
	}, nil
}

// lose takes files of a stage out of the tree, as that of a world does.
func (s *shelf) lose(ctx context.Context, id ports.StageID, units []string) error {
	pictures, err := s.pictures(ctx, id)
	if err != nil {
		return err
	}
	for _, path := range wire.LostFiles(*s.scene(id.SceneID), id.Stage, units, pictures) {
		for _, name := range []string{path + ".json", path} {
			err := os.Remove(filepath.Join(s.service.Tree(), filepath.FromSlash(name)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// whole counts the whole files of a stage: of its units, and of the scene. A placeholder is
// none.
func (s *shelf) whole(ctx context.Context, id ports.StageID) (n int, err error) {
	pictures, err := s.pictures(ctx, id)
	if err != nil {
		return 0, err
	}
	for _, path := range wire.Files(*s.scene(id.SceneID), id.Stage, pictures) {
		file, presence, err := s.tree.Stat(ctx, path)
		if err != nil {
			return 0, err
		}
		if presence == ports.Present && !file.Placeholder {
			n++
		}
	}
	return n, nil
}

// todo says which stage that was asked for is not done, or which book is not concluded; "" if
// none is.
func (s *shelf) todo(ctx context.Context) (string, error) {
	var list []ports.SceneID
	for _, scene := range s.scenes {
		list = append(list, scene.SceneID)
	}
	views, err := s.view.ReadScenes(ctx, list, asset.Stages())
	if err != nil {
		return "", err
	}
	for _, v := range views {
		if v.Err != nil {
			return "", v.Err
		}
		for _, st := range v.Stages {
			if st.Intent.Active() && !v.Cancelled && !asset.Done(st.State, true) {
				return fmt.Sprintf("%s is %s", st.Stage, st.State), nil
			}
		}
	}
	open, err := s.service.Client().SMembers(ctx, keys.OpenScopes()).Result()
	if err != nil {
		return "", err
	}
	waiting, err := s.service.Client().ZRange(ctx, keys.Undelivered(), 0, -1).Result()
	switch {
	case err != nil:
		return "", err
	case len(open) > 0:
		return "not concluded: " + strings.Join(open, " "), nil
	case len(waiting) > 0:
		return "not told of: " + strings.Join(waiting, " "), nil
	}
	return "", nil
}
