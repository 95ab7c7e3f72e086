package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/animastor/orchestra/ports"
)

// newLogger writes structured lines, none of which holds a secret.
func newLogger(w io.Writer, format, level string, secrets []string) *slog.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // the flag is one of an enum
	o, w := &slog.HandlerOptions{Level: l}, hider{w, replacer(secrets)}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// redisLog is the logger of go-redis, which has one for all clients of a process.
type redisLog struct{ log *slog.Logger }

// Printf implements what go-redis asks for.
func (l redisLog) Printf(ctx context.Context, format string, v ...any) {
	l.log.WarnContext(ctx, fmt.Sprintf(format, v...))
}

// replacer takes the secrets out of a text.
func replacer(secrets []string) *strings.Replacer {
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "***")
	}
	return strings.NewReplacer(pairs...)
}

// hider is a writer that takes the secrets out of what is written in one piece, as the
// handlers of slog write a line.
type hider struct {
	next io.Writer
	r    *strings.Replacer
}

var _ io.Writer = hider{}

// Write implements io.Writer.
func (h hider) Write(b []byte) (int, error) {
	if _, err := io.WriteString(h.next, h.r.Replace(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// hidden is an error whose text quotes no secret.
type hidden struct {
	err  error
	text string
}

func (h *hidden) Error() string { return h.text }

// Unwrap implements the errors package's convention.
func (h *hidden) Unwrap() error { return h.err }

func hide(err error, secrets []string) error {
	if err == nil {
		return nil
	}
	return &hidden{err, replacer(secrets).Replace(err.Error())}
}

// observer logs what the engine does.
type observer struct {
	log *slog.Logger
	hub string // its URL, which stands beside what it refused
}

var _ ports.Observer = observer{}

// Observe implements ports.Observer.
func (o observer) Observe(e ports.Event) {
	level, fields := spell(e)
	if ofHub(e) {
		fields = append(fields, "hub", o.hub)
	}
	o.log.Log(context.Background(), level, e.Kind(), fields...)
}

// ofHub says whether an event is about a request that the hub refused, or did not answer.
func ofHub(e ports.Event) bool {
	switch e := e.(type) {
	case ports.JobOutcome:
		return e.Err != nil
	case ports.Swept:
		return e.Err != nil
	case ports.Trouble:
		var no *ports.Rejected
		return errors.As(e.Err, &no) || errors.Is(e.Err, ports.ErrAmbiguous)
	}
	return false
}

// spell says how loud an event is, and what stands in its line.
func spell(e ports.Event) (slog.Level, []any) {
	switch e := e.(type) {
	case ports.Intent:
		return slog.LevelInfo, []any{"stage", e.Stage.String(), "op", e.Op, "generation", e.Generation, "state", e.State, "replaced", e.Replaced}
	case ports.Attempt:
		return slog.LevelInfo, []any{"stage", e.Stage.String(), "dispatch", e.Dispatch, "generation", e.Generation, "fence", e.Fence, "jobs", len(e.Jobs), "probe", e.Probe}
	case ports.Refusal:
		if e.Edge {
			return slog.LevelInfo, []any{"stage", e.Stage.String(), "reason", e.Reason, "stored", e.Stored}
		}
		return slog.LevelDebug, []any{"stage", e.Stage.String(), "reason", e.Reason, "stored", e.Stored}
	case ports.JobOutcome:
		return failing(slog.LevelDebug, e.Err, "stage", e.Stage.String(), "dispatch", e.Dispatch, "job", e.Job, "outcome", e.Outcome, "final", e.Final)
	case ports.Result:
		return slog.LevelDebug, []any{"stage", e.Stage.String(), "dispatch", e.Dispatch, "job", e.Job, "verdict", e.Verdict}
	case ports.Finish:
		return slog.LevelInfo, []any{"stage", e.Stage.String(), "dispatch", e.Dispatch, "outcome", e.Outcome, "reason", e.Reason, "bucket", e.Bucket, "state", e.State,
			"window_seconds", e.WindowSeconds, "retryable", e.Retryable, "sent", e.Sent, "budget", e.Budget, "circuit", e.Circuit}
	case ports.Renewal:
		return slog.LevelDebug, []any{"stage", e.Stage.String(), "dispatch", e.Dispatch, "verdict", e.Verdict}
	case ports.Retired:
		return slog.LevelInfo, []any{"scene", e.Scene.String()}
	case ports.Swept:
		return failing(slog.LevelInfo, e.Err, "dispatch", e.Dispatch, "book", e.Book, "requested", e.Requested, "cleared", e.Cleared, "failed", e.Failed)
	case ports.Tick:
		if e.Summary.Errors > 0 {
			return slog.LevelWarn, []any{"number", e.Number, "summary", e.Summary}
		}
		return slog.LevelDebug, []any{"number", e.Number, "skipped", e.Skipped, "summary", e.Summary}
	case ports.Pass:
		return spellPass(e)
	case ports.Restored:
		return slog.LevelInfo, []any{"stage", e.Stage.String(), "verdict", e.Verdict}
	case ports.Trouble:
		fields := []any{"op", e.Op, "error", e.Err}
		if e.Scene != (ports.SceneID{}) {
			fields = append(fields, "scene", e.Scene.String())
		}
		if panicked := (*ports.PanicError)(nil); errors.As(e.Err, &panicked) {
			fields = append(fields, "stack", panicked.Stack)
		}
		return slog.LevelWarn, fields
	case ports.Started:
		return slog.LevelInfo, []any{"first_tick_after", e.Delay.String()}
	}
	return slog.LevelDebug, []any{"event", e}
}

// failing is what is said of an event, louder and with its error if it has one.
func failing(level slog.Level, err error, fields ...any) (slog.Level, []any) {
	if err == nil {
		return level, fields
	}
	return slog.LevelWarn, append(fields, "error", err)
}

func spellPass(e ports.Pass) (slog.Level, []any) {
	fields := []any{"number", e.Number, "skipped", e.Skipped, "cause", e.Cause, "suspicious", e.Suspicious, "report", e.Report}
	quiet := e.Report
	quiet.Scenes, quiet.Live, quiet.Proved = 0, 0, 0
	switch {
	case e.Cause != "":
		return slog.LevelWarn, fields
	case quiet != (ports.Reconciled{}):
		return slog.LevelInfo, fields
	}
	return slog.LevelDebug, fields
}
