package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
)

// TestHubThatRefuses: the log says which hub refuses, why, and how that can be; once for the
// jobs of a dispatch, and at each sweep. It keeps no replica out of rotation.
func TestHubThatRefuses(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, no(http.StatusUnauthorized, "unauthorized", nil))
	}))
	defer other.Close()
	hang := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer hanging.Close()
	defer close(hang)
	for _, test := range []struct{ hub, says, word string }{
		{gone.URL, "connection refused", "connection refused"},
		{other.URL, `status 401, reason \"unauthorized\": is the key that of the hub?`, "401 Unauthorized"},
		{hanging.URL, "context deadline exceeded", "no answer"},
	} {
		t.Run(test.word, func(t *testing.T) {
			clean(t)
			t.Setenv("ORCHESTRA_HUB_KEY", secret)
			t.Setenv("ORCHESTRA_ARTIFACTS", t.TempDir())
			t.Setenv("ORCHESTRA_BOOKS", books(t))
			t.Setenv("ORCHESTRA_REDIS_URL", "redis://"+miniredis.RunT(t).Addr())
			d := start(t, "serve", "--tick=50ms", "--hub-url="+test.hub, "--hub-timeout=100ms")
			t.Setenv("ORCHESTRA_ENGINE", d.url)
			says(t, "request b1: 1 stages", "request", "b1", "--stage=image", "--chapter=c1", "--scene=s1")
			of := func(kind string) (lines []string) {
				for line := range strings.Lines(d.String()) {
					if strings.Contains(line, "level=WARN msg="+kind) && strings.Contains(line, test.says) && strings.Contains(line, "hub="+test.hub) {
						lines = append(lines, line)
					}
				}
				return lines
			}
			require.Eventually(t, func() bool { return len(of("job")) > 0 }, 10*time.Second, 10*time.Millisecond, d.String())
			says(t, "cancel b1", "cancel", "b1")
			require.NotEmpty(t, of("swept"), d.String())
			require.Len(t, of("job"), 1, "of two jobs")
			status, text := get(t, d.url+"/readyz")
			require.Equal(t, 200, status)
			require.Contains(t, text, `"hub":"`+test.word+`"`)
			d.ended(t)
			require.NotContains(t, d.String(), secret)
		})
	}
}
