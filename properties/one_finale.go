package properties

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// oneFinale: a scope ends with one finale, which counts its scenes by what became of them;
// when it does, each stage that it asks for has been started since, and is done or was
// stopped; none follows the cancel of the book; what the outbox holds of finales comes
// into the journal of the book, once, and the host hears of it; and none is missing after `settle`.
//
// Proof: the write that ended the scope, after the last order of it.
type oneFinale struct {
	*watch
	open    map[string]*asked      // by book
	known   map[string]*asked      // scopes, as they were last
	ended   map[string]bool        // scopes
	told    map[string]bool        // scopes, by an event
	finales map[string][]string    // by book: scopes that left one in the outbox
	heard   map[string]bool        // scopes of whose end the host knows
	evicted map[ports.StageID]bool // stages whose intent was evicted once
}

// asked is what was asked for of a book, as Redis has it.
type asked struct {
	id     string
	orders map[string]order // by the field that holds them
	event  sim.Event        // the last order
}

// order is one thing asked for: of a book, chapter, scene or stage.
type order struct {
	about  ports.StageID // empty: all
	number int64
	stops  bool
	at     time.Duration
}

var (
	_ eventer  = (*oneFinale)(nil)
	_ writer   = (*oneFinale)(nil)
	_ rester   = (*oneFinale)(nil)
	_ settler  = (*oneFinale)(nil)
	_ loser    = (*oneFinale)(nil)
	_ reloader = (*oneFinale)(nil)
)

func newOneFinale(w *watch) any {
	return &oneFinale{watch: w, open: map[string]*asked{}, known: map[string]*asked{}, ended: map[string]bool{}, told: map[string]bool{}, finales: map[string][]string{}, heard: map[string]bool{}, evicted: map[ports.StageID]bool{}}
}

func (p *oneFinale) event(e *sim.Event) {
	switch d := e.Data.(type) {
	case ports.Concluded:
		if p.told[d.Scope] || !p.ended[d.Scope] && !p.set.failedOver {
			p.broken(d.Book, []sim.Event{*e}, "a finale was told twice, or of a scope that has not ended")
		}
		p.told[d.Scope] = true
	case consumer.Heard:
		p.heard[d.Dispatch] = true
	default:
		if e.Kind == "evict" {
			p.reload()
			if k := p.parse(e.Subject); k.Family == keys.FamilyIntent && e.Outcome == "evicted" {
				p.evicted[k.StageID] = true
			}
		}
	}
}

func (p *oneFinale) write(c *change) {
	for i, k := range c.Parts {
		if k.Family != keys.FamilyScope {
			continue
		}
		before := p.open[k.Book]
		now := p.look(k.Book, c.Keys[i])
		if now != nil && c.Verb == "order" {
			now.event = c.event()
		}
		if now == nil && before != nil && c.Verb == "conclude" {
			p.conclude(k.Book, before, c)
		}
	}
}

// look reads the open scope of a book; nil if there is none. Orders that stood there before
// keep their time.
func (p *oneFinale) look(book, key string) *asked {
	hash := p.Redis.HGetAll(key)
	if hash["id"] == "" {
		delete(p.open, book)
		return nil
	}
	s, before := &asked{id: hash["id"], orders: map[string]order{}}, p.known[hash["id"]]
	if before != nil {
		s.event = before.event
	}
	p.open[book], p.known[s.id] = s, s
	for field, value := range hash { //sim:unordered into a map
		member, ok := strings.CutPrefix(field, "order:")
		parts := strings.Split(value, "|")
		about, err := keys.ParseBookStageMember(book, member)
		if !ok || err != nil || len(parts) != 3 {
			continue
		}
		o := order{about: about, number: number(parts[0]), stops: parts[1] == "cancel" || parts[1] == "delete", at: p.World.Elapsed()}
		if before != nil && before.orders[field].number == o.number {
			o.at = before.orders[field].at
		}
		s.orders[field] = o
	}
	return s
}

// conclude judges the end of a scope.
func (p *oneFinale) conclude(book string, s *asked, c *change) {
	events := []sim.Event{s.event, c.event()}
	finale := p.finale(s.id)
	ready, failed := 0, 0
	for _, scene := range p.Scenes() {
		if scene.Book != book {
			continue
		}
		state, early := p.scene(scene, s)
		switch {
		case early != "":
			p.broken(book, events, "its scope %s ended, and %s", s.id, early)
			return
		case state == asset.Failed:
			failed++
		case state == asset.Ready:
			ready++
		}
	}
	switch {
	case p.ended[s.id]:
		p.broken(book, events, "its scope %s ended twice", s.id)
	case finale != nil && p.cancelled[book]:
		p.broken(book, events, "it was cancelled, and a finale follows")
	case finale == nil && ready+failed > 0:
		p.broken(book, events, "its scope %s ended without a finale, and %d scenes are ready, %d failed", s.id, ready, failed)
	case finale != nil && (finale[2] != strconv.Itoa(ready) || finale[3] != strconv.Itoa(failed)):
		p.broken(book, events, "the finale counts %s ready, %s failed; %d and %d are", finale[2], finale[3], ready, failed)
	}
	p.ended[s.id] = true
	if finale != nil {
		p.finales[book] = append(p.finales[book], s.id)
	}
}

// scene says what became of what a scope asks for of a scene; early, why it has not settled.
func (p *oneFinale) scene(id ports.SceneID, s *asked) (state asset.State, early string) {
	for _, name := range asset.Stages() {
		stage := id.Of(name)
		o, wanted := s.wants(stage)
		if !wanted || !p.Enabled(stage) {
			continue
		}
		r := p.row(stage)
		status := r.Status
		if status == "" && p.evicted[stage] {
			status = "active" // or nobody can tell: it must be done, as if it were
		}
		switch {
		case status == "" || r.Since < o.at:
			return "", stage.String() + " was not started for it"
		case status != "active":
		case !p.done(r):
			return "", stage.String() + " is " + string(r.State)
		case state != asset.Failed:
			state = r.State
		}
	}
	return state, ""
}

// wants is the last order about a stage, if it asks for it.
func (s *asked) wants(stage ports.StageID) (last order, wanted bool) {
	for _, o := range s.orders { //sim:unordered numbers differ
		if a := o.about; stage.Under(a.Chapter, a.Scene, a.Stage) && o.number > last.number {
			last = o
		}
	}
	return last, last.number > 0 && !last.stops
}

// finale is what the outbox holds of a scope's end, `concluded|scope|ready|failed|book|at`.
func (p *oneFinale) finale(id string) []string {
	lines := p.Redis.LRange(keys.Outbox())
	for _, line := range slices.Backward(lines) {
		if parts := strings.Split(line, "|"); len(parts) == 6 && parts[0] == "concluded" && parts[1] == id {
			return parts
		}
	}
	return nil
}

func (p *oneFinale) rest() {
	if p.set.failedOver {
		return // what was told before may be told again
	}
	for _, book := range slices.Sorted(maps.Keys(p.finales)) {
		pending := 0
		for _, line := range p.Redis.LRange(keys.Outbox()) {
			if strings.HasPrefix(line, "concluded|") && strings.Contains(line, "|"+keys.BookMember(book)+"|") {
				pending++
			}
		}
		if told := p.Redis.XLen(keys.Journal(ports.SceneID{Book: book})) + pending; told != len(p.finales[book]) {
			p.broken(book, nil, "its journal and the outbox hold %d finales, and %d scopes ended with one", told, len(p.finales[book]))
		}
		for _, id := range p.finales[book] {
			if p.Consumer && pending == 0 && !p.heard[id] && !p.Redis.Exists(keys.Events(ports.SceneID{Book: book})) {
				p.broken(book, nil, "its scope %s ended, and nobody told the host", id)
			}
		}
	}
}

func (p *oneFinale) late(within time.Duration) {
	for _, book := range slices.Sorted(maps.Keys(p.open)) {
		p.broken(book, []sim.Event{p.open[book].event}, "its scope %s is open after settle within=%s", p.open[book].id, within)
	}
}

// reload reads anew the scopes that were written past the calls.
func (p *oneFinale) reload() {
	books := map[string]bool{}
	for _, s := range p.Scenes() {
		books[s.Book] = true
	}
	for book := range books { //sim:unordered each on its own
		p.look(book, keys.Scope(book))
	}
}

func (p *oneFinale) lost([]string) {
	p.reload()
	for _, s := range p.open { //sim:unordered each on its own
		delete(p.ended, s.id)
		delete(p.told, s.id)
	}
	// One whose drain was taken back stands in the outbox again, and is told again.
	maps.DeleteFunc(p.told, func(id string, _ bool) bool { return p.finale(id) != nil })
}

func (p *oneFinale) broken(book string, events []sim.Event, format string, args ...any) {
	p.fail(ports.Quote(book), events, format, args...)
}
