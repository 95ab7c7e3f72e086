package schedule

import (
	"context"
	"errors"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// DrainOutbox moves what begin, finish and intent left in the outbox to the
// journals of their scenes, and finales to those of their books: once each, whichever replicas drain (FN1, FN2). It
// goes on until the outbox is empty, or another replica drains beside it, and returns how many
// entries it moved.
func (s *Scheduler) DrainOutbox(ctx context.Context) (total int, err error) {
	for moved := outboxBatch; moved == outboxBatch && err == nil; total += moved {
		moved, err = s.drain(ctx)
	}
	return total, err
}

// drain moves one batch.
func (s *Scheduler) drain(ctx context.Context) (int, error) {
	call, cancel := s.d.Runtime.WithTimeout(ctx, callAtMost)
	defer cancel()
	lines, err := s.d.Store.Outbox(call, outboxBatch)
	if err != nil || len(lines) == 0 {
		return 0, err
	}
	moves, finales := make([]store.Move, len(lines)), make([]*ports.Concluded, len(lines))
	for i, text := range lines {
		moves[i], finales[i] = s.move(text)
	}
	moved, err := s.d.Store.Drain(call, moves)
	for drop(moves, err) { // a bad key must not hold up the others
		s.d.Observer.Observe(ports.Trouble{Op: "drain outbox", Err: err})
		moved, err = s.d.Store.Drain(call, moves)
	}
	if err != nil {
		return 0, err
	}
	for i, m := range moves[:moved] {
		if finales[i] != nil {
			s.d.Observer.Observe(*finales[i])
		} else if m.Event != "" {
			s.d.Observer.Observe(ports.Journaled{Scene: m.Scene, Events: []string{m.Event}})
		}
	}
	return moved, nil
}

// move says where a line goes, and what it concludes if it is a finale. One that nobody can
// read goes nowhere.
func (s *Scheduler) move(text string) (store.Move, *ports.Concluded) {
	m := store.Move{Line: text}
	if f, ok := store.ParseFinale(text); ok {
		m.Scene, m.Event, m.Tell = ports.SceneID{Book: f.Book}, "GENERATION_COMPLETE", s.tells
		return m, &ports.Concluded{Book: f.Book, Scope: f.Scope, Ready: f.Ready, Failed: f.Failed}
	}
	line, err := store.ParseLine(text)
	if err != nil {
		s.d.Observer.Observe(ports.Trouble{Op: "drain outbox", Err: err})
		return m, nil
	}
	m.Scene, m.Event, m.Tell = line.Stage.SceneID, event(line), s.tells && line.Kind == store.LineFinished
	return m, nil
}

// drop gives up what would go to the key that err calls corrupt. It is false if that is
// not what is wrong.
func drop(moves []store.Move, err error) (dropped bool) {
	var corrupt *store.CorruptError
	if !errors.As(err, &corrupt) {
		return false
	}
	for i := range moves {
		m := &moves[i]
		if m.Event != "" && keys.Journal(m.Scene) == corrupt.Key {
			m.Event, dropped = "", true
		}
		if m.Tell && (keys.Events(m.Scene) == corrupt.Key || keys.Undelivered() == corrupt.Key) {
			m.Tell, dropped = false, true
		}
	}
	return dropped
}

// event names an entry as the journal always has (spec runtime 7).
func event(l store.Line) string {
	switch {
	case l.Kind == store.LineStarted:
		return "DISPATCH_STARTED"
	case l.Kind == store.LineRefused:
		return l.Outcome
	case l.Kind == store.LineRepaired:
		return "AUTO_RECOVER"
	case l.Kind == store.LineReset:
		return "SCENE_RESET"
	case l.Outcome == "ready":
		return "DISPATCH_COMPLETED"
	case l.Outcome == "failed" || l.Outcome == "lost":
		return "DISPATCH_FAILED"
	}
	return "DISPATCH_CANCELLED"
}
