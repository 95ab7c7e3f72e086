package httpconsumer_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httpconsumer"
)

const secret = "s3cr3t"

var (
	ctx   = context.Background()
	event = ports.ResultEvent{ID: "dispatch-1", Kind: ports.EventReady, Stage: ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image"), At: time.UnixMilli(1)}
)

// host is a server that events are posted to.
func host(t *testing.T, timeout time.Duration, handler http.HandlerFunc) *httpconsumer.Consumer {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return httpconsumer.New(ports.NewSystem(), httpconsumer.Options{URL: server.URL + "/hook?token=" + secret, APIKey: secret, Timeout: timeout})
}

// refused is an error that says nothing of URL and key.
func refused(t *testing.T, err error) {
	t.Helper()
	require.ErrorContains(t, err, "consume ready of b1/c1/s1:image: ")
	require.NotContains(t, err.Error(), secret)
	require.NotContains(t, err.Error(), "/hook")
}

// TestAnswers: a 2xx takes an event, with whatever body; nothing else does. One event is one
// request.
func TestAnswers(t *testing.T) {
	for status, taken := range map[int]bool{200: true, 202: true, 204: true, 299: true,
		301: false, 307: false, 400: false, 401: false, 404: false, 409: false, 410: false, 429: false, 500: false, 503: false} {
		var requests atomic.Int32
		c := host(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				_, _ = io.WriteString(w, `{"taken":false}`)
			}
		})
		err := c.Consume(ctx, event)
		if taken {
			require.NoError(t, err, status)
		} else {
			refused(t, err)
			var no *httpconsumer.Refused
			require.ErrorAs(t, err, &no)
			require.Equal(t, status, no.Status)
		}
		require.EqualValues(t, 1, requests.Load(), status)
	}
}

// TestNoAnswer: a host that is away, hangs, or cuts the connection has not taken the event.
func TestNoAnswer(t *testing.T) {
	c := host(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	refused(t, c.Consume(ctx, event))

	hang := make(chan struct{})
	defer close(hang)
	wait := func(http.ResponseWriter, *http.Request) { <-hang }
	err := host(t, 20*time.Millisecond, wait).Consume(ctx, event)
	refused(t, err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	err = host(t, time.Minute, wait).Consume(short, event)
	refused(t, err)
	require.ErrorIs(t, err, context.DeadlineExceeded, "the caller's deadline counts, too")

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c = httpconsumer.New(ports.NewSystem(), httpconsumer.Options{URL: server.URL + "/hook?token=" + secret})
	refused(t, c.Consume(ctx, event))
}

// TestHugeAnswer: what a host says beside its status is not read to an end that may never come.
func TestHugeAnswer(t *testing.T) {
	var sent atomic.Int64
	c := host(t, 20*time.Second, func(w http.ResponseWriter, r *http.Request) {
		page := []byte(strings.Repeat("x", 1<<16))
		for r.Context().Err() == nil {
			n, err := w.Write(page)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	began := time.Now()
	require.NoError(t, c.Consume(ctx, event))
	require.Less(t, time.Since(began), 10*time.Second)
	require.Less(t, sent.Load(), int64(64<<20), "what the buffers of the connection take, and no more")
}

// TestMessage: what goes over the wire, with ids that are odd.
func TestMessage(t *testing.T) {
	var got map[string]any
	c := host(t, time.Minute, func(_ http.ResponseWriter, r *http.Request) {
		require.Equal(t, "POST /hook?token="+secret, r.Method+" "+r.RequestURI)
		require.Equal(t, secret, r.Header.Get("X-Api-Key"))
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		got = map[string]any{}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&got))
	})
	for _, odd := range []string{`"'\`, "a/b?c#d", "\n\x01\x7f", "<script>&", "\u2028", "é", "e\u0301", "😀", strings.Repeat("ä", 512)} {
		scene := ports.SceneID{Book: odd, Chapter: odd + "c", Scene: odd + "s"}
		e := ports.ResultEvent{ID: "dispatch-1", Kind: ports.EventDeferred, Stage: scene.Of("audio"), Dispatch: "dispatch-1", Generation: 7,
			Reason: "no_worker_available", At: time.UnixMilli(1_700_000_000_123), Until: time.UnixMilli(1_700_000_060_123)}
		require.NoError(t, c.Consume(ctx, e))
		require.Equal(t, map[string]any{"id": "dispatch-1", "kind": "deferred", "book_id": odd, "chapter_id": odd + "c", "scene_id": odd + "s", "stage": "audio",
			"dispatch_id": "dispatch-1", "generation": 7.0, "reason": "no_worker_available", "at": 1_700_000_000_123.0, "until": 1_700_000_060_123.0}, got)
	}
	require.NoError(t, c.Consume(ctx, ports.ResultEvent{ID: "scope-1", Kind: ports.EventComplete, Stage: ports.SceneID{Book: "b1"}.Of(""), Dispatch: "scope-1",
		At: time.UnixMilli(1), Failed: 2}))
	require.Equal(t, map[string]any{"id": "scope-1", "kind": "generation_complete", "book_id": "b1", "dispatch_id": "scope-1", "at": 1.0, "ready": 0.0, "failed": 2.0}, got)
	require.NoError(t, c.Consume(ctx, ports.ResultEvent{ID: "dispatch-1/scene", Kind: ports.EventSceneReady, Stage: event.Stage.SceneID.Of(""), At: time.UnixMilli(1)}))
	require.NotContains(t, got, "stage")
	require.NotContains(t, got, "ready")
}

func TestNewPanics(t *testing.T) {
	for _, url := range []string{"", "host:8080", "/hook", "http://", "http://%zz", "ftp://host/"} {
		require.Panics(t, func() { httpconsumer.New(ports.NewSystem(), httpconsumer.Options{URL: url}) }, "%q", url)
	}
	require.Panics(t, func() {
		httpconsumer.New(ports.NewSystem(), httpconsumer.Options{URL: "http://host", Client: &http.Client{Timeout: 1}})
	})
}
