// Package once makes HTTP requests of which each is made once: what the adapters of ports
// that speak HTTP share.
//
// Invariants:
//   - No redirect is followed and nothing is sent again on another connection: either would
//     be a second request, of which the caller does not know.
//   - No error has the method or the URL in it: the caller knows better what was asked, and
//     a URL may hold a secret.
//
// Not for: deadlines, which come from the Runtime of the caller, and what an answer means.
package once

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Client makes requests. It is safe for concurrent use if the http.Client is.
type Client struct {
	http http.Client
	key  string
}

// New returns a client that sends key as x-api-key, unless it is empty, over a copy of base;
// nil: one over http.DefaultTransport. It panics, in the name of the caller, if base has a
// timeout of its own, which would run on the real clock.
func New(caller string, base *http.Client, key string) *Client {
	c := &Client{key: key}
	if base != nil {
		c.http = *base
	}
	if c.http.Timeout != 0 {
		panic(caller + ": set Options.Timeout, not http.Client.Timeout")
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Request builds a request with a JSON body; nil: it has none.
func (c *Client) Request(ctx context.Context, method, target string, body any) (*http.Request, error) {
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, text)
	if err != nil {
		return nil, err
	}
	// net/http sends again, on a second connection, what has no body or one that it can get
	// anew. So there is always a body, of no bytes if need be, and it can be read once.
	req.GetBody = nil
	if text == nil {
		req.Body = io.NopCloser(strings.NewReader(""))
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("X-Api-Key", c.key)
	}
	return req, nil
}

// Send makes a request. The answer's body must be closed.
func (c *Client) Send(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return resp, err
}
