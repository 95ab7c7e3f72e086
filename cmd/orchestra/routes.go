package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

const (
	requestBytesMax = 1 << 20
	answerAtMost    = 5 * time.Second // of a callback or pass; what it leads to, such as a merge, goes on
)

// routes are what a replica serves:
//
//	POST /callback                  a job's result, from the hub (docs/hub.openapi.yaml)
//	POST /control/{op}              target -> report: request, regenerate, reset, edit, cancel, delete
//	POST /control/clear-deferrals   a book, or a scene of it -> cleared
//	POST /control/reconcile         passOrder -> passReport
//	GET  /control/status            ?book= -> [stageStatus]
//	GET  /control/times             ?book= &chapter= &scene= -> sceneTimes
//	GET  /healthz                   the process answers
//	GET  /readyz                    it can work: Redis, artifacts, ... answer, and it is not stopping
//	GET  /metrics                   for Prometheus
//
// The first six need the key.
type routes struct {
	replica  *replica
	key      string
	running  context.Context // ends with the engine; set before the first request
	stopping atomic.Bool
	metrics  http.Handler
}

func newRoutes(r *replica, key string) *routes {
	return &routes{replica: r, key: key, running: context.Background(), metrics: metricsHandler(r)}
}

func (s *routes) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /callback", s.guarded(s.callback))
	mux.Handle("POST /control/{op}", s.guarded(s.control))
	mux.Handle("POST /control/clear-deferrals", s.guarded(s.clearDeferrals))
	mux.Handle("POST /control/reconcile", s.guarded(s.reconcile))
	mux.Handle("GET /control/status", s.guarded(s.status))
	mux.Handle("GET /control/times", s.guarded(s.times))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", s.metrics)
	return mux
}

// answer is a status and a body; nil: none.
type answer struct {
	status int
	body   any
}

// reason is the body of a no.
type reason struct {
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

func no(status int, word string, err error) answer {
	r := reason{Reason: word}
	if err != nil {
		r.Message = err.Error()
	}
	return answer{status, r}
}

// guarded lets in who has the key, and bounds what they may say.
func (s *routes) guarded(do func(*http.Request) answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := no(http.StatusUnauthorized, "unauthorized", nil)
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Api-Key")), []byte(s.key)) == 1 {
			r.Body = http.MaxBytesReader(w, r.Body, requestBytesMax)
			a = do(r)
		}
		reply(w, a)
	})
}

func reply(w http.ResponseWriter, a answer) {
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body) // who went away does not read it
}

// callback hands a result to the engine. What that leads to goes on after the answer, and
// after who asked has gone.
func (s *routes) callback(r *http.Request) answer {
	var result ports.JobResult
	if bad, ok := read(r, &result); !ok {
		return bad
	}
	return s.beside("callback", func(ctx context.Context) answer {
		err := s.replica.rt.Isolate(func() error { return s.replica.engine.Complete(ctx, result) })
		switch {
		case errors.Is(err, ports.ErrInvalid):
			return no(http.StatusBadRequest, "bad_request", err)
		case err != nil:
			s.replica.observer.Observe(ports.Trouble{Scene: result.StageID().SceneID, Op: "complete", Err: err})
			return no(http.StatusServiceUnavailable, "unavailable", errors.New("the engine could not take it; see its log"))
		}
		return answer{status: http.StatusNoContent}
	}, "it is under way; ask again to hear how it ended")
}

// beside does something in a task of its own, and waits for its answer for a while: whoever
// asked may go, and a replica that stops must not wait for it for long.
func (s *routes) beside(name string, do func(context.Context) answer, notYet string) answer {
	done := make(chan answer, 1)
	s.replica.rt.Go(s.running, name, func(ctx context.Context) { done <- do(ctx) })
	late := time.NewTimer(answerAtMost)
	defer late.Stop()
	select {
	case a := <-done:
		return a
	case <-late.C:
		return no(http.StatusServiceUnavailable, "not_yet", errors.New(notYet))
	}
}

// stageStatus is where one stage is.
type stageStatus struct {
	Chapter string `json:"chapter"`
	Scene   string `json:"scene"`
	Stage   string `json:"stage"`
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Done says that nothing more will happen without an intent.
func (s stageStatus) Done() bool { return asset.Done(asset.State(s.State), true) }

// status lists the stages of a book that were asked for.
func (s *routes) status(r *http.Request) answer {
	views, err := s.replica.status(r.Context(), r.URL.Query().Get("book"))
	if err != nil {
		return refusal(err)
	}
	list := []stageStatus{}
	for _, v := range views {
		list = append(list, stagesOf(v)...)
	}
	return answer{http.StatusOK, list}
}

func stagesOf(v store.SceneView) (list []stageStatus) {
	if v.Err != nil {
		return []stageStatus{{Chapter: v.Scene.Chapter, Scene: v.Scene.Scene, Error: v.Err.Error()}}
	}
	for _, st := range v.Stages {
		if v.Asked(st.Stage.Stage) {
			list = append(list, stageStatus{Chapter: v.Scene.Chapter, Scene: v.Scene.Scene, Stage: st.Stage.Stage, State: string(st.State), Reason: st.Reason})
		}
	}
	return list
}

// ready answers 200 if the replica can work, and says what keeps it from that.
func (s *routes) ready(w http.ResponseWriter, r *http.Request) {
	a, words := answer{status: http.StatusOK}, map[string]string{}
	problems := s.replica.ready(r.Context())
	if s.stopping.Load() {
		problems["process"] = errors.New("it is stopping")
	}
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		words[name] = "ok"
		if problems[name] != nil {
			a.status, words[name] = http.StatusServiceUnavailable, "not ok"
			s.replica.log.Warn("not ready", "part", name, "error", problems[name])
		}
	}
	words["hub"] = s.replica.hubWord(r.Context()) // for who looks: results come from it, also while it takes nothing
	a.body = words
	reply(w, a)
}
