package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// send makes a request of the hub with a key.
func send(t *testing.T, method, url, key, body string) int {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", key)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// TestYard: the workers of the loopback hub come and go while it runs, for who has the key; and
// its log names each request as a world names calls.
func TestYard(t *testing.T) {
	clean(t)
	t.Setenv("ORCHESTRA_HUB_KEY", secret)
	t.Setenv("ORCHESTRA_ARTIFACTS", t.TempDir())
	hub := start(t, "hub", "--workers=image=0", "--log-format=json", "--log-level=debug")
	yard := hub.url + workersPath
	workers := func() string {
		req, err := http.NewRequest(http.MethodGet, hub.url+"/workers", nil)
		require.NoError(t, err)
		req.Header.Set("X-Api-Key", secret)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(text)
	}
	require.NotContains(t, workers(), "image-1")

	const two = `{"stage":"image","count":2,"job_min_ms":10,"job_max_ms":20}`
	require.Equal(t, http.StatusUnauthorized, send(t, http.MethodPost, yard, "another", two))
	for _, bad := range []string{``, `{"stage":"text","count":1,"job_max_ms":1}`, `{"stage":"image","count":-1}`, `{"stage":"image","job_min_ms":2,"job_max_ms":1}`,
		`{"stage":"image","workspace":"a/b","count":1}`} {
		require.Equal(t, http.StatusBadRequest, send(t, http.MethodPost, yard, secret, bad), bad)
	}
	require.Equal(t, http.StatusNoContent, send(t, http.MethodPost, yard, secret, two))
	require.Equal(t, http.StatusNoContent, send(t, http.MethodPost, yard, secret, `{"stage":"video","workspace":"w1","count":1,"job_max_ms":1,"shared_ms":60000}`))
	require.Eventually(t, func() bool {
		list := workers()
		return strings.Contains(list, "image-1") && strings.Contains(list, "image-2") && strings.Contains(list, "video-w1-1")
	}, 10*time.Second, 20*time.Millisecond, "they have not come")

	job := `{"job_id":"image:b1:c1:s1:u1:1","book_id":"b1","chapter_id":"c1","scene_id":"s1","stage":"image","unit_id":"u1","generation":1,"dispatch_id":"d1","fence":1}`
	send(t, http.MethodPost, hub.url+"/jobs", secret, job)
	send(t, http.MethodDelete, hub.url+"/queue/clear?book_id=b1", secret, "")
	require.Contains(t, hub.String(), `"msg":"request","verb":"clear","subject":"b1"`)
	require.Contains(t, hub.String(), `"msg":"request","verb":"post","subject":"b1/c1/s1:image/u1"`)
	hub.ended(t)
}
