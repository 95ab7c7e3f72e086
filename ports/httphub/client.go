package httphub

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/internal/once"
)

// Options are the settings of a Client.
type Options struct {
	BaseURL string        // absolute, e.g. http://hub:8080; a path is kept as a prefix
	APIKey  string        // sent as x-api-key; empty: no such header
	Client  *http.Client  // nil: one over http.DefaultTransport; its Timeout must be 0
	Timeout time.Duration // of each request; 0: 10 s
}

// Client is the hub behind a URL. It is safe for concurrent use if the
// http.Client is.
type Client struct {
	rt      ports.Runtime
	base    string
	once    *once.Client
	timeout time.Duration
}

var _ ports.Hub = (*Client)(nil)

// New returns a client. It panics if the base URL is not absolute, or if the
// http.Client has a timeout of its own, which would run on the real clock.
func New(rt ports.Runtime, o Options) *Client {
	if u, err := url.Parse(o.BaseURL); err != nil || u.Scheme == "" || u.Host == "" {
		panic(fmt.Sprintf("httphub: base URL %q is not absolute: write http://host:port", o.BaseURL))
	}
	return &Client{rt: rt, base: strings.TrimRight(o.BaseURL, "/"), once: once.New("httphub", o.Client, o.APIKey), timeout: cmp.Or(o.Timeout, 10*time.Second)}
}

// Post implements ports.Hub.
func (c *Client) Post(ctx context.Context, job ports.Job) error {
	var accepted struct {
		JobID string `json:"job_id"`
	}
	r := request{op: "post " + job.JobID, method: http.MethodPost, path: "/jobs", body: job, mayBeEmpty: true}
	err := c.do(ctx, r, &accepted)
	if err == nil && accepted.JobID != "" {
		err = r.about(job.JobID, accepted.JobID)
	}
	return err
}

// Job implements ports.Hub.
func (c *Client) Job(ctx context.Context, jobID string) (ports.JobStatus, bool, error) {
	var status ports.JobStatus
	r := request{op: "job " + jobID, method: http.MethodGet, path: "/jobs/" + segment(jobID)}
	err := c.do(ctx, r, &status)
	if isNotFound(err) {
		return ports.JobStatus{}, false, nil
	}
	if err == nil {
		err = r.about(jobID, status.JobID)
	}
	if err == nil && status.DispatchID == "" {
		err = r.ambiguous("the answer names no dispatch")
	}
	if err != nil {
		return ports.JobStatus{}, false, err
	}
	return status, true, nil
}

// Dispatch implements ports.Hub.
func (c *Client) Dispatch(ctx context.Context, dispatchID string) ([]ports.JobStatus, error) {
	var list struct {
		Jobs *[]ports.JobStatus `json:"jobs"`
	}
	r := request{op: "dispatch " + dispatchID, method: http.MethodGet, path: "/dispatches/" + segment(dispatchID), bytesMax: listBytesMax}
	if err := c.do(ctx, r, &list); err != nil {
		return nil, err
	}
	if list.Jobs == nil {
		return nil, r.ambiguous("the answer has no jobs")
	}
	for _, j := range *list.Jobs {
		if err := r.about(dispatchID, j.DispatchID); err != nil {
			return nil, err
		}
		if j.JobID == "" {
			return nil, r.ambiguous("the answer has a job without an id")
		}
	}
	return *list.Jobs, nil
}

// ClearDispatch implements ports.Hub.
func (c *Client) ClearDispatch(ctx context.Context, dispatchID string) (ports.Cleared, error) {
	return c.clear(ctx, "dispatch_id", dispatchID)
}

// ClearBook implements ports.Hub.
func (c *Client) ClearBook(ctx context.Context, bookID string) (ports.Cleared, error) {
	return c.clear(ctx, "book_id", bookID)
}

func (c *Client) clear(ctx context.Context, by, id string) (cleared ports.Cleared, err error) {
	mustHave(id) // an empty one could be read as "clear everything"
	query := url.Values{by: {id}}
	r := request{op: "clear " + by + " " + id, method: http.MethodDelete, path: "/queue/clear?" + query.Encode()}
	err = c.do(ctx, r, &cleared)
	return cleared, err
}

// Workers implements ports.Hub.
func (c *Client) Workers(ctx context.Context) ([]ports.Worker, error) {
	var list struct {
		Workers *[]ports.Worker `json:"workers"`
	}
	r := request{op: "workers", method: http.MethodGet, path: "/workers", bytesMax: listBytesMax}
	if err := c.do(ctx, r, &list); err != nil {
		return nil, err
	}
	if list.Workers == nil {
		return nil, r.ambiguous("the answer has no workers")
	}
	return *list.Workers, nil
}

// segment escapes an id as one path segment. `.` and `..` have a meaning in
// paths, and no escape but this one.
func segment(id string) string {
	mustHave(id)
	switch id {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(id)
}

// mustHave panics on an empty id: it would name another route, whose 404 would
// be read as a proof of absence. Ids are validated at the engine's door.
func mustHave(id string) {
	if id == "" {
		panic("httphub: empty id")
	}
}
