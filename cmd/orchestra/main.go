// Command orchestra runs the engine for real: as a daemon (serve), with a hub and workers
// on loopback to try it with (hub), and as a client that asks for books (request, status,
// ...). docs/running.md says how they fit together.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// Exit statuses.
const (
	exitOK      = 0
	exitFailure = 1 // it ran, and what was asked for did not come about
	exitUsage   = 2 // usage, or a setting that cannot work

	exitInterrupted = 130 // by SIGINT, as a shell says it; also by SIGTERM
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// env is what a command may use.
type env struct {
	ctx            context.Context // ends when the process is told to stop
	stdout, stderr io.Writer
	client         *http.Client // to talk to a replica
}

type cli struct {
	Serve   serveCmd   `cmd:"" help:"Run a replica of the engine until it is told to stop."`
	Migrate migrateCmd `cmd:"" help:"Bring the schema of the PostgreSQL store up to date."`
	Hub     hubCmd     `cmd:"" help:"Run a job hub and its workers on loopback, to try the engine on one machine."`

	Request    askCmd       `cmd:"" help:"Ask a replica for what a book, or a part of it, still lacks."`
	Regenerate askCmd       `cmd:"" help:"Ask for all of it anew."`
	Reset      askCmd       `cmd:"" help:"Put it back to its beginning, and ask for it."`
	Edit       editCmd      `cmd:"" help:"Say that its content has changed, and ask for what it lacks now."`
	Cancel     askCmd       `cmd:"" help:"Stop all work on it."`
	Delete     askCmd       `cmd:"" help:"Forget it."`
	Status     statusCmd    `cmd:"" help:"Say where the stages of a book are."`
	Times      timesCmd     `cmd:"" help:"Say when the pictures of a scene are shown over its audio."`
	Clear      clearCmd     `cmd:"" help:"Clear what keeps it from being tried."`
	Reconcile  reconcileCmd `cmd:"" help:"Make a reconcile pass now."`
}

const description = `The engine that turns book scenes into media jobs on GPU workers.

Each setting is a flag or the environment variable named beside it. Keys and passwords
belong into the environment: a flag stands in the list of processes. Several replicas with
the same Redis, hub, books and artifacts share the work; each may die at any time.

Try it: start redis-server, then "orchestra hub", "orchestra serve" and
"orchestra request b1" with the same ORCHESTRA_HUB_KEY, ORCHESTRA_ARTIFACTS and
ORCHESTRA_BOOKS (see docs/running.md).`

// run is the whole program: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	for i, arg := range args {
		if !utf8.ValidString(arg) { // JSON would make another id of it
			fmt.Fprintf(stderr, "orchestra: argument %d, %q, is not valid UTF-8\n", i+1, arg)
			return exitUsage
		}
	}
	helped := false
	var c cli
	parser := kong.Must(&c,
		kong.Name("orchestra"),
		kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	command, err := parser.Parse(args)
	if helped {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "orchestra: %v (orchestra --help)\n", err)
		return exitUsage
	}
	client := newClient()
	defer client.CloseIdleConnections()
	err = command.Run(&env{ctx: ctx, stdout: stdout, stderr: stderr, client: client}, command)
	var setting *settingError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &setting):
		fmt.Fprintln(stderr, "orchestra: "+err.Error())
		return exitUsage
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(stderr, "orchestra: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(stderr, "orchestra: "+err.Error())
	return exitFailure
}
