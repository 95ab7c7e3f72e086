package httphub_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
)

const ambiguous = -1

// TestAnswers judges answers of a real server by ports.Hub's rules.
func TestAnswers(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		post   int // 0: accepted, else the rejection's status, or ambiguous
		job    int // 404: not found
	}{
		{"an answer", 200, `{"job_id":"j1","dispatch_id":"d1","state":"queued"}`, 0, 0},
		{"of no dispatch", 200, `{"job_id":"j1","state":"queued"}`, 0, ambiguous},
		{"a bare yes", 202, "", 0, ambiguous},
		{"about another job", 200, `{"job_id":"j2"}`, ambiguous, ambiguous},
		{"about nothing", 200, `{}`, 0, ambiguous},
		{"half an answer", 200, `{"job_id":"j1"`, ambiguous, ambiguous},
		{"a page", 200, "<html>", ambiguous, ambiguous},
		{"more than 1 MiB", 200, `{"job_id":"j1","payload":"` + strings.Repeat("x", 1<<20) + `"}`, ambiguous, ambiguous},
		{"a redirect", 307, "", ambiguous, ambiguous},
		{"bad", 400, "what?", 400, 400},
		{"no key", 401, `{"reason":"unauthorized"}`, 401, 401},
		{"not found", 404, `{"reason":"unknown_job"}`, 404, 404},
		{"gone", 410, "", 410, 410},
		{"too many", 429, "", 429, 429},
		{"broken", 500, `{"reason":"internal_error"}`, ambiguous, ambiguous},
		{"bad gateway", 502, "", ambiguous, ambiguous},
		{"no capacity", 503, `{"reason":"no_worker_available"}`, 503, 503},
		{"gateway timeout", 504, "", ambiguous, ambiguous},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			requests := 0
			client := serve(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
				requests++
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			judge(t, test.post, client.Post(context.Background(), ports.Job{JobID: "j1"}))
			_, found, err := client.Job(context.Background(), "j1")
			if test.job == 404 {
				require.NoError(t, err)
				require.False(t, found)
			} else {
				judge(t, test.job, err)
				require.Equal(t, err == nil, found)
			}
			require.Equal(t, 2, requests, "one request a call")
		})
	}
}

// TestLists: an empty answer is no empty list.
func TestLists(t *testing.T) {
	tests := []struct {
		body              string
		workers, dispatch int
	}{
		{`{"jobs":[],"workers":[]}`, 0, 0},
		{`{"jobs":[{"job_id":"j1","dispatch_id":"d1"}],"workers":[{"id":"w1"}]}`, 0, 0},
		{`{"jobs":[{"dispatch_id":"d1"}],"workers":[]}`, 0, ambiguous},
		{`{"jobs":[{"job_id":"j1","dispatch_id":"d2"}],"workers":[]}`, 0, ambiguous},
		{`{}`, ambiguous, ambiguous},
		{`{"jobs":null,"workers":null}`, ambiguous, ambiguous},
		{`[]`, ambiguous, ambiguous},
		{``, ambiguous, ambiguous},
		{long(2 << 20), 0, 0},
		{long(64 << 20), ambiguous, ambiguous},
	}
	for _, test := range tests {
		client := serve(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.body) })
		_, err := client.Workers(context.Background())
		judge(t, test.workers, err)
		_, err = client.Dispatch(context.Background(), "d1")
		judge(t, test.dispatch, err)
	}
}

// long is a whole answer of more than so many bytes: the ids of jobs may be long, and there may
// be many.
func long(bytes int) string {
	return `{"jobs":[{"job_id":"j1","dispatch_id":"d1","payload":"` + strings.Repeat("x", bytes) + `"}],"workers":[]}`
}

// TestConnections: only a refused one proves that nothing was done.
func TestConnections(t *testing.T) {
	client := serve(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	judge(t, ambiguous, client.Post(context.Background(), ports.Job{JobID: "j1"}))

	hang := make(chan struct{})
	defer close(hang)
	client = serve(t, 20*time.Millisecond, func(http.ResponseWriter, *http.Request) { <-hang })
	err := client.Post(context.Background(), ports.Job{JobID: "j1"})
	judge(t, ambiguous, err)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client = httphub.New(ports.NewSystem(), httphub.Options{BaseURL: server.URL})
	err = client.Post(context.Background(), ports.Job{JobID: "j1"})
	var no *ports.Rejected
	require.ErrorAs(t, err, &no)
	require.Zero(t, no.Status)
	require.EqualError(t, err, "post j1: hub: connection refused")
}

// TestRequests: what goes over the wire, prefix, escapes and key.
func TestRequests(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.RequestURI+" "+r.Header.Get("X-Api-Key"))
	}))
	defer server.Close()
	client := httphub.New(ports.NewSystem(), httphub.Options{BaseURL: server.URL + "/hub/", APIKey: "k"})
	ctx := context.Background()
	_ = client.Post(ctx, ports.Job{JobID: "j1"})
	_, _, _ = client.Job(ctx, "a/b?c#d e%2F")
	_, _, _ = client.Job(ctx, "..")
	_, _ = client.Dispatch(ctx, ".")
	_, _ = client.ClearDispatch(ctx, "a&book_id=b")
	_, _ = client.ClearBook(ctx, "ä+/ ")
	_, _ = client.Workers(ctx)
	require.Equal(t, []string{
		"POST /hub/jobs k",
		"GET /hub/jobs/a%2Fb%3Fc%23d%20e%252F k",
		"GET /hub/jobs/%2E%2E k",
		"GET /hub/dispatches/%2E k",
		"DELETE /hub/queue/clear?dispatch_id=a%26book_id%3Db k",
		"DELETE /hub/queue/clear?book_id=%C3%A4%2B%2F+ k",
		"GET /hub/workers k",
	}, got)
	require.Panics(t, func() { _, _, _ = client.Job(ctx, "") })
	require.Panics(t, func() { _, _ = client.ClearBook(ctx, "") })
	require.Len(t, got, 7)
}

func TestNewPanics(t *testing.T) {
	for _, url := range []string{"", "hub:8080", "/hub", "http://", "http://%zz"} {
		require.Panics(t, func() { httphub.New(ports.NewSystem(), httphub.Options{BaseURL: url}) }, "%q", url)
	}
	require.Panics(t, func() {
		httphub.New(ports.NewSystem(), httphub.Options{BaseURL: "http://hub", Client: &http.Client{Timeout: 1}})
	})
}

func serve(t *testing.T, timeout time.Duration, handler http.HandlerFunc) *httphub.Client {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return httphub.New(ports.NewSystem(), httphub.Options{BaseURL: server.URL, Timeout: timeout})
}

func judge(t *testing.T, want int, err error) {
	t.Helper()
	var no *ports.Rejected
	switch {
	case want == 0:
		require.NoError(t, err)
	case want == ambiguous:
		require.ErrorIs(t, err, ports.ErrAmbiguous)
		require.False(t, errors.As(err, &no), "%v", err)
	default:
		require.ErrorAs(t, err, &no)
		require.Equal(t, want, no.Status)
		require.NotErrorIs(t, err, ports.ErrAmbiguous)
	}
}
