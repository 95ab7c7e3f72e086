package workers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

const (
	requestTimeout = 10 * time.Second
	retryPause     = 5 * time.Second
	reportsMax     = 10 // tries to report a result; after them the hub finds out by itself
	uploadsMax     = 3
	idleFactorMax  = 5
)

// worker is one life of a worker.
type worker struct {
	*sim.Process
	pool   *Pool
	spec   *Spec
	client http.Client
}

func (k *worker) heartbeat(ctx context.Context) {
	for ctx.Err() == nil {
		_, _ = k.send(ctx, "/workers/"+k.Name()+"/heartbeat", k.hello(), nil) // the next one may get through
		_ = k.Sleep(ctx, k.spec.HeartbeatEvery)
	}
}

func (k *worker) hello() hub.Hello {
	h := hub.Hello{Type: k.spec.Type}
	if k.spec.Workspace != "" {
		h.Scope, h.Workspace, h.SharedUntil = ports.ScopePrivate, k.spec.Workspace, k.spec.SharedUntil
	}
	return h
}

// work claims and runs jobs, one after the other.
func (k *worker) work(ctx context.Context) {
	for pause := k.spec.PollEvery; ctx.Err() == nil; {
		var c hub.Claim
		status, err := k.send(ctx, "/workers/"+k.Name()+"/claim", k.hello(), &c)
		if err == nil && status == http.StatusOK {
			k.run(ctx, c)
			pause = k.spec.PollEvery
			continue
		}
		_ = k.Sleep(ctx, pause)
		pause = min(2*pause, idleFactorMax*k.spec.PollEvery)
	}
}

// toil spends d on a job and reports progress. It is false when the job is gone.
func (k *worker) toil(ctx context.Context, c hub.Claim, d time.Duration) bool {
	for d > 0 && ctx.Err() == nil {
		step := min(d, k.spec.ProgressEvery)
		_ = k.Sleep(ctx, step)
		if d -= step; d == 0 {
			return true // the next report says more
		}
		status, err := k.send(ctx, jobPath(c, "progress"), hub.Progress{Worker: k.Name(), DispatchID: c.DispatchID}, nil)
		if err == nil && status == http.StatusGone {
			return false
		}
	}
	return true
}

// report reports a result until the hub has understood it.
func (k *worker) report(ctx context.Context, c hub.Claim, r ports.JobResult) {
	for range reportsMax {
		status, err := k.send(ctx, jobPath(c, "result"), r, nil)
		if err == nil && status < http.StatusInternalServerError {
			return
		}
		_ = k.Sleep(ctx, retryPause)
	}
}

func (k *worker) upload(ctx context.Context, file ports.Artifact) (err error) {
	for range uploadsMax {
		timed, cancel := k.WithTimeout(ctx, requestTimeout)
		err = k.pool.tree.Put(timed, file)
		cancel()
		if err == nil {
			return nil
		}
		_ = k.Sleep(ctx, retryPause)
	}
	return err
}

func jobPath(c hub.Claim, verb string) string {
	return "/jobs/" + url.PathEscape(c.JobID) + "/" + verb
}

// send makes one request and decodes a 200 into out.
func (k *worker) send(ctx context.Context, path string, body, out any) (status int, err error) {
	ctx, cancel := k.WithTimeout(ctx, requestTimeout)
	defer cancel()
	b, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://hub"+path, bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", k.spec.APIKey)
	resp, err := k.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	answer, err := io.ReadAll(resp.Body)
	if err == nil && out != nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return resp.StatusCode, nil
}
