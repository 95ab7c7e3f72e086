package httpconsumer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/internal/once"
)

// answerBytesMax is how much of an answer is read, so that its connection can be used again.
const answerBytesMax = 4 << 10

// Options are the settings of a Consumer.
type Options struct {
	URL     string        // where events are posted to: absolute, http or https
	APIKey  string        // sent as x-api-key; empty: no such header
	Client  *http.Client  // nil: one over http.DefaultTransport; its Timeout must be 0
	Timeout time.Duration // of each request; 0: 10 s
}

// Consumer is the host behind a URL. It is safe for concurrent use if the http.Client is.
type Consumer struct {
	rt      ports.Runtime
	url     string
	once    *once.Client
	timeout time.Duration
}

var _ ports.Consumer = (*Consumer)(nil)

// New returns a consumer. It panics if the URL is not absolute, or if the http.Client has a
// timeout of its own, which would run on the real clock.
func New(rt ports.Runtime, o Options) *Consumer {
	if u, err := url.Parse(o.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		panic("httpconsumer: the URL is not absolute: write http://host:port/path")
	}
	return &Consumer{rt: rt, url: o.URL, once: once.New("httpconsumer", o.Client, o.APIKey), timeout: cmp.Or(o.Timeout, 10*time.Second)}
}

// Refused says that the host answered, and did not take the event.
type Refused struct{ Status int }

func (r *Refused) Error() string {
	return fmt.Sprintf("the consumer answered %d %s; a 2xx takes an event", r.Status, http.StatusText(r.Status))
}

// Consume implements ports.Consumer.
func (c *Consumer) Consume(ctx context.Context, e ports.ResultEvent) error {
	if err := c.post(ctx, e); err != nil {
		return fmt.Errorf("consume %s of %s: %w", e.Kind, e.Subject(), err)
	}
	return nil
}

func (c *Consumer) post(ctx context.Context, e ports.ResultEvent) error {
	ctx, cancel := c.rt.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := c.once.Request(ctx, http.MethodPost, c.url, tell(e))
	if err != nil {
		return errors.New("the URL cannot be used") // the error quotes it
	}
	resp, err := c.once.Send(req)
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, resp.Body, answerBytesMax) // the status says it all
	_ = resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return &Refused{resp.StatusCode}
	}
	return nil
}

// message is an event as it is posted.
type message struct {
	ID         string `json:"id"`
	Kind       string `json:"kind"`
	BookID     string `json:"book_id"`
	ChapterID  string `json:"chapter_id,omitempty"`
	SceneID    string `json:"scene_id,omitempty"`
	Stage      string `json:"stage,omitempty"`
	DispatchID string `json:"dispatch_id"`
	Generation int64  `json:"generation,omitempty"`
	Reason     string `json:"reason,omitempty"`
	At         int64  `json:"at"`
	Until      int64  `json:"until,omitempty"`
	Ready      *int   `json:"ready,omitempty"`
	Failed     *int   `json:"failed,omitempty"`
}

// tell is what is said of an event; its times are ms since the epoch, as the hub's are.
func tell(e ports.ResultEvent) message {
	m := message{ID: e.ID, Kind: e.Kind, BookID: e.Stage.Book, ChapterID: e.Stage.Chapter, SceneID: e.Stage.Scene, Stage: e.Stage.Stage,
		DispatchID: e.Dispatch, Generation: e.Generation, Reason: e.Reason, At: e.At.UnixMilli()}
	if !e.Until.IsZero() {
		m.Until = e.Until.UnixMilli()
	}
	if e.Kind == ports.EventComplete {
		m.Ready, m.Failed = &e.Ready, &e.Failed
	}
	return m
}
