package worlds

import (
	"slices"
	"strconv"
	"strings"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// hostile are ids that a naive join, glob, path or normalisation confuses (design
// 5.2; audit 117 M1, KY1 to KY8).
var hostile = []string{
	"a:b", "*", "?", "[ab]", "_", "a_b", "%", "%3A", "a%3Ab", "a/b", ".", "..", `"`, `\`, "'", " ", "a b", "a|b", "b1:c1",
	"caf\u00e9", "cafe\u0301", "\u202e", "-", "~", "\n", "image", "A", "{a}",
}

// book is a book of the world, with the ids as written.
type book struct {
	id                       string
	chapters, scenes, stages []string
}

// layers are the sets of stages that a book can have. One in two has all of them.
var layers = []string{"image", "audio,image,video", "audio,image,video", "audio,image,video", "audio", "image,video", "audio,video"}

// drawBooks writes the books. Two of three have plain ids.
func (d *drawer) drawBooks() {
	one := func() {
		b := book{id: "b" + strconv.Itoa(len(d.books)+1)}
		odd := rarely(d, 3)
		if odd {
			b.id = syntax.Quote(pick(d, hostile...)).Raw
			if d.known(b.id) {
				return
			}
		}
		b.chapters = d.names(odd, "c", d.shape.Chapters)
		b.scenes = d.names(odd, "s", d.shape.Scenes)
		b.stages = strings.Split(pick(d, layers...), ",")
		d.books = append(d.books, b)
		d.line("book     %s chapters=%s scenes=%s stages=%s%s%s", b.id, strings.Join(b.chapters, ","), strings.Join(b.scenes, ","),
			strings.Join(b.stages, ","), d.parts(b), pick(d, "", "", "", " state=pending", " state=ready", " state=dirty", " state=failed"))
		for _, kind := range b.stages {
			if !slices.Contains(d.kinds, kind) {
				d.kinds = append(d.kinds, kind)
			}
		}
	}
	one()
	d.Repeat(d.shape.Books-1, one)
	slices.Sort(d.kinds)
}

// parts draws what the scenes of a book are made of. A scene has a unit for each group, for
// a group is a run of units; one without segments has no speech.
func (d *drawer) parts(b book) string {
	units := between(d, 1, d.shape.Units)
	text := " units=" + strconv.Itoa(units)
	if slices.Contains(b.stages, "audio") {
		text += " segments=" + strconv.Itoa(pick(d, between(d, 1, d.shape.Units), 1, 0))
	}
	if slices.Contains(b.stages, "video") {
		text += " groups=" + strconv.Itoa(between(d, 1, units))
	}
	return text
}

func (d *drawer) known(id string) bool {
	return slices.ContainsFunc(d.books, func(b book) bool { return b.id == id })
}

// names draws up to most ids, as written.
func (d *drawer) names(odd bool, prefix string, most int) []string {
	list := make([]string, between(d, 1, most))
	for i := range list {
		list[i] = prefix + strconv.Itoa(i+1)
		if !odd {
			continue
		}
		if id := syntax.Quote(pick(d, hostile...)).Raw; !slices.Contains(list, id) {
			list[i] = id
		}
	}
	return list
}

// The levels of a path.
const (
	bookLevel = iota
	chapterLevel
	sceneLevel
	stageLevel
)

// path draws a path or pattern of one of the levels.
func (d *drawer) path(levels ...int) string {
	level := pick(d, levels...)
	b := pick(d, d.books...)
	part := func(id string) string {
		if rarely(d, 4) {
			return "*"
		}
		return id
	}
	if level == bookLevel && rarely(d, 3) {
		return "*"
	}
	path := b.id
	if level >= chapterLevel {
		path += "/" + pick(d, b.chapters...)
	}
	if level >= sceneLevel {
		chapter := part(pick(d, b.chapters...))
		path = b.id + "/" + chapter + "/" + part(pick(d, b.scenes...))
	}
	if level == stageLevel {
		path += ":" + pick(d, b.stages...)
	}
	return path
}
