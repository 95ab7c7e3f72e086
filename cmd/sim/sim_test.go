package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/scenarios"
	"github.com/animastor/orchestra/scenarios/lang"
)

// sim runs the command in a directory of its own that holds the files given by
// name and text.
func sim(t *testing.T, files map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	var out, err bytes.Buffer
	status = run(args, &out, &err)
	return status, out.String(), err.String()
}

const good = "scenario good\n\nbook     b1\nrequest  b1\nrun      10s\n"

func TestBadScenarios(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"misspelt verb", good + "exepct state b1/*:image = ready\n", "x.sim:6:1: unknown verb exepct (did you mean expect?)\n"},
		{"left-over argument", good + "run 5s 6s\n", "x.sim:6:8: left-over argument 6s (usage: run DURATION)\n"},
		{"bad duration", good + "run 5\n", "x.sim:6:5: bad duration 5 (write a unit, as in 5s)\n"},
		{"unknown id", good + "expect state b2/*:image = ready\n", "x.sim:6:14: unknown book b2 (did you mean b1?)\n"},
		{"unclosed quote", good + "cancel \"b1\n", "x.sim:6:8: the quote is not closed (a quoted string ends with \" on the same line)\n"},
		{"binary file", "\x7fELF\x02\x01\x00\x00", "x.sim:1:7: not a text file: NUL byte (a scenario is UTF-8 text)\n"},
		{"empty file", "", "x.sim: no scenario: there is no statement in it (begin with scenario \"what it shows\")\n"},
		{"two errors", "scenario x\nrun\nrnu 5s\n", "x.sim:2:1: duration is missing after run (usage: run DURATION)\nx.sim:3:1: unknown verb rnu (did you mean run?)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, command := range []string{"run", "vet", "list"} {
				status, stdout, stderr := sim(t, map[string]string{"x.sim": c.text}, command, "x.sim")
				require.Equal(t, c.want, stderr, command)
				require.Empty(t, stdout, command)
				require.Equal(t, exitUsage, status, command)
			}
		})
	}
}

func TestBadUsage(t *testing.T) {
	files := map[string]string{"s/good.sim": good, "s/x.sim": "run\n", "s/y.sim": "\n", "empty/readme.txt": "", "a/b.sim": good, "a-b.sim": good}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `sim: expected one of "run", "vet", "fmt", "help", "list" (sim --help)`},
		{[]string{"rnu"}, `sim: unexpected argument rnu, did you mean "run"? (sim --help)`},
		{[]string{"run"}, `sim: expected "<pattern> ..." (sim --help)`},
		{[]string{"run", "--sed=1", "s"}, `sim: unknown flag --sed, did you mean one of "--seed", "--seeds"? (sim --help)`},
		{[]string{"run", "--seed=1", "--seeds=2", "s"}, `sim: --seed and --seeds can't be used together (sim --help)`},
		{[]string{"run", "--seeds=0", "s"}, `sim: run: --seeds is at least 1 (sim --help)`},
		{[]string{"run", "--seed", "-1", "s"}, `sim: --seed: expected uint value but got "-1" (sim --help)`},
		{[]string{"run", "--update", "--seed=1", "s"}, "sim: run: --update takes no seed: golden blocks are those of the first seed of the file (sim --help)"},
		{[]string{"run", "--update", "--seeds=2", "s"}, "sim: run: --update takes no seed: golden blocks are those of the first seed of the file (sim --help)"},
		{[]string{"run", "--record=r", "a/b.sim", "a-b.sim"}, "sim: --trace and --record would write the runs of a-b.sim and a/b.sim into the same files, a-b-seed…; run one after the other, into two directories"},
		{[]string{"run", "--trace=r", "a/b.sim", "a-b.sim"}, "sim: --trace and --record would write the runs of a-b.sim and a/b.sim into the same files, a-b-seed…; run one after the other, into two directories"},
		{[]string{"run", ""}, `"": the pattern is empty (this directory is . and its tree ...)`},
		{[]string{"run", "--format=xml", "s"}, `sim: --format must be one of "text","json","junit" but got "xml" (sim --help)`},
		{[]string{"run", "--live", "--seeds=2", "s"}, "sim: run: --live takes no seed, and none of --twice, --record, --lua and --update: those are of worlds (sim --help)"},
		{[]string{"run", "empty"}, "empty: no scenarios here (they are called *.sim)"},
		{[]string{"vet", "empty/...", "gone.sim"}, "empty/...: no scenarios here (they are called *.sim)\ngone.sim: no such file or directory"},
		{[]string{"fmt", "gone"}, "gone: no such file or directory"},
		{[]string{"help", "setle"}, "sim help: no verb or metric setle (did you mean settle?)"},
		{[]string{"vet", "s/..."}, "s/x.sim:1:1: the first statement must be scenario (as in scenario \"what it shows\")\n" +
			"s/x.sim:1:1: duration is missing after run (usage: run DURATION)\n" +
			"s/y.sim: no scenario: there is no statement in it (begin with scenario \"what it shows\")"},
	} {
		status, stdout, stderr := sim(t, files, c.args...)
		require.Equal(t, c.want+"\n", stderr, c.args)
		require.Empty(t, stdout, c.args)
		require.Equal(t, exitUsage, status, c.args)
	}
}

func TestRun(t *testing.T) {
	wrong := good + "expect attempts b1/c1/s1:image = 7\n"
	files := map[string]string{"s/good.sim": good, "s/wrong.sim": wrong}

	status, stdout, stderr := sim(t, files, "run", "s/good.sim", "--seeds", "3", "--twice", "--lua")
	require.Equal(t, []any{exitOK, ""}, []any{status, stderr})
	require.Contains(t, stdout, "3 runs: ")
	require.True(t, strings.HasSuffix(stdout, "\n1 passed, 0 failed\n"), stdout)

	// A failing run names the line, what was seen, the last events and how to run it again.
	status, stdout, _ = sim(t, files, "run", "s/...")
	require.Equal(t, scenarios.ExitFailed, status)
	line := strings.Count(wrong, "\n")
	require.Contains(t, stdout, fmt.Sprintf("s/wrong.sim:%d:1: seed 1, at 10s: expect attempts = 7\n      of   b1/c1/s1:image\n      saw  1\n", line))
	require.Contains(t, stdout, "finish b1/c1/s1:image")
	require.Contains(t, stdout, "rerun: go run ./cmd/sim run s/wrong.sim --seed 1\n")
	require.True(t, strings.HasSuffix(stdout, "\n1 passed, 1 failed\n"), stdout)

	_, stdout, _ = sim(t, files, "run", "s/wrong.sim", "--lua", "--twice")
	require.Contains(t, stdout, "rerun: go run ./cmd/sim run s/wrong.sim --seed 1 --lua\n", "the two runs are the same")

	status, stdout, _ = sim(t, files, "run", "s/...", "--format=json")
	require.Equal(t, scenarios.ExitFailed, status)
	var outcomes []string
	for _, object := range strings.Split(strings.TrimSpace(stdout), "\n") {
		var run struct{ Scenario, Outcome, Digest string }
		require.NoError(t, json.Unmarshal([]byte(object), &run))
		require.Len(t, run.Digest, 16)
		outcomes = append(outcomes, run.Scenario+" "+run.Outcome)
	}
	require.Equal(t, []string{"s/good.sim passed", "s/wrong.sim failed"}, outcomes)

	status, stdout, _ = sim(t, files, "run", "s/...", "--format=junit")
	require.Equal(t, scenarios.ExitFailed, status)
	require.Contains(t, stdout, `<testsuite name="scenarios" tests="2" failures="1"`)

	// A recorded run goes the same way again.
	status, _, _ = sim(t, files, "run", "s/good.sim", "--record=r", "--trace=t")
	require.Equal(t, exitOK, status)
	recorded, err := os.ReadFile("r/s-good-seed1.sim")
	require.NoError(t, err)
	require.Contains(t, string(recorded), "replay   strict\n")
	require.FileExists(t, "t/s-good-seed1.trace")
}

// A fault that names no verb hits the calls that its effect means something to: no upload, here.
func TestFaultWithoutVerb(t *testing.T) {
	text := strings.Replace(good, "request", "workers  image=1\nfault    artifacts missing\nrequest", 1) + "run      5m\nexpect   state b1/c1/s1:image != ready\n"
	status, stdout, _ := sim(t, map[string]string{"x.sim": text}, "run", "x.sim")
	require.Equal(t, exitOK, status, stdout)
	require.NotContains(t, stdout, "hit nothing")
}

// A recorded fault has the parameter of the one that fired.
func TestRecordedParameters(t *testing.T) {
	text := `scenario x

book     b1
workers  image=1 job=1s
fault    hub post reject status=404 nth=1
fault    worker run fail code=job_timeout nth=1
fault    redis admit evict key="a key" nth=1
fault    redis pipeline cut first=1 nth=1
request  b1
run      5m
`
	status, stdout, _ := sim(t, map[string]string{"x.sim": text}, "run", "x.sim", "--record=r")
	require.Equal(t, exitOK, status, stdout)
	recorded, err := os.ReadFile("r/x-seed1.sim")
	require.NoError(t, err)
	for _, want := range []string{"reject status=404\n", "fail code=job_timeout\n", "evict key=\"a key\"\n", "cut first=1\n"} {
		require.Contains(t, string(recorded), want)
	}
	var out bytes.Buffer
	require.Equal(t, exitOK, run([]string{"run", "r/x-seed1.sim"}, &out, &out), out.String())
}

func TestUpdateWritesGoldenBlocks(t *testing.T) {
	stale := good + "show     state b1/c1/s1:image\n----\nstale\n----\n"
	fresh := strings.Replace(stale, "stale", "state b1/c1/s1:image = pending", 1)
	status, stdout, _ := sim(t, map[string]string{"x.sim": stale}, "run", "x.sim")
	require.Equal(t, scenarios.ExitFailed, status)
	require.Contains(t, stdout, "x.sim:7:1: seed 1, at 10s: the golden block is not what is shown here")
	status, _, _ = sim(t, map[string]string{"x.sim": stale}, "run", "x.sim", "--update")
	require.Equal(t, exitOK, status)
	written, err := os.ReadFile("x.sim")
	require.NoError(t, err)
	require.Equal(t, fresh, string(written))
	status, _, _ = sim(t, map[string]string{"x.sim": fresh}, "run", "x.sim")
	require.Equal(t, exitOK, status)
}

// TestUpdateIsOfGoldenBlocks: a file without any keeps its layout, too.
func TestUpdateIsOfGoldenBlocks(t *testing.T) {
	text := "scenario  x\nbook b1\n  run 1s\n"
	status, stdout, _ := sim(t, map[string]string{"x.sim": text}, "run", "x.sim", "--update")
	require.Equal(t, exitOK, status, stdout)
	written, err := os.ReadFile("x.sim")
	require.NoError(t, err)
	require.Equal(t, text, string(written))
}

// TestShown: what several seeds show says of which seed it is, in every format that shows it.
func TestShown(t *testing.T) {
	files := map[string]string{"x.sim": good + "show     state b1/*:image\n"}
	_, stdout, _ := sim(t, files, "run", "x.sim", "--seeds=2")
	require.Contains(t, stdout, "      seed 1:\n      state b1/c1/s1:image = pending\n      seed 2:\n      state b1/c1/s1:image = pending\n")
	_, stdout, _ = sim(t, files, "run", "x.sim")
	require.NotContains(t, stdout, "seed 1:")
	_, stdout, _ = sim(t, files, "run", "x.sim", "--format=json")
	require.Contains(t, stdout, `"shown":["state b1/c1/s1:image = pending"]`)
}

// TestNoTimePasses: what ends at its beginning passes, and proves nothing.
func TestNoTimePasses(t *testing.T) {
	const note = "no time passed, so it proves nothing: let some pass, with run or settle\n"
	status, stdout, _ := sim(t, map[string]string{"x.sim": "scenario x\nbook b1\nworkers image=1\nrequest b1\n"}, "run", "x.sim")
	require.Equal(t, exitOK, status)
	require.Contains(t, stdout, note)
	_, stdout, _ = sim(t, map[string]string{"x.sim": good}, "run", "x.sim")
	require.NotContains(t, stdout, note)
}

func TestVetListHelp(t *testing.T) {
	files := map[string]string{"scenarios/good.sim": good}
	status, stdout, stderr := sim(t, files, "vet", "scenarios")
	require.Equal(t, []any{exitOK, "", ""}, []any{status, stdout, stderr})
	status, stdout, _ = sim(t, files, "list")
	require.Equal(t, []any{exitOK, "scenarios/good.sim: good (1)\n"}, []any{status, stdout})
	want, err := lang.Help("run")
	require.NoError(t, err)
	status, stdout, _ = sim(t, files, "help", "run")
	require.Equal(t, []any{exitOK, want}, []any{status, stdout})
	status, stdout, stderr = sim(t, files, "run", "--help")
	require.Equal(t, []any{exitOK, ""}, []any{status, stderr})
	require.Contains(t, stdout, "--seeds=N")
}

func TestFmt(t *testing.T) {
	files := map[string]string{"a.sim": good, "b.sim": "run 5s # x", "c.sim": "run \""}
	status, stdout, _ := sim(t, files, "fmt", "a.sim", "b.sim")
	require.Equal(t, []any{exitOK, good + "run      5s # x\n"}, []any{status, stdout})

	status, stdout, stderr := sim(t, files, "fmt", "-l", "-w", ".")
	require.Equal(t, exitUsage, status)
	require.Equal(t, "b.sim\n", stdout)
	require.Contains(t, stderr, "c.sim:1:5: the quote is not closed")
	written, err := os.ReadFile("b.sim")
	require.NoError(t, err)
	require.Equal(t, "run      5s # x\n", string(written), "an error in one file does not keep the others from being written")
}

// TestLiveNeeds: what a live run needs and has not is said at once, and how one comes by it.
func TestLiveNeeds(t *testing.T) {
	files := map[string]string{"v.sim": "scenario v\nconfig versioned=yes\nbook b1\nrun 1s\n"}
	status, stdout, stderr := sim(t, files, "run", "--live", "--redis-server=./gone", "v.sim")
	require.Equal(t, []any{exitUsage, ""}, []any{status, stdout})
	require.Contains(t, stderr, "there is no Redis here: install Debian's package redis-server, or name its program with --redis-server PATH")

	self, err := os.Executable() // any program will do
	require.NoError(t, err)
	status, stdout, stderr = sim(t, files, "run", "--live", "--redis-server="+self, "--postgres=./gone", "v.sim")
	require.Equal(t, []any{exitUsage, ""}, []any{status, stdout})
	require.Contains(t, stderr, "a scenario is versioned, and there is no PostgreSQL here: install Debian's package postgresql, or name its program with --postgres PATH")

	status, stdout, stderr = sim(t, map[string]string{"g.sim": good}, "run", "--live", "--redis-server="+self, "--orchestra=./gone", "g.sim")
	require.Equal(t, []any{exitUsage, ""}, []any{status, stdout})
	require.Contains(t, stderr, "--orchestra names no program")

	// There is no module where the test runs.
	status, _, stderr = sim(t, map[string]string{"g.sim": good}, "run", "--live", "--redis-server="+self, "g.sim")
	require.Equal(t, exitHarness, status)
	require.Contains(t, stderr, "name the program with --orchestra PATH")

	// Where nothing can run live, that is what is said.
	status, _, stderr = sim(t, map[string]string{"f.sim": "scenario f\nbook b1\nlatency none\nrun 1s\n"}, "run", "--live", "--redis-server="+self, "--orchestra="+self, "f.sim")
	require.Equal(t, exitUsage, status)
	require.Equal(t, "sim: no scenario of these can run live\n", stderr)
}
