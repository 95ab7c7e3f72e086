package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/animastor/orchestra/internal/live"
	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
)

// liveBench starts the service of each scenario of a live run.
type liveBench struct {
	dir         string // everything stands in it
	orchestra   string
	redisServer string
	postgres    *live.Postgres // nil: no scenario needs one
}

// live runs programs on real services, each with one of its own.
func (c *runCmd) live(e *env, programs []*lang.Program) (status int, err error) {
	server, err := exec.LookPath(c.RedisServer)
	if err != nil {
		return exitUsage, fmt.Errorf("sim run --live: there is no Redis here: install Debian's package redis-server, or name its program with --redis-server PATH (%w)", err)
	}
	if c.Orchestra != "" {
		if _, err := exec.LookPath(c.Orchestra); err != nil {
			return exitUsage, fmt.Errorf("sim run --live: --orchestra names no program (%w)", err)
		}
	}
	plans := scenarios.PlanLive(programs, c.Longest)
	bench := &liveBench{orchestra: c.Orchestra, redisServer: server}
	if bench.dir, err = c.liveDir(); err != nil {
		return exitHarness, err
	}
	if c.Trace == "" {
		defer func() { err = errors.Join(err, os.RemoveAll(bench.dir)) }()
	}
	if slices.ContainsFunc(plans, func(p scenarios.LivePlan) bool { return p.LeftOut == "" && p.Spec.Versioned }) {
		path, err := live.FindPostgres(c.Postgres)
		if err != nil {
			return exitUsage, fmt.Errorf("sim run --live: a scenario is versioned, and %w", err)
		}
		if bench.postgres, err = live.StartPostgres(context.Background(), path); err != nil {
			return exitHarness, err
		}
		defer func() { err = errors.Join(err, bench.postgres.Close()) }()
	}
	if bench.orchestra == "" {
		bench.orchestra = filepath.Join(bench.dir, "orchestra")
		if out, err := exec.Command("go", "build", "-o", bench.orchestra, "github.com/animastor/orchestra/cmd/orchestra").CombinedOutput(); err != nil {
			return exitHarness, fmt.Errorf("sim run --live: build orchestra: %w: %s (run sim where its module is, or name the program with --orchestra PATH)", err, bytes.TrimSpace(out))
		}
	}
	return scenarios.SweepLive(plans, c.options(e), bench.start), nil
}

// liveDir is a directory for everything, which may be one that the user has named.
func (c *runCmd) liveDir() (string, error) {
	if c.Trace == "" {
		return os.MkdirTemp("", "sim-live")
	}
	if err := os.MkdirAll(c.Trace, 0o755); err != nil {
		return "", err
	}
	return filepath.Abs(c.Trace)
}

// start starts the service of one scenario, but for its replicas.
func (b *liveBench) start(spec scenarios.LiveSpec) (scenarios.LiveService, error) {
	dir, err := os.MkdirTemp(b.dir, strings.NewReplacer("/", "-", "*", "-").Replace(strings.TrimSuffix(spec.Name, ".sim"))+"-")
	if err != nil {
		return nil, err
	}
	o := live.Options{Dir: dir, Orchestra: b.orchestra, RedisServer: b.redisServer, Books: filepath.Join(dir, "books"), Replicas: spec.Engines,
		Idle: true, Hub: []string{"--log-format=json", "--log-level=debug"}, Serve: []string{"--log-format=json", "--log-level=debug"}}
	if spec.Tick > 0 {
		o.Serve = append(o.Serve, "--tick="+spec.Tick.String())
	}
	if spec.Window > 0 {
		o.Serve = append(o.Serve, fmt.Sprintf("--window=%d", spec.Window))
	}
	for stage, n := range spec.Slots {
		o.Serve = append(o.Serve, fmt.Sprintf("--slots=%s=%d", stage, n))
	}
	if spec.Versioned {
		if o.DSN, err = b.postgres.NewDSN(context.Background()); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(o.Books, 0o755); err != nil {
		return nil, err
	}
	s, err := live.Prepare(o)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return liveService{s}, nil
}

// liveService is a stack as scenarios know it.
type liveService struct{ *live.Stack }

var _ scenarios.LiveService = liveService{}

// SetWorkers implements scenarios.LiveService.
func (s liveService) SetWorkers(w wire.Workers) error {
	return s.Stack.SetWorkers(live.Crew{Stage: w.Kind, Workspace: w.Workspace, Count: w.N,
		JobMinMs: w.JobMin.Milliseconds(), JobMaxMs: w.JobMax.Milliseconds(), SharedMs: w.Shared.Milliseconds()})
}
