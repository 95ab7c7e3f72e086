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
