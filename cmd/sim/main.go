// Command sim runs, checks and formats scenarios (design 8). It parses flags and
// calls packages scenarios and scenarios/lang; it has no logic of its own.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit statuses beside those of a sweep.
const (
	exitOK      = 0
	exitUsage   = 2 // usage or vet error
	exitHarness = 3 // nothing is known of the scenarios
)

func main() {
	// Worlds are small and short-lived: collecting their garbage less often takes a
	// quarter off a sweep and costs some tens of megabytes.
	debug.SetGCPercent(400)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// env is what a command may use. It sets status unless it returns an error.
type env struct {
	stdout, stderr io.Writer
	status         int
}

// run is the whole program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	e := &env{stdout: stdout, stderr: stderr}
	helped := false
	var c cli
	parser := kong.Must(&c,
		kong.Name("sim"),
		kong.Description("Runs a real engine against virtual-clock fakes. A PATTERN is a scenario file, a directory, or a tree (scenarios/...)."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	command, err := parser.Parse(args)
	if helped {
		return exitOK
	}
	if err != nil {
		var usage *kong.ParseError
		if errors.As(err, &usage) {
			message := err.Error()
			if strings.Contains(message, "expected uint value") { // kong would have -1 written in another way
				message, _, _ = strings.Cut(message, " (short flag)")
			}
			err = fmt.Errorf("sim: %s (sim --help)", message)
		}
		return fail(stderr, err)
	}
	if err := command.Run(e); err != nil {
		return cmp.Or(e.status, fail(stderr, err))
	}
	return e.status
}

func fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, err)
	return exitUsage
}
