package ports

import (
	"context"
	"errors"
	"fmt"
)

// The errors of Pointers, told apart by errors.Is (audit 143a B2: a store that cannot be
// read is no empty store). An error that is none of these is ErrUnreadable to its caller.
var (
	// ErrNoRow says that the store was read and has no such row.
	ErrNoRow = errors.New("pointers: no such row")
	// ErrUnreadable says that the store could not be read, or not to the end.
	ErrUnreadable = errors.New("pointers: unreadable")
	// ErrUndecodable says that the store was read and one row of the answer makes no
	// sense: only what that row is about is unknown.
	ErrUndecodable = errors.New("pointers: a row cannot be decoded")
)

// PointerOK is the one status of a pointer that proves anything.
const PointerOK = "ok"

// Pointer is what was published last for one unit of a scene: which file is the picture.
type Pointer struct {
	Unit       string
	Path       string // in the artifact tree (keys.VersionPath)
	Status     string // PointerOK; any other proves nothing
	Generation int64  // of the dispatch that made the file
	Version    int64  // content version that it was made from
	Mark       int64  // the highest dirty mark that it settles
}

// Validate checks that a store can hold p: its unit is an id, its texts are UTF-8 without NUL,
// its numbers are not below zero. The error is ErrInvalid.
func (p Pointer) Validate() error {
	if err := ValidateID("unit", p.Unit); err != nil {
		return err
	}
	for _, text := range [...]struct{ name, text string }{{"path", p.Path}, {"status", p.Status}} {
		if problem := textProblem(text.text); problem != "" {
			return fmt.Errorf("%w: %s %q: %s", ErrInvalid, text.name, text.text, problem)
		}
	}
	for _, number := range [...]struct {
		name   string
		number int64
	}{{"generation", p.Generation}, {"version", p.Version}, {"mark", p.Mark}} {
		if err := ValidateNumber(number.name, number.number); err != nil {
			return err
		}
	}
	return nil
}

// ValidateNumber checks that a generation, version or mark is not below zero. The error is ErrInvalid.
func ValidateNumber(name string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%w: %s %d: below zero", ErrInvalid, name, n)
	}
	return nil
}

// ValidateUnits checks a scene and units of it. The error is ErrInvalid.
func (s SceneID) ValidateUnits(units ...string) error {
	if err := s.Validate(); err != nil {
		return err
	}
	for _, unit := range units {
		if err := ValidateID("unit", unit); err != nil {
			return err
		}
	}
	return nil
}

// ValidatePage checks what a page of a list of a scene is asked for with: its last unit is an
// id, or "". The error is ErrInvalid.
func (s SceneID) ValidatePage(after string) error {
	if after == "" {
		return s.Validate()
	}
	return s.ValidateUnits(after)
}

// Older says that p must not take the place of q: generations only grow, and within one
// neither mark nor version goes back.
func (p Pointer) Older(q Pointer) bool {
	return p.Generation < q.Generation || p.Generation == q.Generation && (p.Mark < q.Mark || p.Version < q.Version)
}

// DirtyMark says that a unit was edited after what stands was made. Numbers come from one
// sequence of the store; of several marks of a unit the highest counts.
type DirtyMark struct {
	Unit   string
	Number int64
}

// Page is a part of a list that is ordered by unit. A page of which rows were lost on the
// way is told by Total.
type Page[T any] struct {
	Rows  []T
	Next  string // ask for what comes after this unit; "": this is the last page
	Total int    // rows of the whole list, counted when this page was read
}

// PageRows is how many rows a page has at most.
const PageRows = 100

// Pointers is the relational store: published pointers, dirty marks, the content versions
// that were accepted, and the tombstones of books. Ids are data, never parts of a pattern.
// Every method makes one query; a write that answers an error may have been carried out,
// and can be made again. What no store can hold is ErrInvalid, and nothing is asked.
//
// Tasks (spec orchestration 4.2) have no place here: what is asked for stands in the intent
// of each stage, in Redis, and a task that outlives its process would only keep a ghost
// alive (H-56).
type Pointers interface {
	// Published lists the pointers of a scene after a unit ("": from the first).
	Published(ctx context.Context, scene SceneID, after string) (Page[Pointer], error)
	// Publish points at a new file, unless what is published is newer: kept.
	Publish(ctx context.Context, scene SceneID, p Pointer) (published bool, err error)
	// Mark gives units of a scene the next number of the sequence. It is seen after all lower
	// numbers of the scene: settling up to a number that was read takes away no unread mark.
	Mark(ctx context.Context, scene SceneID, units []string) (number int64, err error)
	// Marks lists the marks of a scene after a unit ("": from the first).
	Marks(ctx context.Context, scene SceneID, after string) (Page[DirtyMark], error)
	// Settle takes the mark of a unit away if its number is at most upTo.
	Settle(ctx context.Context, scene SceneID, unit string, upTo int64) error
	// Stamp notes which content version a stage was accepted for; a lower one than it has
	// changes nothing.
	Stamp(ctx context.Context, stage StageID, version int64) error
	// Stamped is that version, or ErrNoRow.
	Stamped(ctx context.Context, stage StageID) (int64, error)
	// Bury puts a tombstone on a book: nothing of it may be started again by a repair.
	Bury(ctx context.Context, book string) error
	// Unbury takes it away.
	Unbury(ctx context.Context, book string) error
	// Buried says whether there is one. A non-nil error comes with Unknown, and only then.
	Buried(ctx context.Context, book string) (Presence, error)
}

// Stale is the one predicate of versions: an artifact of an older content version than the
// scene has now. No row is no verdict, and so not stale (spec orchestration H-02).
func Stale(stamped, current int64) bool { return stamped != 0 && stamped < current }

// AllPublished reads the pointers of a scene, all pages of them, by unit.
func AllPublished(ctx context.Context, s Pointers, scene SceneID) (map[string]Pointer, error) {
	pointers := map[string]Pointer{}
	err := pages(func(after string) (Page[Pointer], error) { return s.Published(ctx, scene, after) },
		func(p Pointer) { pointers[p.Unit] = p })
	return pointers, about("pointers of", scene, err)
}

// AllMarks reads the dirty marks of a scene, all pages of them, by unit.
func AllMarks(ctx context.Context, s Pointers, scene SceneID) (map[string]int64, error) {
	marks := map[string]int64{}
	err := pages(func(after string) (Page[DirtyMark], error) { return s.Marks(ctx, scene, after) },
		func(m DirtyMark) { marks[m.Unit] = m.Number })
	return marks, about("dirty marks of", scene, err)
}

func about(what string, scene SceneID, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, scene, err)
}

// pages reads a list to its end. Fewer rows than there are is ErrUnreadable; more are not,
// for rows may come while it reads.
func pages[T any](read func(after string) (Page[T], error), take func(T)) error {
	for after, rows := "", 0; ; {
		page, err := read(after)
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			take(row)
		}
		rows += len(page.Rows)
		switch {
		case page.Next == "" && rows < page.Total, page.Next != "" && page.Next <= after:
			return fmt.Errorf("%w: a partial page: %d rows of %d", ErrUnreadable, rows, page.Total)
		case page.Next == "":
			return nil
		}
		after = page.Next
	}
}
