package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Effects are the effects of this service beside those of the kernel.
var Effects = sim.Effects{
	"reject":  nil, // a no that does nothing; param: its status, else 400
	"error":   nil, // a 500 that does nothing
	"busy":    nil, // a 503 no_worker_available that does nothing
	"stale":   nil, // carried out, and answered as the last time for this method and URL
	"garbage": nil, // carried out, and answered with a body that cannot be read
	"restart": nil, // the queue is lost, and then the request is carried out
}

// Transport is the way of one process to the hub. Each request is one call of
// service "hub"; its verb is post, job, dispatch, clear, workers, heartbeat,
// claim, progress or result, its subject the job, stage, book or worker. The
// deadline of the request's context is virtual; http.Client.Timeout fails the world.
func (h *Hub) Transport(caller *sim.Process) http.RoundTripper { return &transport{h, caller} }

type transport struct {
	hub    *Hub
	caller *sim.Process
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		_ = req.Body.Close() // a RoundTripper must
		if err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	verb, subject := t.hub.Name(req, body)
	//lint:ignore SA1019 net/http sets it for http.Client.Timeout; one that is virtual hides its deadline in ctx
	if req.Cancel != nil {
		t.hub.w.WallClock("hub." + verb)
	}
	deadline, _ := ctx.Deadline()
	reply, err := t.hub.w.Do(&sim.Call{
		Service: "hub", Verb: verb, Subject: subject, Deadline: deadline, Effects: Effects,
		Do:      func(fx *sim.Fired) (any, error) { return t.hub.suffer(req, body, fx) },
		Outcome: outcome,
	})
	if errors.Is(err, errPaused) {
		// Nobody reads the socket: the caller waits until it gives up.
		_ = t.caller.Sleep(ctx, foreverHours*time.Hour)
		err = sim.ErrDeadline
	}
	if err != nil {
		return nil, asNetError(err)
	}
	return reply.(answer).response(req), nil
}

const foreverHours = 24 * 365

// errPaused: the process of the hub stands still.
var errPaused = errors.New("the hub is paused")

func outcome(reply any, err error) string {
	if err != nil {
		return err.Error()
	}
	return strconv.Itoa(reply.(answer).status)
}

// answer is a response before anybody reads it.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// suffer is what becomes of a request that arrived, under an effect.
func (h *Hub) suffer(req *http.Request, body []byte, fx *sim.Fired) (any, error) {
	switch {
	case !h.p.Alive():
		return nil, sim.ErrRefused
	case h.p.Paused():
		return nil, errPaused
	case fx == nil:
		return h.answer(req, body)
	}
	switch fx.Effect {
	case "reject":
		status, err := strconv.Atoi(fx.Param)
		if err != nil {
			status = http.StatusBadRequest
		}
		return no(status, "rejected"), nil
	case "error":
		return no(http.StatusInternalServerError, "internal_error"), nil
	case "busy":
		return no(http.StatusServiceUnavailable, "no_worker_available"), nil
	case "stale":
		before, ok := h.bodies[req.Method+req.URL.String()]
		now, err := h.answer(req, body)
		if !ok || err != nil {
			return now, err
		}
		return before, nil
	case "garbage":
		a, err := h.answer(req, body)
		a.body = []byte("<html>")
		return a, err
	case "restart":
		h.Restart()
	}
	return h.answer(req, body)
}

func no(status int, why string) answer {
	return answer{status: status, header: http.Header{}, body: []byte(`{"reason":"` + why + `"}`)}
}

// answer hands a request to the handler, through httpmock, which counts it. With
// a context that could be cancelled httpmock would start goroutines.
func (h *Hub) answer(req *http.Request, body []byte) (answer, error) {
	r := req.WithContext(context.WithoutCancel(req.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := h.mock.RoundTrip(r)
	if err != nil {
		return answer{}, err
	}
	b, err := io.ReadAll(resp.Body)
	a := answer{resp.StatusCode, resp.Header, b}
	h.bodies[req.Method+req.URL.String()] = a
	return a, err
}

// respond is the one responder of httpmock.
func (h *Hub) respond(req *http.Request) (*http.Response, error) {
	rec := &recorder{answer{status: http.StatusOK, header: http.Header{}}}
	h.ServeHTTP(rec, req)
	return rec.response(req), nil
}

// recorder keeps what a handler writes. (That of httptest would bring its flags
// into the command.)
type recorder struct{ answer }

var _ http.ResponseWriter = (*recorder)(nil)

func (r *recorder) Header() http.Header  { return r.header }
func (r *recorder) WriteHeader(code int) { r.status = code }
func (r *recorder) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}

func (a answer) response(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: a.status, Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}
}

// Name is the verb and subject of the call that a request is. A subject holds no random id: a
// dispatch is named by its stage, and a job by its unit, if it was ever posted.
func (h *Hub) Name(req *http.Request, body []byte) (verb, subject string) {
	path := strings.Split(strings.Trim(req.URL.EscapedPath(), "/"), "/")
	id := ""
	if len(path) > 1 {
		id, _ = url.PathUnescape(path[1]) // an undecodable one reaches no route
	}
	switch q := req.URL.Query(); {
	case len(path) == 3: // /workers/{id}/claim, /jobs/{id}/result
		if path[0] == "jobs" {
			return path[2], h.names[id]
		}
		return path[2], ports.Quote(id)
	case path[0] == "queue" && q.Has("book_id"):
		return "clear", ports.Quote(q.Get("book_id"))
	case path[0] == "queue":
		return "clear", h.names[q.Get("dispatch_id")]
	case path[0] == "dispatches":
		return "dispatch", h.names[id]
	case path[0] == "workers":
		return "workers", ""
	case len(path) == 2:
		return "job", h.names[id]
	}
	return "post", h.learn(body)
}

// learn takes the names of a job and its dispatch from a post.
func (h *Hub) learn(body []byte) (name string) {
	var j ports.Job
	if json.Unmarshal(body, &j) != nil {
		return ""
	}
	h.names[j.DispatchID] = j.StageID().String()
	h.names[j.JobID] = subject(j)
	return subject(j)
}

// netError is an error of a call as net/http knows it, with a text that is the
// same on every machine.
type netError struct{ call, system error }

func (e netError) Error() string   { return e.call.Error() }
func (e netError) Unwrap() []error { return []error{e.call, e.system} }

func asNetError(err error) error {
	switch {
	case errors.Is(err, sim.ErrRefused):
		return netError{err, syscall.ECONNREFUSED}
	case errors.Is(err, sim.ErrReset):
		return netError{err, syscall.ECONNRESET}
	case errors.Is(err, sim.ErrDeadline):
		return netError{err, os.ErrDeadlineExceeded}
	}
	return err
}
