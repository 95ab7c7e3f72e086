package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// Options are the settings of a sweep over scenarios and seeds.
type Options struct {
	Seed   *uint64 // this seed only
	Seeds  int     // seeds 1..Seeds; 0: those of the file
	Format string  // text, json or junit
	Twice  bool    // run everything twice and compare the digests
	Trace  string  // directory for whole traces
	Record string  // directory for recorded runs
	Lua    bool    // run the scripts themselves instead of their twins
	Update bool    // rewrite golden blocks

	Stdout, Stderr io.Writer
}

// Exit statuses of a sweep (design 8).
const (
	ExitPassed  = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitHarness = 3
)

// stuckAfter is how long a run may go without a step, in real time.
const stuckAfter = 30 * time.Second

// Sweep runs every program with its seeds, as many at once as there are cores,
// reports in the order of the programs, and returns the exit status.
func Sweep(programs []*lang.Program, o Options) int {
	began := time.Now()
	if err := o.clash(programs); err != nil {
		fmt.Fprintln(o.Stderr, "sim: "+err.Error())
		return ExitUsage
	}
	jobs := startRuns(programs, o)
	dog := &watchdog{stderr: o.Stderr}
	dog.start(jobs)
	progress := startProgress(o.Stderr, jobs)
	rep := newReporter(o.Format, o.Stdout)
	var sum summary
	for _, p := range programs {
		var runs []*Result
		for _, j := range jobs {
			if j.prog == p {
				<-j.done
				runs = append(runs, j.result)
			}
		}
		sum.add(runs)
		rep.scenario(p.File.Name, p.Name, runs)
		if err := errors.Join(o.save(runs), o.update(p)); err != nil {
			fmt.Fprintln(o.Stderr, "sim: "+err.Error())
			sum.broken = true
		}
		for _, r := range runs {
			r.Trace = nil // its events lead to all of their world: gigabytes by the end of a sweep
		}
	}
	progress.stop()
	dog.stop()
	sum.wall = time.Since(began)
	rep.end(sum)
	return sum.status()
}

// job is one run to do.
type job struct {
	prog   *lang.Program
	seed   uint64
	beat   atomic.Int64 // steps so far
	state  atomic.Value // string: what it does
	active atomic.Bool
	done   chan struct{}
	result *Result
}

// startRuns starts the runs, in order, on as many goroutines as there are cores.
func startRuns(programs []*lang.Program, o Options) []*job {
	var jobs []*job
	for _, p := range programs {
		for _, seed := range o.seeds(p) {
			jobs = append(jobs, &job{prog: p, seed: seed, done: make(chan struct{})})
		}
	}
	queue := make(chan *job)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for j := range queue {
				j.run(o)
			}
		}()
	}
	go func() {
		for _, j := range jobs {
			queue <- j
		}
		close(queue)
	}()
	return jobs
}

func (o Options) seeds(p *lang.Program) []uint64 {
	switch {
	case o.Update:
		return p.Seeds[:1] // golden blocks are written from one run; a run without --update checks the others
	case o.Seed != nil:
		return []uint64{*o.Seed}
	case o.Seeds > 0:
		list := make([]uint64, o.Seeds)
		for i := range list {
			list[i] = uint64(i + 1)
		}
		return list
	}
	return p.Seeds
}

func (j *job) run(o Options) {
	defer close(j.done)
	j.active.Store(true)
	defer j.active.Store(false)
	r := RunOptions{Lua: o.Lua, Keep: 400, Record: o.Record != "", Update: o.Update,
		Beat: func(steps int, where string) { j.beat.Store(int64(steps)); j.state.Store(where) }}
	if o.Trace != "" {
		r.Keep = 0
	}
	j.result = RunProgram(j.prog, j.seed, r)
	if !o.Twice {
		return
	}
	again := RunProgram(j.prog, j.seed, r)
	if again.Digest != j.result.Digest {
		j.result.Outcome, j.result.Diverged = Broken, true
		j.result.Failures = append(j.result.Failures, diverged(j.prog, j.seed, r, j.result, again))
	}
}

// diverged looks for the first event in which two runs of one seed differ.
func diverged(p *lang.Program, seed uint64, r RunOptions, a, b *Result) Failure {
	r.Keep = 0
	x, y := RunProgram(p, seed, r), RunProgram(p, seed, r)
	f := Failure{What: "replay: the same scenario and seed gave two traces", Saw: "digests " + a.Digest + " and " + b.Digest}
	ex, ey := x.Trace.Last(x.Trace.Len()), y.Trace.Last(y.Trace.Len())
	for i := range min(len(ex), len(ey)) {
		if ex[i].String() != ey[i].String() {
			f.Saw += fmt.Sprintf("; they part at event %d:\none:   %s\nother: %s", i+1, ex[i], ey[i])
			f.Events = ex[max(0, i-5):i]
			break
		}
	}
	return f
}

func (s *summary) add(runs []*Result) {
	failed := false
	for _, r := range runs {
		s.runs++
		s.virtual += r.Virtual
		failed = failed || r.Outcome != Passed
		s.broken = s.broken || r.Outcome == Broken
	}
	if failed {
		s.failed++
	} else {
		s.passed++
	}
}

// savedAs is what the traces and recorded runs of a file are called, but for the seed.
func savedAs(file string) string {
	name := strings.NewReplacer("/", "-", "\\", "-").Replace(strings.TrimSuffix(file, lang.Ext))
	return strings.TrimLeft(name, ".-")
}

// clash finds two files of which one would write what the other has written.
func (o Options) clash(programs []*lang.Program) error {
	if o.Trace == "" && o.Record == "" {
		return nil
	}
	files := map[string]string{}
	for _, p := range programs {
		name, file := savedAs(p.File.Name), p.File.Name
		if other, taken := files[name]; taken {
			return fmt.Errorf("--trace and --record would write the runs of %s and %s into the same files, %s-seed…; run one after the other, into two directories", other, file, name)
		}
		files[name] = file
	}
	return nil
}

// save writes the traces and recorded runs that were asked for.
func (o Options) save(runs []*Result) error {
	for _, r := range runs {
		name := fmt.Sprintf("%s-seed%d", savedAs(r.File), r.Seed)
		if o.Trace != "" {
			if err := writeFile(filepath.Join(o.Trace, name+".trace"), func(w io.Writer) error { _, err := r.Trace.WriteTo(w); return err }); err != nil {
				return err
			}
		}
		if o.Record != "" {
			if err := writeFile(filepath.Join(o.Record, name+".sim"), func(w io.Writer) error { _, err := w.Write(r.Record); return err }); err != nil {
				return err
			}
		}
	}
	return nil
}

// update writes a scenario whose golden blocks a run has filled in. One without any stays as it is.
func (o Options) update(p *lang.Program) error {
	golden := func(s *syntax.Statement) bool { return s.Golden != nil }
	if !o.Update || !slices.ContainsFunc(p.File.Statements(), golden) {
		return nil
	}
	before, err := os.ReadFile(p.File.Name)
	if err != nil {
		return err
	}
	if after := syntax.Format(p.File); !bytes.Equal(before, after) {
		return os.WriteFile(p.File.Name, after, 0o644)
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close() // the first error is the one to report
		return err
	}
	return f.Close()
}

// watchdog ends the command when a run makes no step for 30 s of real time: a
// task that computes without end cannot be stopped from inside.
type watchdog struct {
	stderr io.Writer
	quit   chan struct{}
	once   sync.Once
}

func (d *watchdog) start(jobs []*job) {
	d.quit = make(chan struct{})
	go func() {
		last := map[*job]int64{}
		since := map[*job]time.Time{}
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-d.quit:
				return
			case now := <-tick.C:
				for _, j := range jobs {
					beat := j.beat.Load()
					if !j.active.Load() || beat != last[j] || since[j].IsZero() {
						last[j], since[j] = beat, now
					} else if now.Sub(since[j]) > stuckAfter {
						d.bark(j)
					}
				}
			}
		}
	}()
}

func (d *watchdog) stop() { d.once.Do(func() { close(d.quit) }) }

func (d *watchdog) bark(j *job) {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	fmt.Fprintf(d.stderr, "sim: %s, seed %d, made no step for %s (%v); stacks:\n%s\n", j.prog.File.Name, j.seed, stuckAfter, j.state.Load(), buf)
	os.Exit(ExitHarness)
}

// progress prints a plain line every ten seconds, so that a long sweep is seen to
// live; on a terminal it redraws one line.
type progress struct {
	quit chan struct{}
	gone chan struct{}
}

func startProgress(stderr io.Writer, jobs []*job) *progress {
	p := &progress{make(chan struct{}), make(chan struct{})}
	every, end := 10*time.Second, "\n"
	if f, ok := stderr.(*os.File); ok && isTerminal(f) {
		every, end = 200*time.Millisecond, "\r"
	}
	go func() {
		defer close(p.gone)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.quit:
				if end == "\r" {
					fmt.Fprint(stderr, "\033[K")
				}
				return
			case <-tick.C:
				done, failed := 0, 0
				for _, j := range jobs {
					select {
					case <-j.done:
						done++
						if j.result.Outcome != Passed {
							failed++
						}
					default:
					}
				}
				fmt.Fprintf(stderr, "%d of %d runs, %d failed%s", done, len(jobs), failed, end)
			}
		}
	}()
	return p
}

func (p *progress) stop() {
	close(p.quit)
	<-p.gone
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
