package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
)

const (
	outboxLengthMax  = 10_000 // lines (schema 2)
	journalLengthMax = 1000   // events per scene, roughly (schema 2); of a queue of result events, exactly
	journalTTL       = 30 * 24 * time.Hour
)

// The kinds of lines in the outbox.
const (
	LineStarted   = "started"
	LineFinished  = "finished"
	LineConcluded = "concluded"
	LineRefused   = "refused"  // the first or the last tick of a row of refusals: its outcome is the event
	LineRepaired  = "repaired" // a pass put a stage back: its outcome is restored, indexed or dirty
	LineReset     = "reset"    // a stage is asked for anew: its outcome is reset or regenerate
)

// What a finished line says beside the end of its own stage.
const (
	AlsoSceneReady   = "scene_ready"   // all stages of the scene that were asked for are ready
	AlsoVideoBlocked = "video_blocked" // the video failed, for want of pictures
)

// Line is an entry of the outbox: what happened to a dispatch, written in the step in
// which it happened, so that a crash after it loses nothing (FN1). It reads
//
//	kind|dispatch|outcome|reason|b|c|s|stage
//	kind|dispatch|outcome|reason|b|c|s|stage|state|final reason|at|until|generation|also
//
// the second for finished, each part an encoded component, times in ms since 1970.
type Line struct {
	Kind        string
	Dispatch    string
	Outcome     string
	Reason      string
	Stage       ports.StageID
	State       asset.State // after it; scripts append this and what follows
	FinalReason string      // differs from Reason if the budget ran out
	At          time.Time   // by Redis' clock
	Until       time.Time   // until when the stage is held back; zero: it is not
	Generation  int64       // of the dispatch
	Also        string      // AlsoSceneReady, AlsoVideoBlocked or nothing
}

// String is the line as it stands in Redis.
func (l Line) String() string {
	parts := []string{l.Kind, l.Dispatch, l.Outcome, l.Reason, l.Stage.Book, l.Stage.Chapter, l.Stage.Scene, l.Stage.Stage}
	if !l.At.IsZero() {
		parts = append(parts, string(l.State), l.FinalReason, ms(l.At), ms(l.Until), strconv.FormatInt(l.Generation, 10), l.Also)
	}
	for i, part := range parts {
		parts[i] = keys.Encode(part)
	}
	return strings.Join(parts, "|")
}

func ms(at time.Time) string {
	if at.IsZero() {
		return "0"
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

// ParseLine reads a line.
func ParseLine(text string) (Line, error) {
	parts := strings.Split(text, "|")
	if len(parts) != 8 && len(parts) != 14 {
		return Line{}, fmt.Errorf("store: outbox line %q: it has %d parts, not 8 or 14", text, len(parts))
	}
	for i, part := range parts {
		id, err := keys.Decode(part)
		if err != nil {
			return Line{}, fmt.Errorf("store: outbox line %q: %w", text, err)
		}
		parts[i] = id
	}
	scene := ports.SceneID{Book: parts[4], Chapter: parts[5], Scene: parts[6]}
	l := Line{Kind: parts[0], Dispatch: parts[1], Outcome: parts[2], Reason: parts[3], Stage: scene.Of(parts[7])}
	if len(parts) == 14 {
		l.State, l.FinalReason, l.At, l.Until = asset.State(parts[8]), parts[9], instant(parts[10]), instant(parts[11])
		l.Generation, l.Also = number(parts[12]), parts[13]
	}
	return l, nil
}

// Finale is an entry of the outbox: a scope was concluded. It reads
//
//	concluded|scope|ready|failed|b|at
//
// each part an encoded component, the time in ms since 1970.
type Finale struct {
	Book, Scope   string
	Ready, Failed int       // scenes; failed: with a stage that is FAILED
	At            time.Time // by Redis' clock; the script appends it
}

// String is the line as it stands in Redis.
func (f Finale) String() string {
	parts := []string{LineConcluded, keys.Encode(f.Scope), strconv.Itoa(f.Ready), strconv.Itoa(f.Failed), keys.Encode(f.Book)}
	if !f.At.IsZero() {
		parts = append(parts, ms(f.At))
	}
	return strings.Join(parts, "|")
}

// ParseFinale reads a line; ok is false if it is of another kind, or garbled.
func ParseFinale(text string) (f Finale, ok bool) {
	parts := strings.Split(text, "|")
	if len(parts) != 6 || parts[0] != LineConcluded {
		return Finale{}, false
	}
	scope, bad := keys.Decode(parts[1])
	book, worse := keys.Decode(parts[4])
	f = Finale{Scope: scope, Book: book, Ready: int(number(parts[2])), Failed: int(number(parts[3])), At: instant(parts[5])}
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

// Tell puts a line at the end of the outbox, as the scripts do. It may be lost, and must
// be bounded by its caller.
func (s *Store) Tell(ctx context.Context, l Line) error {
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.RPush(ctx, keys.Outbox(), l.String())
		p.LTrim(ctx, keys.Outbox(), -outboxLengthMax, -1)
		return nil
	})
	if err != nil {
		return unread("tell", l.Stage.String(), keys.Outbox(), err)
	}
	return nil
}

// Move is a line that Drain moves out of the outbox: to the journal of its scene, or
// of its book if only that is named, under the name of an event, and to the queue of what the host is to be told. A line with
// neither is dropped.
type Move struct {
	Line  string
	Scene ports.SceneID
	Event string // "": not journaled
	Tell  bool
}

// Drain moves lines from the head of the outbox, and stops at the first that is not the
// head any more: another replica was there. It returns how many it moved.
func (s *Store) Drain(ctx context.Context, moves []Move) (int, error) {
	names, args := []string{keys.Outbox(), keys.Undelivered()}, []any{journalLengthMax, journalTTL.Milliseconds()}
	for _, m := range moves {
		// What a line does not go to stands as a key of no scene, which no one writes: a
		// corrupt one must not be in the way of others.
		journal, queue, member := ports.SceneID{}, ports.SceneID{}, ""
		if m.Event != "" {
			journal = m.Scene
		}
		if m.Tell {
			queue, member = m.Scene, keys.SceneMember(m.Scene)
		}
		names = append(names, keys.Journal(journal), keys.Events(queue))
		args = append(args, m.Line, m.Event, member)
	}
	r, err := s.run(ctx, &scripts.drain, "outbox", names, args...)
	if err != nil {
		return 0, err
	}
	return int(r.int(0)), nil
}

// Due lends at most n scenes whose host has something to hear, those that wait longest
// first. A loan lapses by itself.
func (s *Store) Due(ctx context.Context, n int, loan time.Duration) ([]ports.SceneID, error) {
	r, err := s.run(ctx, &scripts.due, "undelivered", []string{keys.Undelivered()}, n, millis("loan", loan))
	if err != nil {
		return nil, err
	}
	var scenes []ports.SceneID
	for _, member := range r[1:] {
		if scene, err := keys.ParseSceneMember(member); err == nil {
			scenes = append(scenes, scene)
		}
	}
	return scenes, nil
}

// Events returns the first n lines of the queue of a scene.
func (s *Store) Events(ctx context.Context, scene ports.SceneID, n int) ([]string, error) {
	lines, err := s.client.LRange(ctx, keys.Events(scene), 0, int64(n)-1).Result()
	if err != nil {
		return nil, unread("result events of", scene.String(), keys.Events(scene), err)
	}
	return lines, nil
}

// Delivered takes a line that the host has heard from the head of a scene's queue: OK, and
// the scene is lent for a time, as more is left; Last, if nothing is; Moved, with nothing
// written, if another line is the head.
func (s *Store) Delivered(ctx context.Context, scene ports.SceneID, line string, loan time.Duration) (Verdict, error) {
	r, err := s.run(ctx, &scripts.delivered, scene.String(), []string{keys.Events(scene), keys.Undelivered()},
		line, keys.SceneMember(scene), loan.Milliseconds())
	if err != nil {
		return "", err
	}
	return r.verdict(), nil
}
