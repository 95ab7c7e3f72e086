package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/animastor/orchestra/ports"
)

const (
	courierQueueMax  = 10_000
	couriers         = 8
	deliverTries     = 4
	deliverPause     = 5 * time.Second
	deliverOneAtMost = 10 * time.Second
)

// courier takes results to the replicas, by turns. One that nobody takes in four tries is
// dropped: the reconcile pass finds it (schema 5).
type courier struct {
	engines []string
	key     string
	log     *slog.Logger
	queue   chan ports.JobResult
	client  http.Client
	turn    atomic.Uint64
}

func newCourier(engines []string, key string, log *slog.Logger) *courier {
	return &courier{engines: engines, key: key, log: log, queue: make(chan ports.JobResult, courierQueueMax), client: http.Client{Timeout: deliverOneAtMost, Transport: &http.Transport{}}}
}

// push hands over a result. It does not wait.
func (c *courier) push(r ports.JobResult) {
	select {
	case c.queue <- r:
	default:
		c.log.Warn("dropped a result: too many wait", "job", r.JobID)
	}
}

func (c *courier) start(ctx context.Context, rt *ports.System) {
	for range couriers {
		rt.Go(ctx, "courier", func(ctx context.Context) {
			for {
				select {
				case <-ctx.Done():
					return
				case r := <-c.queue:
					c.deliver(ctx, rt, r)
				}
			}
		})
	}
}

// close lets go of the connections, after the couriers have ended.
func (c *courier) close() { c.client.CloseIdleConnections() }

func (c *courier) deliver(ctx context.Context, rt *ports.System, r ports.JobResult) {
	for try := 1; ; try++ {
		engine := c.engines[int(c.turn.Add(1)%uint64(len(c.engines)))]
		again, err := c.post(ctx, engine, r)
		switch {
		case err == nil:
			c.log.Debug("delivered", "job", r.JobID, "engine", engine)
			return
		case !again || try == deliverTries:
			c.log.Warn("dropped a result", "job", r.JobID, "engine", engine, "error", err)
			return
		}
		c.log.Info("will deliver again", "job", r.JobID, "engine", engine, "error", err)
		if rt.Sleep(ctx, deliverPause) != nil {
			return
		}
	}
}

// post delivers once, and says whether it is worth another try.
func (c *courier) post(ctx context.Context, engine string, r ports.JobResult) (again bool, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(engine, "/")+"/callback", bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", c.key)
	resp, err := c.client.Do(req)
	if err != nil {
		return true, err
	}
	_ = resp.Body.Close() // the status says it all
	if resp.StatusCode == http.StatusNoContent {
		return false, nil
	}
	return resp.StatusCode >= http.StatusInternalServerError, fmt.Errorf("the engine answered %s", resp.Status)
}
