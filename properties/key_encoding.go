package properties

import (
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// keyEncoding: every key written parses, builds itself again, and names a stage, scene
// or book that the scenario declares. Since parsing is exact, two ids cannot share a key
// that passes.
//
// Proof: the write.
type keyEncoding struct {
	*watch
	scenes map[ports.SceneID]bool
	books  map[string]bool
}

var _ writer = (*keyEncoding)(nil)

func newKeyEncoding(w *watch) any {
	return &keyEncoding{watch: w, scenes: map[ports.SceneID]bool{}, books: map[string]bool{}}
}

func (p *keyEncoding) write(c *change) {
	for i, k := range c.Parts {
		if problem := p.problem(c.Keys[i], k); problem != "" {
			p.fail(c.Keys[i], []sim.Event{c.event()}, "%s wrote a key that %s", c.Verb, problem)
		}
	}
}

// problem is what is wrong with a key; "" if nothing is.
func (p *keyEncoding) problem(text string, k keys.Key) string {
	switch {
	case k.Family == "":
		return "no builder of package keys writes"
	case k.String() != text:
		return "encodes back to " + k.String()
	case k.Stage != "" && !asset.ValidStage(k.Stage):
		return "names no stage: " + ports.Quote(k.Stage)
	case k.Scene != "" && !p.declared(k.SceneID):
		return "names a scene that does not exist: " + k.SceneID.String()
	case k.Book != "" && k.Scene == "" && !p.declaredBook(k.Book):
		return "names a book that does not exist: " + ports.Quote(k.Book)
	}
	return ""
}

func (p *keyEncoding) declared(s ports.SceneID) bool {
	if !p.scenes[s] {
		p.learn()
	}
	return p.scenes[s]
}

func (p *keyEncoding) declaredBook(book string) bool {
	if !p.books[book] {
		p.learn()
	}
	return p.books[book]
}

// learn takes in what was declared since. What is gone was there: it stays.
func (p *keyEncoding) learn() {
	for _, s := range p.Scenes() {
		p.scenes[s], p.books[s.Book] = true, true
	}
}
