package httphub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"

	"github.com/animastor/orchestra/ports"
)

// The longest answers. A list has what the hub holds, each job with all of its ids, twice if
// it has a result: a dispatch of many units with long ids takes more than 1 MiB, and if it
// could not be read, every pass would be incomplete and repair nothing.
const (
	answerBytesMax = 1 << 20
	listBytesMax   = 64 << 20
)

// request is one request to be made. op says in errors what it was for.
type request struct {
	op, method, path string
	body             any
	mayBeEmpty       bool  // a 2xx says enough without a body
	bytesMax         int64 // of the answer; 0: answerBytesMax
}

func (r request) failed(err error) error { return fmt.Errorf("%s: %w", r.op, err) }

func (r request) ambiguous(why any) error {
	if err, ok := why.(error); ok {
		return r.failed(fmt.Errorf("%w: %w", ports.ErrAmbiguous, err))
	}
	return r.failed(fmt.Errorf("%w: %v", ports.ErrAmbiguous, why))
}

// about makes an answer about something else than was asked for ambiguous.
func (r request) about(asked, answered string) error {
	if answered == asked {
		return nil
	}
	return r.ambiguous(fmt.Sprintf("the answer is about %q", answered))
}

// do makes one request and decodes a 2xx answer into out.
func (c *Client) do(ctx context.Context, r request, out any) error {
	ctx, cancel := c.rt.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := c.once.Request(ctx, r.method, c.base+r.path, r.body)
	if err != nil {
		return r.failed(err)
	}
	resp, err := c.once.Send(req)
	if err != nil {
		return r.unanswered(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	bytesMax := cmp.Or(r.bytesMax, answerBytesMax)
	body, err := io.ReadAll(io.LimitReader(resp.Body, bytesMax+1))
	if err == nil && int64(len(body)) > bytesMax {
		err = fmt.Errorf("the answer is longer than %d bytes", bytesMax)
	}
	switch status := resp.StatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return r.failed(fmt.Errorf("%w: is the key that of the hub?", rejected(status, body)))
	case status == http.StatusServiceUnavailable, 400 <= status && status < 500:
		return r.failed(rejected(status, body))
	case status < 200 || status > 299:
		return r.ambiguous(fmt.Sprintf("status %d", status))
	case err != nil:
		return r.ambiguous(err)
	case len(body) == 0 && r.mayBeEmpty:
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return r.ambiguous(fmt.Errorf("unreadable status %d: %w", resp.StatusCode, err))
	}
	return nil
}

// unanswered is a request without an answer. Only a refused connection proves
// that nothing was done.
func (r request) unanswered(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return r.failed(&ports.Rejected{})
	}
	return r.ambiguous(err)
}

// rejected reads what the hub says of its no; a body that says nothing leaves the
// status.
func rejected(status int, body []byte) *ports.Rejected {
	var why struct {
		Reason     string `json:"reason"`
		DispatchID string `json:"dispatch_id"`
	}
	_ = json.Unmarshal(body, &why)
	return &ports.Rejected{Status: status, Reason: why.Reason, DispatchID: why.DispatchID}
}

func isNotFound(err error) bool {
	var r *ports.Rejected
	return errors.As(err, &r) && r.Status == http.StatusNotFound
}
