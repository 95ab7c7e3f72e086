package live

import (
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// host is the program that is told of results: it takes every event, and keeps it.
type host struct {
	server http.Server
	at     string
	one    sync.Mutex
	heard  [][]byte
}

// openHost serves a listener.
func openHost(l net.Listener) *host {
	h := &host{at: l.Addr().String()}
	h.server = http.Server{Handler: http.HandlerFunc(h.take), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = h.server.Serve(l) }() // Close ends it
	return h
}

// take keeps what is posted by who has the key.
func (h *host) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("X-Api-Key") != Key {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.one.Lock()
	defer h.one.Unlock()
	h.heard = append(h.heard, body)
	w.WriteHeader(http.StatusNoContent)
}

// Heard are the result events that the replicas have told, as they were posted, in the order
// in which they came, repeats included.
func (s *Stack) Heard() [][]byte {
	s.host.one.Lock()
	defer s.host.one.Unlock()
	return slices.Clone(s.host.heard)
}
