package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports/artifactdir"
	"github.com/animastor/orchestra/ports/bookdir"
	"github.com/animastor/orchestra/ports/pgstore"
)

// settingError says which setting cannot work, and why. It never quotes one that may hold
// a password or key.
type settingError struct {
	Flag, Variable string
	Problem        string
	Err            error // nil: Problem says it all
}

func (e *settingError) Error() string {
	name := "--" + e.Flag
	if e.Variable != "" {
		name = e.Variable + " (" + name + ")"
	}
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", name, e.Problem, e.Err)
	}
	return name + ": " + e.Problem
}

func (e *settingError) Unwrap() error { return e.Err }

// key is the secret that hub and engine share.
type key struct {
	HubKey string `name:"hub-key" env:"ORCHESTRA_HUB_KEY" placeholder:"KEY" help:"Secret that engine, hub and clients share, sent as x-api-key."`
}

func (k key) check() error {
	problem := ""
	switch {
	case k.HubKey == "":
		problem = "is empty; choose a secret that engine, hub and clients share"
	case strings.TrimSpace(k.HubKey) != k.HubKey || strings.ContainsFunc(k.HubKey, unicode.IsControl):
		problem = "has a line break, or a space at an end, which no HTTP header carries"
	default:
		return nil
	}
	return &settingError{"hub-key", "ORCHESTRA_HUB_KEY", problem, nil}
}

// settings are what a replica is told.
type settings struct {
	key
	Listen    string `env:"ORCHESTRA_LISTEN" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to serve callbacks, control, health and metrics (${default})."`
	RedisURL  string `name:"redis-url" env:"ORCHESTRA_REDIS_URL" default:"redis://127.0.0.1:6379/0" placeholder:"URL" help:"Redis, as redis://user:password@host:port/db (${default})."`
	PGDSN     string `name:"pg-dsn" env:"ORCHESTRA_PG_DSN" placeholder:"DSN" help:"PostgreSQL store, as postgres://user:password@host/db; without it there is none."`
	HubURL    string `name:"hub-url" env:"ORCHESTRA_HUB_URL" default:"http://127.0.0.1:8081" placeholder:"URL" help:"The job hub (${default}); docs/hub.openapi.yaml says what it must do."`
	EventsURL string `name:"events-url" env:"ORCHESTRA_EVENTS_URL" placeholder:"URL" help:"Where result events are posted to, with the same secret (docs/running.md); without it nobody is told."`
	Artifacts string `env:"ORCHESTRA_ARTIFACTS" placeholder:"DIR" help:"Directory of artifacts that the workers write to. It must exist."`
	Books     string `env:"ORCHESTRA_BOOKS" placeholder:"DIR" help:"Directory of book manifests, one JSON file a book (docs/running.md)."`

	MergeCommand    string                   `env:"ORCHESTRA_MERGE_COMMAND" placeholder:"PROGRAM" help:"Program that merges media: it is given the file to write, and the parts. Without it the bytes are concatenated, which suits MP3 and no MP4."`
	Layers          []string                 `env:"ORCHESTRA_LAYERS" default:"audio,image,video" placeholder:"STAGE" help:"Stages that may be generated at all (${default})."`
	Slots           map[string]int           `env:"ORCHESTRA_SLOTS" mapsep:"," placeholder:"STAGE=N" help:"Dispatches of a stage that may be live at once, over all replicas (audio=8,image=4,video=2)."`
	RetryBudget     int                      `env:"ORCHESTRA_RETRY_BUDGET" default:"10" placeholder:"N" help:"Failures that a stage may have in stock (${default})."`
	Window          int                      `env:"ORCHESTRA_WINDOW" default:"0" placeholder:"N" help:"Scenes of a book that may be under way at once for what was asked of it; 0: all (${default})."`
	BreakerTrip     int                      `env:"ORCHESTRA_BREAKER_TRIP" default:"5" placeholder:"N" help:"Failures of machinery within two minutes that open the circuit of a stage (${default})."`
	BreakerCooldown time.Duration            `env:"ORCHESTRA_BREAKER_COOLDOWN" default:"60s" help:"Time that a circuit stays open before it is probed (${default})."`
	JobTimeout      map[string]time.Duration `env:"ORCHESTRA_JOB_TIMEOUT" mapsep:"," placeholder:"STAGE=D" help:"A worker's time for one job; 5m more without progress, and it is lost (audio=10m,image=20m,video=60m)."`
	Tick            time.Duration            `env:"ORCHESTRA_TICK" default:"5s" help:"Time between two looks at the active scenes (${default})."`
	Reconcile       time.Duration            `env:"ORCHESTRA_RECONCILE" default:"60s" help:"Time between two reconcile passes (${default})."`
	HubTimeout      time.Duration            `env:"ORCHESTRA_HUB_TIMEOUT" default:"10s" help:"Deadline of each request to the hub (${default})."`

	LogFormat string `env:"ORCHESTRA_LOG_FORMAT" enum:"text,json" default:"text" help:"text or json (${default})."`
	LogLevel  string `env:"ORCHESTRA_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error (${default})."`
}

// check finds every setting that cannot work whatever the world is like.
func (s *settings) check() error {
	errs := []error{s.key.check(), checkURL("hub-url", s.HubURL)}
	if s.EventsURL != "" {
		errs = append(errs, checkURL("events-url", s.EventsURL))
	}
	if _, err := s.redisOptions(); err != nil {
		errs = append(errs, err)
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		errs = append(errs, &settingError{"listen", "ORCHESTRA_LISTEN", "is no HOST:PORT", err})
	}
	for flag, dir := range map[string]string{"artifacts": s.Artifacts, "books": s.Books} {
		if dir == "" {
			errs = append(errs, &settingError{flag, variable(flag), "is empty; name a directory", nil})
		}
	}
	return errors.Join(append(errs, s.checkLimits()...)...)
}

// What no setting is above or below unless by a slip of the pen.
const (
	countMax  = 100_000
	periodMin = 10 * time.Millisecond
	periodMax = 24 * time.Hour
	jobMax    = 7 * 24 * time.Hour
)

// checkLimits finds every limit that none can be.
func (s *settings) checkLimits() (errs []error) {
	wrong := func(flag, problem string, args ...any) {
		errs = append(errs, &settingError{flag, variable(flag), fmt.Sprintf(problem, args...), nil})
	}
	if len(s.Layers) == 0 {
		wrong("layers", "is empty; name stages of %v", asset.Stages())
	}
	for _, layer := range s.Layers {
		if !asset.ValidStage(layer) {
			wrong("layers", "there is no stage %q, only %v", layer, asset.Stages())
		}
	}
	for stage, n := range s.Slots {
		if !asset.ValidStage(stage) || n < 1 || n > countMax {
			wrong("slots", "%s=%d; write STAGE=N for stages of %v, N at least 1 and at most %d", stage, n, asset.Stages(), countMax)
		}
	}
	for stage, d := range s.JobTimeout {
		if !asset.ValidStage(stage) || d < time.Second || d > jobMax {
			wrong("job-timeout", "%s=%s; write STAGE=D for stages of %v, D at least 1s and at most %s", stage, d, asset.Stages(), jobMax)
		}
	}
	for flag, d := range map[string]time.Duration{"tick": s.Tick, "reconcile": s.Reconcile, "hub-timeout": s.HubTimeout, "breaker-cooldown": s.BreakerCooldown} {
		switch {
		case d < periodMin:
			wrong(flag, "%s is too short; it is at least %s", d, periodMin)
		case d > periodMax:
			wrong(flag, "%s is too long; it is at most %s", d, periodMax)
		}
	}
	for flag, n := range map[string]struct{ is, least int }{"retry-budget": {s.RetryBudget, 1}, "breaker-trip": {s.BreakerTrip, 1}, "window": {s.Window, 0}} {
		if n.is < n.least || n.is > countMax {
			wrong(flag, "%d; it is at least %d and at most %d", n.is, n.least, countMax)
		}
	}
	return errs
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "ORCHESTRA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func checkURL(flag, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return &settingError{flag, variable(flag), "is no URL as http://host:port, without a password", nil}
	}
	return nil
}

// redisOptions are those of the engine's client. The engine asks again by itself, knows
// which calls may have been carried out, and brings the deadlines.
func (s *settings) redisOptions() (*redis.Options, error) {
	o, err := redis.ParseURL(s.RedisURL)
	if err != nil { // the error may quote the password
		return nil, &settingError{"redis-url", "ORCHESTRA_REDIS_URL", "is no URL as redis://user:password@host:port/db", nil}
	}
	o.MaxRetries = -1
	o.ContextTimeoutEnabled = true
	o.PipelinePoolSize = -1
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return o, nil
}

// redisClient connects to Redis.
func (s *settings) redisClient(ctx context.Context) (*redis.Client, error) {
	o, err := s.redisOptions()
	if err != nil {
		return nil, err
	}
	client := redis.NewClient(o)
	ctx, cancel := context.WithTimeout(ctx, connectAtMost)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		_ = client.Close() // it was never used
		problem := "no Redis answers at " + o.Addr
		if said := redis.Error(nil); errors.As(err, &said) {
			problem = "Redis at " + o.Addr + " refuses the user, the password or the database"
		}
		return nil, &settingError{"redis-url", "ORCHESTRA_REDIS_URL", problem, err}
	}
	return client, nil
}

// pgStore connects to PostgreSQL; nil if there is none.
func (s *settings) pgStore(ctx context.Context) (*pgstore.Store, error) {
	if s.PGDSN == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectAtMost)
	defer cancel()
	store, err := pgstore.Open(ctx, s.PGDSN)
	if err != nil {
		return nil, wrongDSN(err)
	}
	return store, nil
}

// wrongDSN says what is wrong with the DSN, or with what it leads to.
func wrongDSN(err error) error {
	problem := "no PostgreSQL answers"
	switch {
	case errors.Is(err, pgstore.ErrDSN):
		problem = "is no DSN"
	case errors.Is(err, pgstore.ErrSchema):
		problem = "run `orchestra migrate` first"
	}
	return &settingError{"pg-dsn", "ORCHESTRA_PG_DSN", problem, err}
}

// artifacts opens the artifact tree.
func (s *settings) artifacts() (*artifactdir.Tree, error) {
	tree, err := artifactdir.Open(s.Artifacts)
	if err != nil {
		return nil, &settingError{"artifacts", "ORCHESTRA_ARTIFACTS", "cannot be written", err}
	}
	return tree, nil
}

// books opens the directory of manifests.
func (s *settings) books() (*bookdir.Dir, error) {
	if _, err := os.ReadDir(s.Books); err != nil {
		return nil, &settingError{"books", "ORCHESTRA_BOOKS", "cannot be read", err}
	}
	return bookdir.New(bookdir.Options{Path: s.Books, Layers: s.Layers, Stages: asset.Stages(), Chunk: keys.ChunkID}), nil
}

// merger merges media, by the program that is named, if one is.
func (s *settings) merger(tree *artifactdir.Tree) (*artifactdir.Merger, error) {
	if s.MergeCommand != "" {
		if _, err := exec.LookPath(s.MergeCommand); err != nil {
			return nil, &settingError{"merge-command", "ORCHESTRA_MERGE_COMMAND", "cannot be run", err}
		}
	}
	return &artifactdir.Merger{Tree: tree, Command: s.MergeCommand}, nil
}

// config is what the engine is told of its limits.
func (s *settings) config() engine.Config {
	c := engine.Config{Tick: s.Tick, Reconcile: s.Reconcile, Outbox: s.Tick, Window: s.Window, Profiles: map[string]asset.Profile{}}
	for _, p := range asset.Profiles() {
		if n, ok := s.Slots[p.Stage]; ok {
			p.Slots = n
		}
		if d, ok := s.JobTimeout[p.Stage]; ok {
			p = p.WithJobTimeout(d)
		}
		p.RetryBudget = s.RetryBudget
		p.Breaker.Trip, p.Breaker.CoolDown = s.BreakerTrip, s.BreakerCooldown
		c.Profiles[p.Stage] = p
	}
	return c
}

// secrets are what must not stand in a log, whatever an error quotes.
func (s *settings) secrets() []string {
	list := []string{s.HubKey}
	for _, text := range []string{s.RedisURL, s.PGDSN} {
		if u, err := url.Parse(text); err == nil && u.User != nil {
			if password, has := u.User.Password(); has {
				list = append(list, password, url.QueryEscape(password), url.PathEscape(password))
			}
		}
		for _, word := range strings.Fields(text) { // a DSN of key=value pairs
			if password, has := strings.CutPrefix(word, "password="); has {
				list = append(list, strings.Trim(password, "'"))
			}
		}
	}
	return slices.DeleteFunc(list, func(secret string) bool { return secret == "" })
}
