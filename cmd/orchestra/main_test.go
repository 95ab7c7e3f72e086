package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/internal/contract"
	"github.com/animastor/orchestra/ports"
)

const secret = "s3cr3t&key"

// said is what a command has written so far.
type said struct {
	one  sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.one.Lock()
	defer s.one.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.one.Lock()
	defer s.one.Unlock()
	return s.text.String()
}

// last is the end of it.
func (s *said) last() string {
	lines := strings.Split(s.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// clean takes what could be set outside away from a test.
func clean(t *testing.T) {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "ORCHESTRA_") {
			t.Setenv(name, "")
			require.NoError(t, os.Unsetenv(name))
		}
	}
}

// command runs a command to its end, which a daemon that should not have started comes to in
// a minute.
func command(args ...string) (status int, stdout, stderr string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	var out, err bytes.Buffer
	status = run(ctx, args, &out, &err)
	return status, out.String(), err.String()
}

// daemon is a command that runs until it is stopped.
type daemon struct {
	*said
	url  string
	stop context.CancelFunc
	end  chan int
}

var listens = regexp.MustCompile(`listen"?[=:]"?([0-9.:]+)`)

func start(t *testing.T, args ...string) *daemon {
	ctx, stop := context.WithCancel(context.Background())
	d := &daemon{said: &said{}, stop: stop, end: make(chan int, 1)}
	go func() { d.end <- run(ctx, append(args, "--listen=127.0.0.1:0"), d.said, d.said) }()
	t.Cleanup(func() { d.stop() })
	require.Eventually(t, func() bool {
		found := listens.FindStringSubmatch(d.String())
		if found != nil {
			d.url = "http://" + found[1]
		}
		return found != nil
	}, 10*time.Second, 10*time.Millisecond, "it does not listen")
	return d
}

func (d *daemon) ended(t *testing.T) {
	d.stop()
	select {
	case status := <-d.end:
		require.Zero(t, status, d.last())
	case <-time.After(20 * time.Second):
		t.Fatal("it did not stop: ", d.last())
	}
}

// gate is an address that leads to a daemon which starts later.
type gate struct {
	url      string
	listener net.Listener
	server   http.Server
}

func openGate(t *testing.T) *gate {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{url: "http://" + listener.Addr().String(), listener: listener}
	t.Cleanup(func() { _ = g.server.Close() })
	return g
}

func (g *gate) leadTo(d *daemon) {
	g.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, d.url+r.URL.Path, http.StatusTemporaryRedirect)
	})
	go func() { _ = g.server.Serve(g.listener) }()
}

func get(t *testing.T, url string) (int, string) {
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func TestHelp(t *testing.T) {
	status, out, _ := command("--help")
	require.Zero(t, status)
	for _, word := range []string{"serve", "migrate", "hub", "request", "edit", "cancel", "status", "times", "clear deferrals", "reconcile", "ORCHESTRA_HUB_KEY"} {
		require.Contains(t, out, word)
	}
	status, out, _ = command("serve", "--help")
	require.Zero(t, status)
	for _, variable := range []string{"REDIS_URL", "PG_DSN", "HUB_URL", "HUB_KEY", "EVENTS_URL", "ARTIFACTS", "BOOKS", "SLOTS", "LAYERS", "WINDOW", "BREAKER_TRIP", "BREAKER_COOLDOWN", "JOB_TIMEOUT"} {
		require.Contains(t, out, "$ORCHESTRA_"+variable)
	}
	status, _, err := command("serve", "--nonsense")
	require.Equal(t, exitUsage, status)
	require.Contains(t, err, "--nonsense")
}

// TestWrongSettings: serve says which setting is wrong, at once, and quotes no secret.
func TestWrongSettings(t *testing.T) {
	clean(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	db, open := miniredis.RunT(t), miniredis.RunT(t)
	db.RequireAuth("other")
	for _, test := range []struct{ name, value, says string }{
		{"HUB_KEY", "", "is empty"},
		{"HUB_KEY", "hunter2\n", "line break"},
		{"HUB_KEY", "hunter2\nb", "line break"},
		{"HUB_KEY", " hunter2", "space at an end"},
		{"REDIS_URL", "redis://:hunter2@127.0.0.1:1", "no Redis answers at 127.0.0.1:1"},
		{"REDIS_URL", "redis://:hunter2@" + silent.Addr().String(), "no Redis answers"},
		{"REDIS_URL", "redis://:hunter2@" + db.Addr(), "refuses the user, the password"},
		{"REDIS_URL", "redis://" + db.Addr(), "refuses the user, the password"},
		{"REDIS_URL", "redis://:hunter2@host:port", "is no URL"},
		{"REDIS_URL", "hunter2", "is no URL"},
		{"HUB_URL", "http://user:hunter2@hub", "is no URL"},
		{"HUB_URL", "hub:8081", "is no URL"},
		{"EVENTS_URL", "http://user:hunter2@host", "is no URL"},
		{"EVENTS_URL", "host:9000/hunter2", "is no URL"},
		{"ARTIFACTS", "", "is empty"},
		{"ARTIFACTS", file, "is no directory"},
		{"ARTIFACTS", "/proc", "cannot be written"},
		{"ARTIFACTS", file + "/missing", "cannot be written"},
		{"BOOKS", file + "/missing", "cannot be read"},
		{"PG_DSN", "postgres://u:hunter2@127.0.0.1:1/db", "no PostgreSQL answers"},
		{"PG_DSN", "postgres://u:hunter2@" + silent.Addr().String() + "/db", "no PostgreSQL answers"},
		{"PG_DSN", "postgres://u:hunter2@host:port/db", "is no DSN"},
		{"PG_DSN", "host=127.0.0.1 port=1 user=u password=hunter2", "no PostgreSQL answers"},
		{"SLOTS", "image=0", "N at least 1"},
		{"SLOTS", "image=99999999999999", "at most 100000"},
		{"SLOTS", "text=1", "STAGE=N"},
		{"LAYERS", "text", `no stage "text"`},
		{"LAYERS", "", "is empty"},
		{"MERGE_COMMAND", file + "/missing", "cannot be run"},
		{"MERGE_COMMAND", file, "cannot be run"},
		{"TICK", "1ns", "too short; it is at least 10ms"},
		{"TICK", "1000000h", "too long; it is at most 24h0m0s"},
		{"WINDOW", "99999999999999", "at most 100000"},
		{"JOB_TIMEOUT", "audio=1000000h", "at most 168h0m0s"},
		{"RETRY_BUDGET", "0", "at least 1"},
		{"WINDOW", "-1", "at least 0"},
		{"BREAKER_TRIP", "0", "at least 1"},
		{"BREAKER_COOLDOWN", "1ms", "too short"},
		{"JOB_TIMEOUT", "audio=1ms", "D at least 1s"},
		{"JOB_TIMEOUT", "text=1h", "STAGE=D"},
		{"LISTEN", "8080", "HOST:PORT"},
	} {
		t.Run(test.name+" "+test.says, func(t *testing.T) {
			for name, value := range map[string]string{"HUB_KEY": secret, "ARTIFACTS": t.TempDir(), "BOOKS": t.TempDir(), "LISTEN": "127.0.0.1:0",
				"REDIS_URL": "redis://" + open.Addr(), test.name: test.value} {
				t.Setenv("ORCHESTRA_"+name, value)
			}
			began := time.Now()
			status, out, err := command("serve")
			require.Less(t, time.Since(began), 10*time.Second)
			require.Equal(t, exitUsage, status)
			require.Contains(t, err, "ORCHESTRA_"+test.name)
			require.Contains(t, err, test.says)
			require.NotContains(t, out+err, secret)
			require.NotContains(t, out+err, "hunter2")
			require.Equal(t, 1, strings.Count(err, "ORCHESTRA_"), "it names others, too: %s", err)
		})
	}
}

// TestWrongHub: so does hub, before it listens.
func TestWrongHub(t *testing.T) {
	clean(t)
	t.Setenv("ORCHESTRA_HUB_KEY", secret)
	t.Setenv("ORCHESTRA_ARTIFACTS", t.TempDir())
	for flag, says := range map[string]string{
		"--workers=image=1001": "N at most 1000", "--workers=text=1": "STAGE=N", "--workers=image=-1": "STAGE=N",
		"--engines=host:8080": "ORCHESTRA_ENGINES (--engines): is no URL", "--job-min=3s": "is shorter",
	} {
		status, _, err := command("hub", flag, "--listen=127.0.0.1:nowhere") // it must not come so far
		require.Equal(t, exitUsage, status, flag)
		require.Contains(t, err, says, flag)
	}
}

// TestWrongReplica: a client says which of its two settings leads to no replica of this engine.
func TestWrongReplica(t *testing.T) {
	clean(t)
	t.Setenv("ORCHESTRA_HUB_KEY", secret)
	answers := func(status int, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // who went away does not read it
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	for url, says := range map[string]string{
		"nonsense":                                "ORCHESTRA_ENGINE (--engine): is no URL",
		"http://127.0.0.1:1":                      "ORCHESTRA_ENGINE (--engine): no replica answers",
		answers(404, "no such page"):              "is no replica: 404 Not Found",
		answers(200, "<html>"):                    "is no replica: invalid character",
		answers(401, `{"reason":"unauthorized"}`): "ORCHESTRA_HUB_KEY (--hub-key): is not the key of the replica",
	} {
		status, _, err := command("status", "b1", "--engine="+url)
		require.Equal(t, exitUsage, status, url)
		require.Contains(t, err, says, url)
		require.NotContains(t, err, secret)
	}
}

// TestMigrateNamesItsSetting: so does migrate; the live run has a PostgreSQL for it.
func TestMigrateNamesItsSetting(t *testing.T) {
	clean(t)
	for dsn, says := range map[string]string{"": "is no DSN", "postgres://u:hunter2@127.0.0.1:1/db": "no PostgreSQL answers"} {
		status, _, err := command("migrate", "--pg-dsn="+dsn)
		require.Equal(t, exitUsage, status)
		require.Contains(t, err, "ORCHESTRA_PG_DSN")
		require.Contains(t, err, says)
		require.NotContains(t, err, "hunter2")
	}
}

// books writes a small book and returns its directory.
func books(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b1.json"), []byte(`{"id":"b1","scenes":[
		{"chapter":"c1","scene":"s1","version":1,"layers":["audio","image","video"],"segments":2,"units":["u1","u2"],"groups":[{"id":"g1","units":["u1","u2"]}]},
		{"chapter":"c1","scene":"s2","version":1,"layers":["image"],"units":["u1"]}]}`), 0o600))
	return dir
}

// TestLife: a book is asked for and generated, over real HTTP, by two replicas, and nothing
// of them is left. Redis is miniredis; the live run (make live) has a real one.
func TestLife(t *testing.T) {
	clean(t)
	before := runtime.NumGoroutine()
	db, tree := miniredis.NewMiniRedis(), t.TempDir()
	require.NoError(t, db.Start())
	t.Setenv("ORCHESTRA_HUB_KEY", secret)
	t.Setenv("ORCHESTRA_ARTIFACTS", tree)
	t.Setenv("ORCHESTRA_BOOKS", books(t))
	t.Setenv("ORCHESTRA_REDIS_URL", "redis://"+db.Addr())
	t.Setenv("ORCHESTRA_TICK", "50ms")
	engines := openGate(t)
	hub := start(t, "hub", "--job-min=10ms", "--job-max=50ms", "--engines="+engines.url)
	t.Setenv("ORCHESTRA_HUB_URL", hub.url)
	a, b := start(t, "serve"), start(t, "serve", "--log-format=json", "--log-level=debug", "--layers=image,audio,video")
	engines.leadTo(b)

	status, body := get(t, a.url+"/readyz")
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"artifacts":"ok","books":"ok","redis":"ok","hub":"ok"}`, body)
	time.Sleep(300 * time.Millisecond) // until the workers are known
	status, out, errs := command("request", "b1", "--engine="+a.url)
	require.Zero(t, status, errs)
	require.Equal(t, "request b1: 4 stages, 0 live dispatches ended\n", out)
	status, out, errs = command("status", "b1", "--wait=30s", "--engine="+b.url)
	require.Zero(t, status, "%s%s\n%s", out, errs, a.last())
	require.Equal(t, 4, strings.Count(out, " ready"), out)
	require.FileExists(t, filepath.Join(tree, "b1/c1/s1/video.mp4"))
	audio, err := os.ReadFile(filepath.Join(tree, "b1/c1/s1/audio.mp3"))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(audio), "This stands for"), "two chunks, one after the other")

	status, out, _ = command("cancel", "b1", "--engine="+a.url)
	require.Zero(t, status)
	require.Contains(t, out, "cancel b1: 4 stages")
	status, _, errs = command("request", "b2", "--engine="+a.url)
	require.Equal(t, exitFailure, status)
	require.Contains(t, errs, "unknown_book")
	require.Eventually(t, func() bool { // at a tick, the scenes leave the index
		status, body = get(t, b.url+"/metrics")
		return status == 200 && strings.Contains(body, "orchestra_active_scenes 0\n")
	}, 10*time.Second, 20*time.Millisecond)
	require.Contains(t, body, "go_goroutines")
	require.Contains(t, body, `orchestra_slots{stage="image"} 4`)
	require.Contains(t, body, `orchestra_ticks_total{kind="done"}`)

	a.ended(t)
	b.ended(t)
	hub.ended(t)
	require.NoError(t, engines.server.Close())
	db.Close()
	http.DefaultClient.CloseIdleConnections()
	for _, d := range []*daemon{a, b, hub} {
		require.NotContains(t, d.String(), secret)
	}
	require.Contains(t, b.String(), `"msg":"tick"`)
	for tries := 0; runtime.NumGoroutine() > before; tries++ {
		if tries == 100 {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines are left:\n%s", runtime.NumGoroutine()-before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestCallback: the engine's own route keeps to docs/hub.openapi.yaml, lets in nobody
// without the key, and takes no nonsense.
func TestCallback(t *testing.T) {
	clean(t)
	db := miniredis.RunT(t)
	t.Setenv("ORCHESTRA_HUB_KEY", secret)
	t.Setenv("ORCHESTRA_ARTIFACTS", t.TempDir())
	t.Setenv("ORCHESTRA_BOOKS", books(t))
	t.Setenv("ORCHESTRA_REDIS_URL", "redis://"+db.Addr())
	d := start(t, "serve", "--tick=1h", "--hub-url=http://127.0.0.1:1")
	c, err := contract.Load("../../docs/hub.openapi.yaml")
	require.NoError(t, err)
	client := &http.Client{Transport: c.Transport(http.DefaultTransport)}
	ask := func(path, key, body string) (int, string) {
		req, err := http.NewRequest(http.MethodPost, d.url+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Api-Key", key)
		resp, err := client.Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode, string(text)
	}
	stage := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image")
	good := `{"job_id":"` + keys.Job(stage, "u1", 1) + `","dispatch_id":"dispatch-1","book_id":"b1","chapter_id":"c1","scene_id":"s1","stage":"image","unit_id":"u1",
		"generation":1,"fence":1,"version":1,"worker":"w1","ok":true,"artifact":"b1/c1/s1/image/u1.png"}`
	for _, test := range []struct {
		name, key, body string
		status          int
	}{
		{"good, of no live dispatch", secret, good, 204},
		{"no key", "", good, 401},
		{"wrong key", secret + "x", good, 401},
		{"no JSON", secret, "{", 400},
		{"nothing", secret, "{}", 400},
		{"another unit", secret, strings.Replace(good, `"unit_id":"u1"`, `"unit_id":"u2"`, 1), 400},
		{"another generation", secret, strings.Replace(good, `"generation":1`, `"generation":2`, 1), 400},
		{"another scene", secret, strings.Replace(good, `"scene_id":"s1"`, `"scene_id":"s2"`, 1), 400},
		{"another stage", secret, strings.Replace(good, `"stage":"image"`, `"stage":"video"`, 1), 400},
		{"no dispatch", secret, strings.Replace(good, `"dispatch-1"`, `""`, 1), 400},
		{"no job", secret, strings.Replace(good, `"job_id":"`, `"job_id":"x`, 1), 400},
		{"a NUL", secret, strings.Replace(good, `"book_id":"b1"`, `"book_id":"b\u0000"`, 1), 400},
		{"a fence below 1", secret, strings.Replace(good, `"fence":1`, `"fence":-1`, 1), 400},
		{"a version below 0", secret, strings.Replace(good, `"version":1`, `"version":-1`, 1), 400},
		{"no UTF-8", secret, strings.Replace(good, `"worker":"w1"`, "\"worker\":\"\xff\"", 1), 400},
		{"more than a result", secret, good + "x", 400},
		{"a long id", secret, strings.Replace(good, `"dispatch-1"`, `"`+strings.Repeat("d", 1025)+`"`, 1), 400},
		{"more than 1 MiB", secret, `{"message":"` + strings.Repeat("x", requestBytesMax) + `"}`, 413},
	} {
		status, text := ask("/callback", test.key, test.body)
		require.Equal(t, test.status, status, "%s: %s", test.name, text)
	}
	require.Empty(t, db.Keys(), "what was not begun leaves nothing")
	client.Transport = http.DefaultTransport // the engine is more liberal than the contract lets a hub be
	for name, body := range map[string]string{
		"no artifact":      strings.Replace(good, `,"artifact":"b1/c1/s1/image/u1.png"`, "", 1),
		"no code":          strings.Replace(good, `"ok":true`, `"ok":false`, 1),
		"no worker":        strings.Replace(good, `"worker":"w1"`, `"worker":""`, 1),
		"an unknown field": strings.Replace(good, `{`, `{"gpu":"A100",`, 1),
	} {
		status, text := ask("/callback", secret, body)
		require.Equal(t, 204, status, "%s: %s", name, text)
	}
	client.Transport = c.Transport(http.DefaultTransport)
	db.Close()
	status, _ := ask("/callback", secret, good)
	require.Equal(t, 503, status, "Redis is gone: ask again")
	require.Empty(t, c.Problems())
	for _, answer := range []string{"callback 204", "callback 400", "callback 401", "callback 413", "callback 503"} {
		require.Contains(t, c.Seen(), answer)
	}

	client.Transport = http.DefaultTransport // control is no part of the contract
	status, _ = ask("/control/request", "", `{"book":"b1"}`)
	require.Equal(t, 401, status)
	status, _ = ask("/control/explode", secret, `{"book":"b1"}`)
	require.Equal(t, 404, status)
	status, _ = ask("/control/request", secret, `{"book":""}`)
	require.Equal(t, 400, status)
	status, _ = ask("/control/request", secret, `{"book":"b1"}`)
	require.Equal(t, 503, status)
	status, text := get(t, d.url+"/readyz")
	require.Equal(t, 503, status)
	require.JSONEq(t, `{"artifacts":"ok","books":"ok","redis":"not ok","hub":"connection refused"}`, text)
	status, _ = get(t, d.url+"/healthz")
	require.Equal(t, 200, status, "it is not the process that is ill")
	d.ended(t)
}
