package scenarios

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// summary counts scenarios, not runs.
type summary struct {
	passed, failed int
	leftOut        int // of a live sweep
	live, broken   bool
	virtual, wall  time.Duration
	runs           int
}

// status is the exit status of a sweep.
func (s summary) status() int {
	switch {
	case s.broken:
		return ExitHarness
	case s.failed > 0:
		return ExitFailed
	}
	return ExitPassed
}

// reporter prints results in one of the formats of `sim run`.
type reporter interface {
	scenario(file, name string, runs []*Result)
	leftOut(file, name, why string)
	end(s summary)
}

// newReporter returns the reporter of a format: text, json or junit.
func newReporter(format string, out io.Writer) reporter {
	switch format {
	case "json":
		return &jsonReporter{json.NewEncoder(out)}
	case "junit":
		return &junitReporter{out: out}
	}
	return &textReporter{out: out}
}

type textReporter struct{ out io.Writer }

func (r *textReporter) scenario(file, name string, runs []*Result) {
	var virtual, wall time.Duration
	failed := 0
	for _, run := range runs {
		virtual, wall = virtual+run.Virtual, wall+run.Wall
		if run.Outcome != Passed {
			failed++
		}
	}
	verdict := "ok  "
	if failed > 0 {
		verdict = "FAIL"
	}
	seeds := "1 seed"
	if len(runs) != 1 {
		seeds = fmt.Sprintf("%d seeds", len(runs))
	}
	if runs[0].Live {
		fmt.Fprintf(r.out, "%s  %-58s %8s  %10s\n", verdict, file, "live", round(wall))
	} else {
		fmt.Fprintf(r.out, "%s  %-58s %8s  %10s in %s\n", verdict, file, seeds, round(virtual), round(wall))
	}
	for _, run := range runs {
		if len(runs) > 1 && len(run.Shown) > 0 {
			fmt.Fprintf(r.out, "      seed %d:\n", run.Seed)
		}
		for _, line := range run.Shown {
			fmt.Fprintln(r.out, indent(line))
		}
	}
	if virtual == 0 && failed == 0 && !runs[0].Live {
		fmt.Fprintln(r.out, "      no time passed, so it proves nothing: let some pass, with run or settle")
	}
	for _, rule := range neverFired(runs) {
		fmt.Fprintf(r.out, "      this fault hit nothing with any seed, so it proves nothing: %s\n", rule)
	}
	shown := 0
	for _, run := range runs {
		if run.Outcome == Passed {
			continue
		}
		if shown++; shown > 3 {
			fmt.Fprintf(r.out, "      … and %d more seeds\n", failed-3)
			break
		}
		r.failures(run)
	}
}

// neverFired are the rules that hit nothing in any of the runs.
func neverFired(runs []*Result) []string {
	never := runs[0].Unfired
	for _, run := range runs[1:] {
		never = slices.DeleteFunc(slices.Clone(never), func(rule string) bool { return !slices.Contains(run.Unfired, rule) })
	}
	return never
}

func (r *textReporter) failures(run *Result) {
	for _, f := range run.Failures {
		where := run.File
		if f.Pos.Line > 0 {
			where = fmt.Sprintf("%s:%d:%d", run.File, f.Pos.Line, f.Pos.Col)
		}
		which := fmt.Sprintf("seed %d", run.Seed)
		if run.Live {
			which = "live"
		}
		fmt.Fprintf(r.out, "%s: %s, at %s: %s\n", where, which, round(f.At), f.What)
		if f.Subject != "" {
			fmt.Fprintf(r.out, "      of   %s\n", f.Subject)
		}
		fmt.Fprintf(r.out, "      saw  %s\n", strings.ReplaceAll(f.Saw, "\n", "\n           "))
		for _, e := range f.Events {
			fmt.Fprintf(r.out, "      | %s\n", e)
		}
	}
	fmt.Fprintf(r.out, "      rerun: %s\n", Rerun(run))
}

// Rerun is the command that repeats a run.
func Rerun(run *Result) string {
	if run.Live {
		return "go run ./cmd/sim run --live " + run.File
	}
	command := fmt.Sprintf("go run ./cmd/sim run %s --seed %d", run.File, run.Seed)
	if run.Lua {
		command += " --lua"
	}
	if run.Diverged {
		command += " --twice" // alone, each of the two may pass
	}
	return command
}

func (r *textReporter) leftOut(file, _, why string) {
	fmt.Fprintf(r.out, "left out  %s: %s\n", file, why)
}

func (r *textReporter) end(s summary) {
	if s.live {
		fmt.Fprintf(r.out, "%d scenarios ran for real in %s: %d passed, %d failed; %d were left out\n", s.runs, round(s.wall), s.passed, s.failed, s.leftOut)
		return
	}
	ratio := "n/a"
	if s.wall > 0 {
		ratio = fmt.Sprintf("%.0f times as fast as real time", float64(s.virtual)/float64(s.wall))
	}
	fmt.Fprintf(r.out, "%d runs: %s of virtual time in %s, %s\n", s.runs, round(s.virtual), round(s.wall), ratio)
	fmt.Fprintf(r.out, "%d passed, %d failed\n", s.passed, s.failed)
}

func indent(s string) string { return "      " + strings.ReplaceAll(s, "\n", "\n      ") }

func round(d time.Duration) time.Duration {
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d
}

// jsonReporter prints one object for each run.
type jsonReporter struct{ enc *json.Encoder }

type jsonRun struct {
	Scenario  string   `json:"scenario"`
	Name      string   `json:"name"`
	Seed      uint64   `json:"seed"`
	Outcome   string   `json:"outcome"`
	VirtualMs int64    `json:"virtual_ms"`
	WallMs    float64  `json:"wall_ms"`
	Calls     int      `json:"calls"`
	Digest    string   `json:"digest"`
	Why       string   `json:"why,omitempty"` // it was left out
	Unfired   []string `json:"unfired,omitempty"`
	Shown     []string `json:"shown,omitempty"`
	Failures  []string `json:"failures"`
}

func (r *jsonReporter) scenario(file, name string, runs []*Result) {
	for _, run := range runs {
		j := jsonRun{Scenario: file, Name: name, Seed: run.Seed, Outcome: run.Outcome, VirtualMs: run.Virtual.Milliseconds(),
			WallMs: float64(run.Wall.Microseconds()) / 1000, Calls: run.Calls, Digest: run.Digest, Unfired: run.Unfired, Shown: run.Shown, Failures: []string{}}
		for _, f := range run.Failures {
			j.Failures = append(j.Failures, f.String())
		}
		_ = r.enc.Encode(j) // a broken pipe ends the command anyway
	}
}

func (r *jsonReporter) leftOut(file, name, why string) {
	_ = r.enc.Encode(jsonRun{Scenario: file, Name: name, Outcome: "left out", Why: why, Failures: []string{}}) // as above
}

func (*jsonReporter) end(summary) {}

// String is the failure on one line.
func (f Failure) String() string {
	s := f.What
	if f.Pos.Line > 0 {
		s = fmt.Sprintf("%d:%d: %s", f.Pos.Line, f.Pos.Col, s)
	}
	if f.Subject != "" {
		s += " of " + f.Subject
	}
	return s + ": saw " + strings.ReplaceAll(f.Saw, "\n", "; ")
}

// junitReporter prints one test case for each run.
type junitReporter struct {
	out   io.Writer
	cases []junitCase
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr,omitempty"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (r *junitReporter) scenario(file, name string, runs []*Result) {
	for _, run := range runs {
		c := junitCase{Class: file, Name: fmt.Sprintf("%s, seed %d", name, run.Seed), Time: fmt.Sprintf("%.3f", run.Wall.Seconds())}
		if run.Outcome != Passed {
			var text strings.Builder
			(&textReporter{&text}).failures(run)
			c.Failure = &junitFailure{Message: run.Outcome, Text: text.String()}
		}
		r.cases = append(r.cases, c)
	}
}

func (r *junitReporter) leftOut(file, name, why string) {
	r.cases = append(r.cases, junitCase{Class: file, Name: name, Time: "0.000", Skipped: &junitSkipped{why}})
}

func (r *junitReporter) end(s summary) {
	suite := junitSuite{Name: "scenarios", Tests: len(r.cases), Time: fmt.Sprintf("%.3f", s.wall.Seconds()), Cases: r.cases}
	for _, c := range r.cases {
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Skipped != nil {
			suite.Skipped++
		}
	}
	fmt.Fprint(r.out, xml.Header)
	enc := xml.NewEncoder(r.out)
	enc.Indent("", "  ")
	_ = enc.Encode(suite) // a broken pipe ends the command anyway
	fmt.Fprintln(r.out)
}
