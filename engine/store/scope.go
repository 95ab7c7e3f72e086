package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

// Scope is what was asked for of a book and is not concluded: its orders, and where the
// scenes stand that its window has reached. A book has one at most; what is asked for
// while it is open joins it. It may be out of date when it is read; Start, Slide and
// Conclude look for themselves.
type Scope struct {
	Book   string
	ID     string // "": none is open
	Window int    // scenes that may be under way at once; 0: all
	Orders []Order
	Places map[ports.SceneID]Place // of the scenes that the window has reached

	rev, last string // of its last write and its last order, as they stand in Redis
}

// Order is one thing asked for: of the whole book, or of a chapter, scene or stage.
type Order struct {
	Chapter, Scene, Stage string // empty: all
	Op                    IntentOp
	Force                 bool
	Number                int64 // grows with each write to the scope
}

// Place is where a scene stands in its scope.
type Place struct {
	Number  int64 // the last order of the scope when it was taken into the window
	Phase   Phase
	Started []string // stages that were started when it was entered
}

// parsePlace reads a place as String writes it, `number|phase|stage,stage`.
func parsePlace(text string) (p Place, ok bool) {
	parts := strings.Split(text, "|")
	if len(parts) != 3 {
		return Place{}, false
	}
	p = Place{Number: number(parts[0]), Phase: Phase(parts[1])}
	if parts[2] != "" {
		p.Started = strings.Split(parts[2], ",")
	}
	return p, true
}

func (p Place) String() string {
	return strconv.FormatInt(p.Number, 10) + "|" + string(p.Phase) + "|" + strings.Join(p.Started, ",")
}

// Phase is how far the window is with a scene.
type Phase string

// The phases.
const (
	Claimed Phase = "claimed" // in the window, and perhaps not started in all its stages
	Entered Phase = "entered" // in the window, and started
	Past    Phase = "past"    // settled, and out of the window
)

// Last is the number of the last order.
func (s Scope) Last() int64 { return number(s.last) }

// mark names an order of the scope in the intents that it started; "" without a scope.
func (s Scope) mark(number int64) string {
	if s.ID == "" {
		return ""
	}
	return s.ID + ":" + strconv.FormatInt(number, 10)
}

// place is where a scene stands, as Redis has it; "" if the window has not reached it.
func (s Scope) place(scene ports.SceneID) string {
	if place, known := s.Places[scene]; known {
		return place.String()
	}
	return ""
}

func (o Order) stops() bool { return o.Op == OpCancel || o.Op == OpDelete }

// covers says whether the order is about a stage.
func (o Order) covers(s ports.StageID) bool {
	return s.Under(o.Chapter, o.Scene, o.Stage)
}

// Wants returns the order that asks for a stage: the last one that is about it, unless
// that is one to stop.
func (s Scope) Wants(stage ports.StageID) (Order, bool) {
	var last Order
	for _, o := range s.Orders {
		if o.Number > last.Number && o.covers(stage) {
			last = o
		}
	}
	return last, last.Number > 0 && !last.stops()
}

// Order writes down what was asked for of a book (schema 3). A first request opens a scope
// with the id given; later ones join the one that is open, whose window is from now on the
// one given. An order to stop is noted only in an open scope; one to stop the whole book
// ends the scope without a finale, and cancel sets the book's cancel flag with it: from now
// on Begin and Admit refuse its stages (SC3), until a new order takes the flag away.
func (s *Store) Order(ctx context.Context, book string, o Order, id string, window int) error {
	whole := o.Chapter == "" && o.Stage == ""
	member := keys.BookStageMember(ports.SceneID{Book: book, Chapter: o.Chapter, Scene: o.Scene}.Of(o.Stage))
	_, err := s.run(ctx, &scripts.order, ports.Quote(book),
		[]string{keys.Scope(book), keys.OpenScopes(), keys.Cancel(book)},
		string(o.Op), member, keys.BookMember(book), id, window, flag(o.Force), flag(whole))
	return err
}

// OpenScopes lists the books with an open scope, in order, and the members of the index
// that are no books.
func (s *Store) OpenScopes(ctx context.Context) (books, bad []string, err error) {
	members, err := s.client.SMembers(ctx, keys.OpenScopes()).Result()
	if err != nil {
		return nil, nil, unread("read", "open scopes", keys.OpenScopes(), err)
	}
	for _, member := range members {
		if book, err := keys.ParseBookMember(member); err == nil {
			books = append(books, book)
		} else {
			bad = append(bad, member)
		}
	}
	slices.Sort(books)
	slices.Sort(bad)
	return books, bad, nil
}

// ReadScope reads the open scope of a book; its ID is empty if there is none. Orders and
// places that cannot be read are left out.
func (s *Store) ReadScope(ctx context.Context, book string) (Scope, error) {
	key := keys.Scope(book)
	hash, err := s.client.HGetAll(ctx, key).Result()
	if err != nil {
		return Scope{}, unread("read scope of", ports.Quote(book), key, err)
	}
	return ScopeOf(book, hash), nil
}

// ScopeOf makes a scope of the fields of its hash.
func ScopeOf(book string, hash map[string]string) Scope {
	scope := Scope{Book: book, ID: hash["id"], Window: int(number(hash["window"])), Places: map[ports.SceneID]Place{}, rev: hash["rev"], last: hash["last"]}
	for field, value := range hash { //sim:unordered the orders are sorted below
		parts := strings.Split(value, "|")
		if member, ok := strings.CutPrefix(field, "order:"); ok && len(parts) == 3 {
			if at, err := keys.ParseBookStageMember(book, member); err == nil {
				scope.Orders = append(scope.Orders, Order{at.Chapter, at.Scene, at.Stage, IntentOp(parts[1]), parts[2] == "1", number(parts[0])})
			}
		}
		if member, ok := strings.CutPrefix(field, "scene:"); ok {
			scene, err := keys.ParseBookSceneMember(book, member)
			if place, ok := parsePlace(value); ok && err == nil {
				scope.Places[scene] = place
			}
		}
	}
	slices.SortFunc(scope.Orders, func(a, b Order) int { return int(a.Number - b.Number) })
	return scope
}

// Slide writes where scenes stand now: OK, with the scope as it is then, or Moved if the
// scope was written since it was read, and nothing was done.
func (s *Store) Slide(ctx context.Context, scope Scope, scenes []ports.SceneID, to func(ports.SceneID) Place) (Scope, Verdict, error) {
	args := []any{scope.ID, scope.rev}
	for _, scene := range scenes {
		args = append(args, keys.BookSceneMember(scene), to(scene).String())
	}
	r, err := s.run(ctx, &scripts.slide, ports.Quote(scope.Book), []string{keys.Scope(scope.Book)}, args...)
	if err != nil {
		return scope, "", err
	}
	if r.verdict() == OK {
		for _, scene := range scenes {
			scope.Places[scene] = to(scene)
		}
		scope.rev = r[1]
	}
	return scope, r.verdict(), nil
}

// Conclude ends a scope, once: OK, or Moved if it was written since it was read, or is
// gone. Its finale stands in the outbox then, unless f counts no scene.
func (s *Store) Conclude(ctx context.Context, scope Scope, f Finale) (Verdict, error) {
	line := ""
	if f.Ready+f.Failed > 0 {
		line = f.String()
	}
	r, err := s.conclude(ctx, scope, line)
	if err != nil {
		return "", err
	}
	return r.verdict(), nil
}

// ForgetScope takes a book from the list of open scopes if its scope is gone, and says
// whether that was so: it was lost, for what ends a scope unlists it in the same step.
func (s *Store) ForgetScope(ctx context.Context, book string) (lost bool, err error) {
	r, err := s.conclude(ctx, Scope{Book: book}, "")
	return err == nil && r.verdict() == OK && r.int(1) == 1, err
}

func (s *Store) conclude(ctx context.Context, scope Scope, line string) (reply, error) {
	return s.run(ctx, &scripts.conclude, ports.Quote(scope.Book),
		[]string{keys.Scope(scope.Book), keys.OpenScopes(), keys.Outbox()}, scope.ID, scope.rev, keys.BookMember(scope.Book), line)
}
