package store

import (
	"context"
	"fmt"
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
	LineStarted  = "started"
	LineFinished = "finished"
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

// Outbox returns the first n lines of the outbox, as they stand there.
func (s *Store) Outbox(ctx context.Context, n int) ([]string, error) {
	lines, err := s.client.LRange(ctx, keys.Outbox(), 0, int64(n)-1).Result()
	if err != nil {
		return nil, unread("read", "outbox", keys.Outbox(), err)
	}
	return lines, nil
}

// Move is a line that Drain moves to the journal of a scene, under the name of an
// event. A line without an event is dropped.
type Move struct {
	Line  string
	Scene asset.SceneID
	Event string
}

// Drain moves lines from the head of the outbox to the journals, and stops at the first
// that is not the head any more: another replica was there. It returns how many it moved.
func (s *Store) Drain(ctx context.Context, moves []Move) (int, error) {
	names, args := []string{keys.Outbox()}, []any{journalLengthMax, journalTTL.Milliseconds()}
	for _, m := range moves {
		names = append(names, keys.Journal(m.Scene))
		args = append(args, m.Line, m.Event)
	}
	r, err := s.run(ctx, &scripts.drain, "outbox", names, args...)
	if err != nil {
		return 0, err
	}
	return int(r.int(0)), nil
}
