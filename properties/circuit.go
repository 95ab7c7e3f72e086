package properties

import (
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
)

// circuit is what Redis says of the breaker of a kind of stage.
type circuit struct {
	Limits            asset.Profile // of the kind of stage; its breaker's
	Opened            int64         // ms; 0: closed
	Held              bool          // open, by an operator
	Failures, Permits map[string]int64
}

// turn is a circuit before and after a write.
type turn struct {
	Stage         string
	Before, After circuit
}

// turn reads a circuit anew, once for each write.
func (l *ledger) turn(stage string, c *change) {
	for _, t := range c.Circuits {
		if t.Stage == stage {
			return
		}
	}
	hash := l.view.Redis.HGetAll(keys.Breaker(stage))
	after := circuit{l.view.Profile(stage), number(hash["opened_at"]), hash["hold"] == "open",
		l.scores(keys.BreakerFailures(stage)), l.scores(keys.BreakerPermits(stage))}
	c.Circuits = append(c.Circuits, turn{stage, l.circuits[stage], after})
	l.circuits[stage] = after
}

// scores is a sorted set of times in ms.
func (l *ledger) scores(key string) map[string]int64 {
	scores := map[string]int64{}
	for _, m := range l.view.Redis.ZRange(key) {
		scores[m.Name] = int64(m.Score)
	}
	return scores
}

// state is what the circuit does at a time in ms: closed, open or half_open.
func (c circuit) state(now int64) string {
	switch {
	case c.Held, c.Opened > 0 && now < c.Opened+c.Limits.Breaker.CoolDown.Milliseconds():
		return "open"
	case c.Opened > 0:
		return "half_open"
	}
	return "closed"
}

// after counts the members of a set whose time is later.
func after(scores map[string]int64, ms int64) (n int) {
	for _, at := range scores { //sim:unordered a count
		if at > ms {
			n++
		}
	}
	return n
}

// mayBegin says whether nothing but the lack of a slot, or the circuit, keeps a stage from being begun.
func (w *watch) mayBegin(r *row) bool {
	now := w.redisNow()
	return r.Status == "active" && r.Dispatch == "" && asset.Dispatchable(r.State) &&
		!r.Deferral.holds(r.Generation, now) && r.Next <= now && !w.cancelled[r.Stage.Book] &&
		!(r.Stage.Stage == asset.Video && asset.Awaited(w.row(r.Stage.Of(asset.Image)).State))
}

// taken is how many slots of a kind of stage are held.
func (w *watch) taken(stage string) (n int) {
	for _, m := range w.Redis.ZRange(keys.Slots(stage)) {
		if m.Score > float64(w.redisNow()) {
			n++
		}
	}
	return n
}
