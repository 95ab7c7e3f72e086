package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/animastor/orchestra/ports"
)

var (
	// ErrDSN says that a DSN makes no sense. It is not quoted: it may hold a password.
	ErrDSN = errors.New("the DSN cannot be used")
	// ErrSchema says that the tables of the database are not those of this program.
	ErrSchema = errors.New("the tables are not those of this program")
)

// Error is what went wrong with a call.
type Error struct {
	Op      string // as in a trace: pointer, publish, mark, ..., and open, migrate
	Subject string // scene, unit, stage or book as ports writes them; "" if there is none
	Err     error  // wraps a sentinel of this package or of ports
	Hint    string // what to do about it, or ""
}

func (e *Error) Error() string {
	text := "pg " + e.Op
	if e.Subject != "" {
		text += " " + e.Subject
	}
	text += ": " + e.Err.Error()
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// call names a call in its errors.
type call struct{ op, subject string }

// failed makes an Error of what went wrong with a call.
func (c call) failed(err error) error {
	switch {
	case errors.Is(err, ports.ErrInvalid):
		return &Error{Op: c.op, Subject: c.subject, Err: err}
	case errors.Is(err, ports.ErrUndecodable):
		return &Error{Op: c.op, Subject: c.subject, Err: err, Hint: "mend or delete the row; docs/store.md describes the tables"}
	case errors.Is(err, pgx.ErrNoRows):
		return &Error{Op: c.op, Subject: c.subject, Err: ports.ErrNoRow}
	}
	return &Error{Op: c.op, Subject: c.subject, Err: fmt.Errorf("%w: %w", ports.ErrUnreadable, err), Hint: hint(err)}
}

// hint says what to do about an error of PostgreSQL, by the class of its code
// (https://www.postgresql.org/docs/15/errcodes-appendix.html).
func hint(err error) string {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		var connect *pgconn.ConnectError
		switch {
		case errors.As(err, &connect):
			return "is PostgreSQL running, and does the DSN name its host and port?"
		case errors.Is(err, context.DeadlineExceeded):
			return "no answer within the deadline: a write may have been carried out"
		}
		return "the connection was lost: a write may have been carried out"
	}
	switch code := answer.Code; {
	case code == "42501":
		return "grant the role of the DSN all rights to the tables and the sequence orchestra_*"
	case code == "42P01", code == "42703", code == "42883", code == "3F000":
		return "run `orchestra migrate`"
	case code == "25006":
		return "the DSN names a server that takes no writes: is it a replica?"
	case code == "57014":
		return "the server took too long: see its statement_timeout and who holds locks (pg_stat_activity)"
	case code == "53300":
		return "the server takes no more connections: lower pool_max_conns in the DSN"
	case code == "3D000":
		return "create the database, or name another one in the DSN"
	case strings.HasPrefix(code, "28"):
		return "check user and password of the DSN"
	case strings.HasPrefix(code, "57P"):
		return "the server is starting or was stopped"
	}
	return ""
}
