package once_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports/internal/once"
)

// moody is a server that answers the first request on a connection, and hangs up on the
// second once it has read it. It counts the requests on all connections.
func moody(t *testing.T) (url string, requests *atomic.Int64) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	requests = &atomic.Int64{}
	serve := func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		for in := bufio.NewReader(conn); ; {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(req.Body)
			if len(req.TransferEncoding) > 0 || req.ContentLength != int64(len(body)) {
				t.Errorf("%s with a body of no length", req.Method)
			}
			if requests.Add(1) > 1 {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return "http://" + listener.Addr().String(), requests
}

// TestOnce: who hangs up on a request has perhaps seen to it, so nothing is sent again by
// itself, not even what net/http takes for harmless.
func TestOnce(t *testing.T) {
	for _, test := range []struct {
		method string
		body   any
	}{{http.MethodGet, nil}, {http.MethodDelete, nil}, {http.MethodPost, map[string]int{"a": 1}}} {
		t.Run(test.method, func(t *testing.T) {
			url, requests := moody(t)
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := once.New("test", &http.Client{Transport: transport}, "k")
			send := func() error {
				req, err := client.Request(context.Background(), test.method, url, test.body)
				require.NoError(t, err)
				resp, err := client.Send(req)
				if err == nil {
					err = resp.Body.Close()
				}
				return err
			}
			require.NoError(t, send())
			require.Error(t, send(), "on the connection of the first")
			require.EqualValues(t, 2, requests.Load(), "two were made")
		})
	}
}
