package lang

import (
	"slices"
	"strings"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// Book is what `book` declares. Every chapter has the same scenes, every scene the
// same units and stages.
type Book struct {
	ID                       string
	Chapters, Scenes, Stages []string
	Units                    int         // u1, u2, …
	Segments                 int         // 0001, 0002, …
	Groups                   int         // g1, g2, …
	Workspace                string      // "": nobody's
	State                    asset.State // of every stage, at the start
	Canonical                bool        // its pictures are of the time before pointers
	Later                    []string    // scenes of each chapter that come only with `insert`
}

// Level is what a path names.
type Level int

// The levels, from the top.
const (
	LevelBook Level = iota
	LevelChapter
	LevelScene
	LevelStage
)

func (l Level) String() string {
	return [...]string{"book", "chapter", "scene", "stage"}[l]
}

// form is how a path of the level is written.
func (l Level) form() string {
	return [...]string{"book", "book/chapter", "book/chapter/scene", "book/chapter/scene:image"}[l]
}

// Path is a path or pattern, resolved to what it names among the books declared
// above it: at least one target, in the order of declaration. The components of a
// target below the level are empty.
type Path struct {
	Raw     string
	Level   Level
	Targets []ports.StageID
}

// Subject spells a target at the level of the path.
func (p *Path) Subject(t ports.StageID) string {
	switch p.Level {
	case LevelStage:
		return t.String()
	case LevelBook:
		return ports.Quote(t.Book)
	}
	return t.SceneID.String()
}

// scope is what the statements above have declared.
type scope struct {
	books   []Book
	engines int
	unsure  bool // a declaration was wrong, so that what it declares is not missed again below
}

// paths is a path to one of the levels, given from the top; Args.Path returns it.
func paths(name string, levels ...Level) Type {
	forms := make([]string, len(levels))
	for i, l := range levels {
		forms[i] = "`" + l.form() + "`"
	}
	return Type{name, strings.Join(forms, ", "), func(sc *scope, w syntax.Word) (any, *syntax.Error) {
		parts, level, err := pathParts(w, levels)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(levels, level) {
			last := levels[len(levels)-1]
			return nil, fail(w, "write "+last.form()+", where * stands for all", "%s is a %s, and a %s is needed", w.Raw, level, last)
		}
		targets, err := sc.resolve(w, parts)
		if err != nil && !sc.unsure {
			return nil, err
		}
		return Path{w.Raw, level, targets}, nil
	}}
}

var star = syntax.Word{Raw: "*"}

// pathParts cuts a path into one component for each level down to its own. A lone
// `*` names all of the topmost level allowed; a `*` at the end all that remain.
func pathParts(w syntax.Word, levels []Level) ([]syntax.Word, Level, *syntax.Error) {
	halves := w.Split(':')
	parts := halves[0].Split('/')
	if len(halves) > 2 || len(parts) > 3 {
		return nil, 0, fail(w, "a path is book/chapter/scene:image; an odd id is quoted", "bad path %s", w.Raw)
	}
	for _, p := range parts {
		if p.Raw == star.Raw {
			continue
		}
		if _, err := parseID(nil, p); err != nil {
			return nil, 0, err
		}
	}
	level := Level(len(parts) - 1)
	if parts[len(parts)-1].Raw == star.Raw {
		switch {
		case w.Raw == star.Raw:
			level = levels[0]
		case len(halves) == 2 || !slices.Contains(levels, LevelScene):
			level = LevelStage
		default:
			level = LevelScene
		}
		for len(parts) <= min(int(level), int(LevelScene)) {
			parts = append(parts, star)
		}
	}
	switch {
	case len(halves) == 2 && len(parts) < 3:
		return nil, 0, fail(w, "a stage is "+LevelStage.form(), "%s has a stage and no scene", w.Raw)
	case len(halves) == 2:
		return append(parts, halves[1]), LevelStage, nil
	case level == LevelStage:
		return append(parts, star), level, nil
	}
	return parts, level, nil
}

// resolve finds everything that the components match, level by level.
func (sc *scope) resolve(path syntax.Word, parts []syntax.Word) ([]ports.StageID, *syntax.Error) {
	targets := []ports.StageID{{}}
	for i, part := range parts {
		level := Level(i)
		if level == LevelStage && part.Raw != star.Raw {
			if _, err := stageWord(part); err != nil {
				return nil, err
			}
		}
		var next []ports.StageID
		var known []string
		for _, t := range targets {
			for _, id := range sc.children(t, level) {
				known = append(known, ports.Quote(id))
				if part.Raw == star.Raw || part.Text() == id {
					next = append(next, with(t, level, id))
				}
			}
		}
		if len(next) == 0 && part.Raw == star.Raw {
			return nil, fail(path, "declare a book above", "%s matches nothing", path.Raw)
		}
		if len(next) == 0 {
			return nil, fail(part, suggestOr(part.Raw, known, "declare it above, with book"), "unknown %s %s", level, part.Raw)
		}
		targets = next
	}
	return targets, nil
}

// children are the ids one level below a target.
func (sc *scope) children(t ports.StageID, level Level) []string {
	if level == LevelBook {
		ids := make([]string, len(sc.books))
		for i, b := range sc.books {
			ids[i] = b.ID
		}
		return ids
	}
	b := sc.books[slices.IndexFunc(sc.books, func(b Book) bool { return b.ID == t.Book })]
	return [...][]string{LevelChapter: b.Chapters, LevelScene: b.Scenes, LevelStage: b.Stages}[level]
}

func with(t ports.StageID, level Level, id string) ports.StageID {
	*[...]*string{&t.Book, &t.Chapter, &t.Scene, &t.Stage}[level] = id
	return t
}

// stageWord reads the name of a stage.
func stageWord(w syntax.Word) (any, *syntax.Error) {
	if asset.ValidStage(w.Raw) {
		return w.Raw, nil
	}
	return nil, fail(w, suggestOr(w.Raw, asset.Stages(), "use audio, image or video"), "unknown stage %s", w.Raw)
}
