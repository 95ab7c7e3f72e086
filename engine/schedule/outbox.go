package schedule

import (
	"context"

	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// DrainOutbox moves what begin, finish and intent left in the outbox to the
// journals of their scenes: once each, whichever replicas drain (FN1, FN2). It
// returns how many entries it moved.
func (s *Scheduler) DrainOutbox(ctx context.Context) (int, error) {
	call, cancel := s.d.Runtime.WithTimeout(ctx, callAtMost)
	defer cancel()
	lines, err := s.d.Store.Outbox(call, outboxBatch)
	if err != nil || len(lines) == 0 {
		return 0, err
	}
	moves := make([]store.Move, len(lines))
	for i, text := range lines {
		line, err := store.ParseLine(text)
		if err != nil {
			return 0, err
		}
		moves[i] = store.Move{Line: text, Scene: line.Stage.SceneID, Event: event(line)}
	}
	moved, err := s.d.Store.Drain(call, moves)
	if err != nil {
		return 0, err
	}
	for _, m := range moves[:moved] {
		s.d.Observer.Observe(ports.Journaled{Scene: m.Scene, Events: []string{m.Event}})
	}
	return moved, nil
}

// event names an entry as the journal always has (spec runtime 7).
func event(l store.Line) string {
	switch {
	case l.Kind == store.LineStarted:
		return "DISPATCH_STARTED"
	case l.Outcome == "ready":
		return "DISPATCH_COMPLETED"
	case l.Outcome == "failed" || l.Outcome == "lost":
		return "DISPATCH_FAILED"
	}
	return "DISPATCH_CANCELLED"
}
