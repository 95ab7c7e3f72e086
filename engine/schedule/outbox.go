package schedule

import (
	"context"

	"github.com/animastor/orchestra/ports"
)

// DrainOutbox moves what begin, finish and intent left in the outbox to the
// journals of their scenes: once each, whichever replicas drain (FN1, FN2). It
// returns how many entries it moved.
func (s *Scheduler) DrainOutbox(ctx context.Context) (int, error) {
	call, cancel := s.d.Runtime.WithTimeout(ctx, callAtMost)
	defer cancel()
	entries, err := s.d.Store.Outbox(call, outboxBatch)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	moved, err := s.d.Store.Drain(call, entries)
	if err != nil {
		return 0, err
	}
	for _, e := range entries[:moved] {
		s.d.Observer.Observe(ports.Journaled{Scene: e.Stage.SceneID, Events: []string{e.Event()}})
	}
	return moved, nil
}
