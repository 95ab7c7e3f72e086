package consumer

import (
	"context"
	"fmt"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Heard is what an event of the trace says of kind "heard".
type Heard struct {
	ports.ResultEvent
	Again bool // it was heard before: dropped
}

// Consumer takes the result events of a world. Its calls belong to the running task;
// their service is "consumer", their verb consume, their subject the stage or scene.
type Consumer struct {
	w     *sim.World
	heard map[string]bool
	list  []ports.ResultEvent
}

var _ ports.Consumer = (*Consumer)(nil)

// New returns a consumer that has heard nothing.
func New(w *sim.World) *Consumer { return &Consumer{w: w, heard: map[string]bool{}} }

// Consume implements ports.Consumer.
func (c *Consumer) Consume(ctx context.Context, e ports.ResultEvent) error {
	deadline, _ := ctx.Deadline()
	_, err := c.w.Do(&sim.Call{
		Service: "consumer", Verb: "consume", Subject: e.Subject(), Deadline: deadline,
		Do: func(*sim.Fired) (any, error) { c.hear(e); return nil, nil },
	})
	if err != nil {
		return fmt.Errorf("consume %s of %s: %w", e.Kind, e.Subject(), err)
	}
	return nil
}

func (c *Consumer) hear(e ports.ResultEvent) {
	again, outcome := c.heard[e.ID], e.Kind
	if again {
		outcome += " again"
	} else {
		c.heard[e.ID] = true
		c.list = append(c.list, e)
	}
	c.w.Emit(sim.Event{Kind: "heard", Subject: e.Subject(), Detail: e.Reason, Outcome: outcome, Data: Heard{e, again}})
}

// List returns what was heard, each event once, in the order in which it came first.
func (c *Consumer) List() []ports.ResultEvent { return append([]ports.ResultEvent(nil), c.list...) }
