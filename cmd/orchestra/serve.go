package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/artifactdir"
	"github.com/animastor/orchestra/ports/bookdir"
	"github.com/animastor/orchestra/ports/httpconsumer"
	"github.com/animastor/orchestra/ports/httphub"
	"github.com/animastor/orchestra/ports/pgstore"
)

const (
	connectAtMost = 5 * time.Second  // to each server, at the start
	drainAtMost   = 15 * time.Second // for requests, and again for tasks, at the end
	readyAtMost   = 2 * time.Second  // for each part of a replica to answer

	// hubReadyAtMost is for the hub, which only informs: who waits a second for /readyz must
	// not take a replica for ill because the hub hangs.
	hubReadyAtMost = 500 * time.Millisecond
)

type serveCmd struct{ settings }

// Run implements the command.
func (c *serveCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	log := newLogger(e.stderr, c.LogFormat, c.LogLevel, c.secrets())
	redis.SetLogger(redisLog{log})
	r, err := c.replica(e.ctx, log)
	if err != nil {
		return hide(err, c.secrets())
	}
	return hide(r.serve(e.ctx), c.secrets())
}

// replica is one engine with all that belongs to it.
type replica struct {
	log      *slog.Logger
	rt       *ports.System
	redis    *redis.Client
	pg       *pgstore.Store // nil: there is none
	toHub    http.Transport // the connections to the hub,
	consumer http.Transport // and to the consumer of result events
	observer observer
	hub      ports.Hub
	tree     *artifactdir.Tree
	books    *bookdir.Dir
	engine   *engine.Engine
	view     *store.Store // for reading where a book is
	listener net.Listener
	routes   *routes
}

// replica puts an engine together, and says which setting keeps it from that.
func (c *serveCmd) replica(ctx context.Context, log *slog.Logger) (r *replica, err error) {
	tree, err := c.artifacts()
	if err != nil {
		return nil, err
	}
	books, err := c.books()
	if err != nil {
		return nil, err
	}
	merger, err := c.merger(tree)
	if err != nil {
		return nil, err
	}
	r = &replica{log: log, rt: ports.NewSystem(), observer: observer{log, c.HubURL}, tree: tree, books: books}
	r.hub = httphub.New(r.rt, httphub.Options{BaseURL: c.HubURL, APIKey: c.HubKey, Timeout: c.HubTimeout, Client: &http.Client{Transport: &r.toHub}})
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.redis, err = c.redisClient(ctx); err != nil {
		return r, err
	}
	if r.pg, err = c.pgStore(ctx); err != nil {
		return r, err
	}
	if r.listener, err = net.Listen("tcp", c.Listen); err != nil {
		return r, &settingError{"listen", "ORCHESTRA_LISTEN", "cannot listen", err}
	}
	cfg := c.config()
	deps := engine.Deps{
		Runtime:      r.rt,
		Redis:        r.redis,
		Hub:          r.hub,
		Content:      books,
		Artifacts:    tree,
		Media:        merger,
		Placeholders: tree,
		Observer:     r.observer,
	}
	if r.pg != nil {
		cfg.Versioned, deps.Pointers, deps.Timings = true, r.pg, r.pg
	}
	if c.EventsURL != "" {
		deps.Consumer = httpconsumer.New(r.rt, httpconsumer.Options{URL: c.EventsURL, APIKey: c.HubKey, Client: &http.Client{Transport: &r.consumer}})
	}
	r.engine = engine.New(cfg, deps)
	r.view = store.New(r.redis)
	r.routes = newRoutes(r, c.HubKey)
	return r, nil
}

// serve runs the replica until ctx ends, and then lets it down gently: no new request, no
// new tick, the requests under way to their end, then every task to its end. What it held
// stands in Redis, and goes on at another replica or after the next start.
func (r *replica) serve(ctx context.Context) error {
	defer r.close()
	server := &http.Server{Handler: r.routes.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(r.log.Handler(), slog.LevelWarn)}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	r.routes.running = running
	r.rt.Go(running, "engine", r.engine.Run)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(r.listener) }()
	r.log.Info("serving", "listen", r.listener.Addr().String(), "redis", r.redis.Options().Addr)

	var err error
	select {
	case <-ctx.Done():
		r.log.Info("stopping")
		r.routes.stopping.Store(true)
	case err = <-failed:
	}
	return errors.Join(err, r.drain(server, stop))
}

// drain ends what is under way.
func (r *replica) drain(server *http.Server, stop context.CancelFunc) error {
	grace, cancel := context.WithTimeout(context.Background(), drainAtMost)
	defer cancel()
	var errs []error
	if err := server.Shutdown(grace); err != nil {
		errs = append(errs, fmt.Errorf("requests still under way after %s: %w", drainAtMost, err))
	}
	stop()
	grace, cancel = context.WithTimeout(context.Background(), drainAtMost)
	defer cancel()
	if err := r.rt.Wait(grace); err != nil {
		errs = append(errs, fmt.Errorf("tasks still running after %s: %w", drainAtMost, err))
	}
	r.log.Info("stopped")
	return errors.Join(errs...)
}

// close lets go of what was opened.
func (r *replica) close() {
	if r.listener != nil {
		_ = r.listener.Close() // a server that was shut down has closed it
	}
	r.toHub.CloseIdleConnections()
	r.consumer.CloseIdleConnections()
	if r.pg != nil {
		r.pg.Close()
	}
	if r.redis != nil {
		_ = r.redis.Close() // nothing is under way
	}
}

// ready says what keeps the replica from working, by name. Each part has a time of its own:
// one that hangs is not the fault of another.
func (r *replica) ready(ctx context.Context) map[string]error {
	parts := map[string]func(context.Context) error{
		"artifacts": r.tree.Check,
		"books":     r.books.Check,
		"redis":     func(ctx context.Context) error { return r.redis.Ping(ctx).Err() },
	}
	if r.pg != nil {
		parts["postgresql"] = func(ctx context.Context) error {
			_, err := r.pg.Buried(ctx, "-") // any row, or none, will do
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readyAtMost)
	defer cancel()
	type said struct {
		name string
		err  error
	}
	answers, problems := make(chan said, len(parts)), map[string]error{}
	for name, ask := range parts {
		go func() { answers <- said{name, ask(ctx)} }()
	}
	for range parts {
		a := <-answers
		problems[a.name] = a.err
	}
	return problems
}

// hubWord says in a word or two how the hub answers.
func (r *replica) hubWord(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, hubReadyAtMost)
	defer cancel()
	_, err := r.hub.Workers(ctx)
	var no *ports.Rejected
	switch {
	case err == nil:
		return "ok"
	case !errors.As(err, &no):
		return "no answer"
	case no.Status == 0:
		return "connection refused"
	}
	return fmt.Sprintf("%d %s", no.Status, http.StatusText(no.Status))
}

// status reads where a book is.
func (r *replica) status(ctx context.Context, book string) ([]store.SceneView, error) {
	if err := ports.ValidateID("book", book); err != nil {
		return nil, err
	}
	scenes, err := r.view.ScenesOf(ctx, book)
	if err != nil {
		return nil, err
	}
	return r.view.ReadScenes(ctx, scenes, asset.Stages())
}

type migrateCmd struct {
	PGDSN string `name:"pg-dsn" env:"ORCHESTRA_PG_DSN" placeholder:"DSN" help:"PostgreSQL, as postgres://user:password@host/db."`
}

// Run implements the command.
func (c *migrateCmd) Run(e *env) error {
	s := settings{PGDSN: c.PGDSN}
	if err := pgstore.Migrate(e.ctx, c.PGDSN); err != nil {
		return hide(wrongDSN(err), s.secrets())
	}
	fmt.Fprintf(e.stdout, "the schema is that of version %d\n", pgstore.SchemaVersion)
	return nil
}
