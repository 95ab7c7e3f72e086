package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
)

const (
	journalLengthMax = 1000 // events per scene, roughly (schema 2)
	journalTTL       = 30 * 24 * time.Hour
)

// The kinds of lines in the outbox.
const (
	LineStarted   = "started"
	LineFinished  = "finished"
	LineConcluded = "concluded"
)

// Line is an entry of the outbox: what happened to a dispatch, written in the step in
// which it happened, so that a crash after it loses nothing (FN1). It reads
//
//	kind|dispatch|outcome|reason|b|c|s|stage
//	kind|dispatch|outcome|reason|b|c|s|stage|state|final reason
//
// the second for finished, each part an encoded component.
type Line struct {
	Kind        string
	Dispatch    string
	Outcome     string
	Reason      string
	Stage       asset.StageID
	State       asset.State // after it; scripts append these two
	FinalReason string      // differs from Reason if the budget ran out
}

// String is the line as it stands in Redis.
func (l Line) String() string {
	parts := []string{l.Kind, l.Dispatch, l.Outcome, l.Reason, l.Stage.Book, l.Stage.Chapter, l.Stage.Scene, l.Stage.Stage}
	if l.State != "" || l.FinalReason != "" {
		parts = append(parts, string(l.State), l.FinalReason)
	}
	for i, part := range parts {
		parts[i] = keys.Encode(part)
	}
	return strings.Join(parts, "|")
}

// ParseLine reads a line.
func ParseLine(text string) (Line, error) {
	parts := strings.Split(text, "|")
	if len(parts) != 8 && len(parts) != 10 {
		return Line{}, fmt.Errorf("store: outbox line %q: it has %d parts, not 8 or 10", text, len(parts))
	}
	for i, part := range parts {
		id, err := keys.Decode(part)
		if err != nil {
			return Line{}, fmt.Errorf("store: outbox line %q: %w", text, err)
		}
		parts[i] = id
	}
	scene := asset.SceneID{Book: parts[4], Chapter: parts[5], Scene: parts[6]}
	l := Line{Kind: parts[0], Dispatch: parts[1], Outcome: parts[2], Reason: parts[3], Stage: scene.Of(parts[7])}
	if len(parts) == 10 {
		l.State, l.FinalReason = asset.State(parts[8]), parts[9]
	}
	return l, nil
}

// Finale is an entry of the outbox: a scope was concluded. It reads
//
//	concluded|scope|ready|failed|b
//
// each part an encoded component.
type Finale struct {
	Book, Scope   string
	Ready, Failed int // scenes; failed: with a stage that is FAILED
}

// String is the line as it stands in Redis.
func (f Finale) String() string {
	return strings.Join([]string{LineConcluded, keys.Encode(f.Scope), strconv.Itoa(f.Ready), strconv.Itoa(f.Failed), keys.Encode(f.Book)}, "|")
}

// ParseFinale reads a line; ok is false if it is of another kind, or garbled.
func ParseFinale(text string) (f Finale, ok bool) {
	parts := strings.Split(text, "|")
	if len(parts) != 5 || parts[0] != LineConcluded {
		return Finale{}, false
	}
	scope, bad := keys.Decode(parts[1])
	book, worse := keys.Decode(parts[4])
	f = Finale{Scope: scope, Book: book, Ready: int(number(parts[2])), Failed: int(number(parts[3]))}
	return f, bad == nil && worse == nil && f.String() == text
}

// Outbox returns the first n lines of the outbox, as they stand there.
func (s *Store) Outbox(ctx context.Context, n int) ([]string, error) {
	lines, err := s.client.LRange(ctx, keys.Outbox(), 0, int64(n)-1).Result()
	if err != nil {
		return nil, unread("read", "outbox", keys.Outbox(), err)
	}
	return lines, nil
}

// Move is a line that Drain moves to the journal of a scene, or of a book if only that is
// named, under the name of an event. A line without an event is dropped.
type Move struct {
	Line  string
	Scene asset.SceneID
	Event string
}

// Journal is the key of the journal that the line goes to.
func (m Move) Journal() string {
	if m.Scene.Book != "" && m.Scene.Chapter == "" && m.Scene.Scene == "" {
		return keys.BookJournal(m.Scene.Book)
	}
	return keys.Journal(m.Scene)
}

// Drain moves lines from the head of the outbox to the journals, and stops at the first
// that is not the head any more: another replica was there. It returns how many it moved.
func (s *Store) Drain(ctx context.Context, moves []Move) (int, error) {
	names, args := []string{keys.Outbox()}, []any{journalLengthMax, journalTTL.Milliseconds()}
	for _, m := range moves {
		names = append(names, m.Journal())
		args = append(args, m.Line, m.Event)
	}
	r, err := s.run(ctx, &scripts.drain, "outbox", names, args...)
	if err != nil {
		return 0, err
	}
	return int(r.int(0)), nil
}
