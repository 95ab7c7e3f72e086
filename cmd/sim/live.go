package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/animastor/orchestra/internal/live"
	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
)

// live runs programs on real services, each with one of its own.
func (c *runCmd) live(e *env, programs []*lang.Program) (status int, err error) {
	server, err := exec.LookPath(c.RedisServer)
	if err != nil {
		return exitUsage, fmt.Errorf("sim run --live needs a redis-server: %w", err)
	}
	dir, err := os.MkdirTemp("", "sim-live")
	if err != nil {
		return exitHarness, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := c.Orchestra
	if program == "" {
		program = filepath.Join(dir, "orchestra")
		if out, err := exec.Command("go", "build", "-o", program, "github.com/animastor/orchestra/cmd/orchestra").CombinedOutput(); err != nil {
			return exitHarness, fmt.Errorf("build orchestra: %w: %s", err, out)
		}
	}
	return scenarios.SweepLive(programs, c.options(e), func(spec scenarios.LiveSpec) (scenarios.LiveService, error) {
		return startLive(dir, program, server, spec)
	}), nil
}

// startLive starts the service of one scenario.
func startLive(root, program, server string, spec scenarios.LiveSpec) (*live.Stack, error) {
	dir, err := os.MkdirTemp(root, "run")
	if err != nil {
		return nil, err
	}
	o := live.Options{Dir: dir, Orchestra: program, RedisServer: server, Books: filepath.Join(dir, "books"), Replicas: spec.Engines,
		Hub: []string{"--job-min=" + spec.JobMin.String(), "--job-max=" + spec.JobMax.String()}}
	if spec.Tick > 0 {
		o.Serve = []string{"--tick=" + spec.Tick.String()}
	}
	for stage, n := range spec.Slots {
		o.Serve = append(o.Serve, fmt.Sprintf("--slots=%s=%d", stage, n))
	}
	for _, stage := range []string{"audio", "image", "video"} {
		o.Hub = append(o.Hub, fmt.Sprintf("--workers=%s=%d", stage, spec.Workers[stage]))
	}
	err = os.Mkdir(o.Books, 0o755)
	for name, text := range spec.Books {
		err = errors.Join(err, os.WriteFile(filepath.Join(o.Books, name), text, 0o600))
	}
	if err != nil {
		return nil, err
	}
	s, err := live.Start(o)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
