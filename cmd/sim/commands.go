package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

type cli struct {
	Run  runCmd  `cmd:"" help:"Run scenarios and check what they expect."`
	Vet  vetCmd  `cmd:"" help:"Check scenarios without running them."`
	Fmt  fmtCmd  `cmd:"" help:"Format scenarios."`
	Help helpCmd `cmd:"" help:"Explain a verb or a metric, or list them."`
	List listCmd `cmd:"" help:"List scenarios: file, name, number of seeds."`
}

type patterns struct {
	Patterns []string `arg:"" name:"pattern" help:"Scenario files, directories, or trees (scenarios/...)."`
}

type runCmd struct {
	patterns
	Seed   *uint64 `xor:"seeds" placeholder:"N" help:"Run with this seed only."`
	Seeds  *uint32 `xor:"seeds" placeholder:"N" help:"Run with the seeds 1 to N."`
	Format string  `enum:"text,json,junit" default:"text" help:"Format of the report: text, json or junit."`
	Twice  bool    `help:"Run everything twice and demand equal traces."`
	Trace  string  `placeholder:"DIR" help:"Write the whole trace of each run into DIR; of a live run, keep all that its processes wrote there."`
	Record string  `placeholder:"DIR" help:"Write each run into DIR as a scenario that replays it."`
	Lua    bool    `help:"Run the Lua scripts themselves instead of their twins."`
	Update bool    `help:"Write golden blocks again."`

	Live        bool          `help:"Run for real: a Redis, a PostgreSQL, a hub and replicas of orchestra as processes, in real time. What needs a world (faults, clocks, latencies) is left out, with the reason."`
	Longest     time.Duration `default:"2m" placeholder:"DURATION" help:"Leave what takes longer out of a live run (${default})."`
	Orchestra   string        `placeholder:"PATH" help:"The program orchestra of a live run; without it, it is built."`
	RedisServer string        `default:"redis-server" placeholder:"PATH" help:"The redis-server of a live run."`
	Postgres    string        `placeholder:"PATH" help:"The postgres of a live run, with initdb beside it; without it, that of the search path or Debian's newest."`
}

// Validate is kong's hook.
func (c *runCmd) Validate() error {
	if c.Seeds != nil && *c.Seeds == 0 {
		return errors.New("--seeds is at least 1")
	}
	if c.Live && (c.Seed != nil || c.Seeds != nil || c.Twice || c.Record != "" || c.Lua || c.Update) {
		return errors.New("--live takes no seed, and none of --twice, --record, --lua and --update: those are of worlds")
	}
	if c.Update && (c.Seed != nil || c.Seeds != nil) {
		return errors.New("--update takes no seed: golden blocks are those of the first seed of the file")
	}
	return nil
}

// options are the flags as package scenarios takes them.
func (c *runCmd) options(e *env) scenarios.Options {
	o := scenarios.Options{Seed: c.Seed, Format: c.Format, Twice: c.Twice, Trace: c.Trace, Record: c.Record, Lua: c.Lua,
		Update: c.Update, Stdout: e.stdout, Stderr: e.stderr}
	if c.Seeds != nil {
		o.Seeds = int(*c.Seeds)
	}
	return o
}

func (c *runCmd) Run(e *env) error {
	programs, err := lang.LoadAll(lang.OS, c.Patterns)
	if err != nil {
		return err
	}
	if c.Live {
		e.status, err = c.live(e, programs)
		return err
	}
	e.status = scenarios.Sweep(programs, c.options(e))
	return nil
}

type vetCmd struct{ patterns }

func (c *vetCmd) Run() error {
	_, err := lang.LoadAll(lang.OS, c.Patterns)
	return err
}

type fmtCmd struct {
	patterns
	Write bool `short:"w" help:"Write the files instead of printing them."`
	List  bool `short:"l" help:"List the files whose format differs instead of printing them."`
}

func (c *fmtCmd) Run(e *env) error {
	files, err := lang.Expand(lang.OS, c.Patterns)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range files {
		errs = append(errs, c.file(e, name))
	}
	return errors.Join(errs...)
}

func (c *fmtCmd) file(e *env, name string) error {
	before, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	tree, err := syntax.Parse(name, before)
	if err != nil {
		return err
	}
	after := syntax.Format(tree)
	same := bytes.Equal(before, after)
	if c.List && !same {
		fmt.Fprintln(e.stdout, name)
	}
	if !c.List && !c.Write {
		_, err = e.stdout.Write(after)
	}
	if c.Write && !same {
		err = os.WriteFile(name, after, 0o644)
	}
	return err
}

type helpCmd struct {
	Verb string `arg:"" optional:"" help:"A verb, or a metric of expect."`
}

func (c *helpCmd) Run(e *env) error {
	text, err := lang.Help(c.Verb)
	if err != nil {
		return fmt.Errorf("sim help: %w", err)
	}
	fmt.Fprint(e.stdout, text)
	return nil
}

type listCmd struct {
	Patterns []string `arg:"" name:"pattern" default:"scenarios/..." help:"Scenario files, directories, or trees."`
}

func (c *listCmd) Run(e *env) error {
	programs, err := lang.LoadAll(lang.OS, c.Patterns)
	if err != nil {
		return err
	}
	for _, p := range programs {
		fmt.Fprintf(e.stdout, "%s: %s (%d)\n", p.File.Name, p.Name, len(p.Seeds))
	}
	return nil
}
