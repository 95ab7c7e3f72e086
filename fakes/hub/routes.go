package hub

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/animastor/orchestra/ports"
)

const requestBytesMax = 1 << 20

// Claim is what a worker is given: a job, and which run of it this is, from 1.
type Claim struct {
	ports.Job
	Run int `json:"run"`
}

// Hello is what a worker says of itself with each heartbeat and claim.
type Hello struct {
	Type        string `json:"type"`                   // the stage it works for
	Scope       string `json:"scope,omitempty"`        // ports.ScopeSystem if it says nothing (WM1)
	Workspace   string `json:"workspace_id,omitempty"` // whose it is, if private
	SharedUntil int64  `json:"shared_until,omitempty"` // ms since the epoch, by the hub's clock; 0: it is not (WM4)
}

// Progress is what a worker reports while it runs a job.
type Progress struct {
	Worker     string `json:"worker"`
	DispatchID string `json:"dispatch_id"`
}

// reason is the body of a no.
type reason struct {
	Reason     string `json:"reason"`
	DispatchID string `json:"dispatch_id,omitempty"`
	Message    string `json:"message,omitempty"`
}

// route answers a request with a status and a body; nil: none.
type route func(*http.Request) (status int, body any)

func (h *Hub) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range []struct {
		pattern string
		do      route
	}{
		{"POST /jobs", h.onPost},
		{"GET /jobs/{id}", h.onJob},
		{"GET /dispatches/{id}", h.onDispatch},
		{"DELETE /queue/clear", h.onClear},
		{"GET /workers", h.onWorkers},
		{"POST /workers/{id}/heartbeat", h.onHeartbeat},
		{"POST /workers/{id}/claim", h.onClaim},
		{"POST /jobs/{id}/progress", h.onProgress},
		{"POST /jobs/{id}/result", h.onResult},
	} {
		mux.HandleFunc(r.pattern, h.guarded(r.do))
	}
	return mux
}

// guarded checks the key, does what is due, and writes the answer of a route.
func (h *Hub) guarded(do route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.sweep()
		status, body := http.StatusUnauthorized, any(reason{Reason: "unauthorized"})
		if h.opts.APIKey == "" || r.Header.Get("X-Api-Key") == h.opts.APIKey {
			status, body = do(r)
		}
		if body == nil {
			w.WriteHeader(status)
			return
		}
		b, err := json.Marshal(body)
		if err != nil {
			panic(err) // all bodies are of the types in this file and in ports
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(b) // who went away does not read it
	}
}

// read decodes a body and says what is wrong with it: missing names its empty ids.
func read(r *http.Request, into any, missing func() string) any {
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, requestBytesMax)).Decode(into); err != nil {
		return reason{Reason: "bad_request", Message: err.Error()}
	}
	if name := missing(); name != "" {
		return reason{Reason: "bad_request", Message: name + " is missing"}
	}
	return nil
}

func (h *Hub) onPost(r *http.Request) (int, any) {
	var j ports.Job
	if bad := read(r, &j, func() string { return missingIn(j) }); bad != nil {
		return http.StatusBadRequest, bad
	}
	if no := h.post(j); no != nil {
		return no.status, reason{Reason: no.reason, DispatchID: no.holder}
	}
	return http.StatusAccepted, h.jobs[j.JobID].JobStatus
}

func missingIn(j ports.Job) string {
	for _, id := range []struct{ name, value string }{
		{"job_id", j.JobID}, {"dispatch_id", j.DispatchID}, {"book_id", j.BookID}, {"chapter_id", j.ChapterID},
		{"scene_id", j.SceneID}, {"stage", j.Stage}, {"unit_id", j.UnitID},
	} {
		if id.value == "" {
			return id.name
		}
	}
	return ""
}

func (h *Hub) onJob(r *http.Request) (int, any) {
	j := h.jobs[r.PathValue("id")]
	if j == nil {
		return http.StatusNotFound, reason{Reason: "unknown_job"}
	}
	return http.StatusOK, j.JobStatus
}

func (h *Hub) onDispatch(r *http.Request) (int, any) {
	list := []ports.JobStatus{}
	for _, j := range h.dispatches[r.PathValue("id")] {
		list = append(list, j.JobStatus)
	}
	slices.SortFunc(list, func(a, b ports.JobStatus) int { return strings.Compare(a.JobID, b.JobID) })
	return http.StatusOK, map[string]any{"jobs": list}
}

func (h *Hub) onClear(r *http.Request) (int, any) {
	q := r.URL.Query()
	dispatch, book := q.Get("dispatch_id"), q.Get("book_id")
	if (dispatch == "") == (book == "") {
		return http.StatusBadRequest, reason{Reason: "bad_request", Message: "give a dispatch_id or a book_id"}
	}
	answer := ports.Cleared{OK: true}
	scope, id := &answer.Scope.DispatchID, dispatch
	if dispatch != "" {
		answer.Cleared = h.clearDispatch(dispatch)
	} else {
		scope, id = &answer.Scope.BookID, book
		answer.Cleared = h.clearBook(book)
	}
	switch h.opts.Scope {
	case ScopeEcho:
		*scope = &id
	case ScopeForeign:
		id = "another-" + id
		*scope = &id
	}
	return http.StatusOK, answer
}

func (h *Hub) onWorkers(*http.Request) (int, any) {
	list := []ports.Worker{}
	for _, id := range slices.Sorted(maps.Keys(h.workers)) {
		list = append(list, h.listed(id, h.workers[id]))
	}
	return http.StatusOK, map[string]any{"workers": list}
}

// hello reads the body of a heartbeat or claim.
func hello(r *http.Request) (Hello, any) {
	var body Hello
	bad := read(r, &body, func() string {
		if body.Type == "" {
			return "type"
		}
		return ""
	})
	return body, bad
}

func (h *Hub) onHeartbeat(r *http.Request) (int, any) {
	hello, bad := hello(r)
	if bad != nil {
		return http.StatusBadRequest, bad
	}
	h.seen(r.PathValue("id"), hello)
	return http.StatusNoContent, nil
}

func (h *Hub) onClaim(r *http.Request) (int, any) {
	hello, bad := hello(r)
	if bad != nil {
		return http.StatusBadRequest, bad
	}
	j := h.claim(r.PathValue("id"), hello)
	if j == nil {
		return http.StatusNoContent, nil
	}
	return http.StatusOK, Claim{j.Job, j.runs}
}

var gone = reason{Reason: "gone", Message: "the job is not yours any more"}

func (h *Hub) onProgress(r *http.Request) (int, any) {
	var p Progress
	if bad := read(r, &p, func() string { return "" }); bad != nil {
		return http.StatusBadRequest, bad
	}
	j := h.held(r.PathValue("id"), p.DispatchID, p.Worker)
	if j == nil || j.State != ports.JobRunning {
		return http.StatusGone, gone
	}
	h.progressed(j)
	h.emit(Progressed, j, "")
	return http.StatusNoContent, nil
}

func (h *Hub) onResult(r *http.Request) (int, any) {
	var result ports.JobResult
	if bad := read(r, &result, func() string { return "" }); bad != nil {
		return http.StatusBadRequest, bad
	}
	j := h.held(r.PathValue("id"), result.DispatchID, result.Worker)
	switch {
	case j == nil:
		return http.StatusGone, gone
	case j.State == ports.JobRunning:
		h.finish(j, result)
	default: // reported before: passed on again, for the engine to tell
		h.OnResult(result)
	}
	return http.StatusNoContent, nil
}
