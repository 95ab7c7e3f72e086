package live

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/animastor/orchestra/ports"
)

// host is the program that is told of results: it takes every event, and keeps it.
type host struct {
	server http.Server
	at     string
	one    sync.Mutex
	heard  []ports.ResultEvent
}

// openHost listens at an address.
func openHost(address string) (*host, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	h := &host{at: address}
	h.server = http.Server{Handler: http.HandlerFunc(h.take), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = h.server.Serve(l) }() // Close ends it
	return h, nil
}

// take is an event as docs/running.md describes it.
func (h *host) take(w http.ResponseWriter, r *http.Request) {
	var e struct {
		ID         string `json:"id"`
		Kind       string `json:"kind"`
		BookID     string `json:"book_id"`
		ChapterID  string `json:"chapter_id"`
		SceneID    string `json:"scene_id"`
		Stage      string `json:"stage"`
		DispatchID string `json:"dispatch_id"`
		Generation int64  `json:"generation"`
		Reason     string `json:"reason"`
	}
	if r.Header.Get("X-Api-Key") != Key || json.NewDecoder(r.Body).Decode(&e) != nil || e.ID == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.one.Lock()
	defer h.one.Unlock()
	h.heard = append(h.heard, ports.ResultEvent{ID: e.ID, Kind: e.Kind, Dispatch: e.DispatchID, Generation: e.Generation, Reason: e.Reason,
		Stage: ports.SceneID{Book: e.BookID, Chapter: e.ChapterID, Scene: e.SceneID}.Of(e.Stage)})
	w.WriteHeader(http.StatusNoContent)
}

// Heard are the result events that the replicas have told, in the order in which they came,
// repeats included.
func (s *Stack) Heard() []ports.ResultEvent {
	s.host.one.Lock()
	defer s.host.one.Unlock()
	return slices.Clone(s.host.heard)
}
