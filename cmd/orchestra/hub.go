package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
	"github.com/animastor/orchestra/sim"
)

// hubCmd is the fake hub of the simulator and its workers in real time: the same code that
// every scenario runs, behind a real listener, with real files.
type hubCmd struct {
	key
	Listen    string         `env:"ORCHESTRA_HUB_LISTEN" default:"127.0.0.1:8081" placeholder:"HOST:PORT" help:"Where to listen (${default})."`
	Engines   []string       `env:"ORCHESTRA_ENGINES" default:"http://127.0.0.1:8080" placeholder:"URL" help:"The replicas that are told of results (${default})."`
	Artifacts string         `env:"ORCHESTRA_ARTIFACTS" placeholder:"DIR" help:"Directory that the workers write to. It is made if it is missing."`
	Workers   map[string]int `mapsep:"," default:"audio=1,image=2,video=1" placeholder:"STAGE=N" help:"How many workers there are (${default})."`
	JobMin    time.Duration  `default:"500ms" help:"How long a job takes at least (${default})."`
	JobMax    time.Duration  `default:"2s" help:"How long a job takes at most (${default})."`
	Seed      uint64         `default:"1" help:"Decides how long each job takes (${default})."`
	LogFormat string         `env:"ORCHESTRA_LOG_FORMAT" enum:"text,json" default:"text" help:"text or json (${default})."`
	LogLevel  string         `env:"ORCHESTRA_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error (${default})."`
}

// Run implements the command.
func (c *hubCmd) Run(e *env) error {
	tree, err := c.check()
	if err != nil {
		return err
	}
	log := newLogger(e.stderr, c.LogFormat, c.LogLevel, []string{c.HubKey})
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return &settingError{"listen", "ORCHESTRA_HUB_LISTEN", "cannot listen", err}
	}
	return c.serve(e.ctx, log, listener, tree)
}

func (c *hubCmd) check() (*artifactdir.Tree, error) {
	if err := c.key.check(); err != nil {
		return nil, err
	}
	for stage, n := range c.Workers {
		if !asset.ValidStage(stage) || n < 0 || n > crewMax {
			return nil, &settingError{"workers", "", fmt.Sprintf("%s=%d; write STAGE=N for stages of %v, N at most %d", stage, n, asset.Stages(), crewMax), nil}
		}
	}
	for _, engine := range c.Engines {
		if err := checkURL("engines", engine); err != nil {
			return nil, err
		}
	}
	if c.JobMin <= 0 || c.JobMax < c.JobMin {
		return nil, &settingError{"job-max", "", "is shorter than --job-min, or that is 0", nil}
	}
	if c.Artifacts == "" {
		return nil, &settingError{"artifacts", "ORCHESTRA_ARTIFACTS", "is empty; name a directory", nil}
	}
	err := os.MkdirAll(c.Artifacts, 0o755)
	var tree *artifactdir.Tree
	if err == nil {
		tree, err = artifactdir.Open(c.Artifacts)
	}
	if err != nil {
		return nil, &settingError{"artifacts", "ORCHESTRA_ARTIFACTS", "cannot be written", err}
	}
	return tree, nil
}

// serve runs hub, workers and callbacks until ctx ends, or one of them cannot go on.
func (c *hubCmd) serve(ctx context.Context, log *slog.Logger, listener net.Listener, tree *artifactdir.Tree) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := newPace(c.Seed)
	out := newCourier(c.Engines, c.HubKey, log)
	h, yard := c.build(p.world, tree, out.push, log)
	rt := ports.NewSystem()
	out.start(ctx, rt)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, Handler: &front{p, h, yard, log},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() {
		failed <- server.Serve(listener)
		stop() // nobody can ask any more
	}()
	log.Info("hub on loopback", "listen", listener.Addr().String(), "workers", c.Workers)
	err := p.run(ctx)
	select {
	case broken := <-failed:
		err = errors.Join(err, broken)
	default:
	}
	stop()
	grace, cancel := context.WithTimeout(context.Background(), drainAtMost)
	defer cancel()
	err = errors.Join(err, server.Close())
	p.end()
	err = errors.Join(err, rt.Wait(grace))
	out.close()
	return err
}

// front lets requests into the world. That answers one at a time, so who is slow to ask or to
// listen must not hold it.
type front struct {
	pace *pace
	hub  *hub.Hub
	yard *yard
	log  *slog.Logger
}

var _ http.Handler = (*front)(nil)

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, requestBytesMax+1))
	if err != nil {
		http.Error(w, `{"reason":"bad_request"}`, http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	said := kept{header: w.Header(), status: http.StatusOK}
	there := f.pace.do(func() {
		if r.Method == http.MethodPost && r.URL.Path == workersPath {
			f.yard.ServeHTTP(&said, r)
			return
		}
		verb, subject := f.hub.Name(r, body)
		f.log.Debug("request", "verb", verb, "subject", subject)
		f.hub.ServeHTTP(&said, r)
	})
	if !there {
		panic(http.ErrAbortHandler) // no answer, as of a hub that is gone
	}
	w.WriteHeader(said.status)
	_, _ = w.Write(said.body.Bytes()) // who went away does not read it
}

// kept is an answer that is kept until the world is let go of.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

var _ http.ResponseWriter = (*kept)(nil)

// Header implements http.ResponseWriter.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader implements http.ResponseWriter.
func (k *kept) WriteHeader(status int) { k.status = status }

// Write implements http.ResponseWriter.
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

// build makes the hub and its workers in a world.
func (c *hubCmd) build(w *sim.World, tree *artifactdir.Tree, result func(ports.JobResult), log *slog.Logger) (*hub.Hub, *yard) {
	process := w.Process("hub")
	process.SetOffset(time.Now().Round(0).Sub(w.Now())) // its clock is the real one
	h := hub.New(w, process, hub.Options{APIKey: c.HubKey})
	h.OnResult = result
	h.On(func(e hub.Event) {
		level := slog.LevelInfo
		if e.Kind == hub.Progressed {
			level = slog.LevelDebug
		}
		log.Log(context.Background(), level, e.String(), "job", e.Job.JobID, "dispatch", e.Job.DispatchID, "reason", e.Reason)
	})
	y := &yard{world: w, tree: studio{tree, log}, hub: h, key: c.HubKey, now: process.Now, pools: map[string]*workers.Pool{}}
	for _, stage := range slices.Sorted(maps.Keys(c.Workers)) {
		y.set(crew{Stage: stage, Count: c.Workers[stage], JobMinMs: c.JobMin.Milliseconds(), JobMaxMs: c.JobMax.Milliseconds()})
	}
	return h, y
}

// studio makes the files of the workers: pictures of one colour each, and for sound and
// video, which take an encoder, a line that says what it stands for.
type studio struct {
	tree *artifactdir.Tree
	log  *slog.Logger
}

var _ workers.Tree = studio{}

// Put implements workers.Tree. What the hub is told is a word; the log has the error.
func (s studio) Put(ctx context.Context, a ports.Artifact) error {
	err := s.put(ctx, a)
	if err != nil {
		s.log.Warn("a worker cannot write", "path", a.Path, "error", err)
	}
	return err
}

func (s studio) put(ctx context.Context, a ports.Artifact) error {
	var content bytes.Buffer
	if strings.HasSuffix(a.Path, ".png") {
		if err := png.Encode(&content, picture(a)); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(&content, "This stands for %s, generation %d, version %d.\n", a.Path, a.Generation, a.Version)
	}
	return s.tree.Put(ctx, a, &content)
}

// picture is of a colour that belongs to the path and the version.
func picture(a ports.Artifact) image.Image {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", a.Path, a.Version)
	sum := h.Sum32()
	img := image.NewRGBA(image.Rect(0, 0, 256, 144))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.RGBA{byte(sum), byte(sum >> 8), byte(sum >> 16), 255}), image.Point{}, draw.Src)
	return img
}
