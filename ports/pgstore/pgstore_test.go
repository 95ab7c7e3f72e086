package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
)

// What needs a server is in internal/conformance.

// TestNoPasswordInErrors: whatever is wrong with a DSN, no part of its password is told.
func TestNoPasswordInErrors(t *testing.T) {
	for _, dsn := range []string{
		"postgres://user:top/secret@host/db", "postgres://user:12/secret@host/db", "postgres://user:%zzsecret@host/db", "postgres://user:se%cret@host:port/db", "postgres://user:secret@host:99999/db", "postgres://user:secret@host/db?sslmode=wrong",
		"postgres://user:se cret@host/db?sslmode=wrong", "postgres://user:secret@[::1/db", "postgres://host/db?user=u&password=secret&sslmode=wrong",
		"postgres://user:secret@host/db?sslrootcert=/nonexistent/secret-file&password=secret", "postgres://user:top@secret@host:x/db", "postgresql://:secret@:x/",
		"host=h password=top secret", "host=h password='secret", "host=h password=secret port=x", "password=secret sslmode=wrong host=h", "host=h passwort=secret port=0",
		"secret", "user:secret@host/db", "mysql://user:secret@host/db?x=%zz",
	} {
		t.Run(dsn, func(t *testing.T) {
			for _, act := range []func() error{
				func() error { _, err := Open(t.Context(), dsn); return err },
				func() error { return Migrate(t.Context(), dsn) },
			} {
				err := act()
				require.ErrorIs(t, err, ErrDSN)
				for _, part := range []string{"secret", "cret", "top", "12/"} {
					for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
						require.NotContains(t, text, part)
					}
				}
			}
		})
	}
}

// TestWhyUnparsed: what can be said without the password is said.
func TestWhyUnparsed(t *testing.T) {
	for dsn, says := range map[string]string{
		"":                                "it is empty",
		"postgres://u:p@host:99999/db":    "port",
		"postgres://u:p@h/db?sslmode=odd": "sslmode",
		"postgres://u:p/w@host/db":        "%XX",
	} {
		_, err := Open(t.Context(), dsn)
		require.ErrorIs(t, err, ErrDSN)
		require.ErrorContains(t, err, says)
	}
}

// TestErrors: which of the errors of ports it is, and what to do about it.
func TestErrors(t *testing.T) {
	answer := func(code string) error { return &pgconn.PgError{Severity: "ERROR", Code: code, Message: "m"} }
	for _, test := range []struct {
		err  error
		is   error
		hint string
	}{
		{pgx.ErrNoRows, ports.ErrNoRow, ""},
		{ports.ValidateID("unit", ""), ports.ErrInvalid, ""},
		{fmt.Errorf("%w: x", ports.ErrUndecodable), ports.ErrUndecodable, "mend or delete"},
		{answer("42501"), ports.ErrUnreadable, "grant"},
		{answer("42P01"), ports.ErrUnreadable, "migrate"},
		{answer("25006"), ports.ErrUnreadable, "replica"},
		{answer("57014"), ports.ErrUnreadable, "statement_timeout"},
		{answer("57P01"), ports.ErrUnreadable, "stopped"},
		{answer("53300"), ports.ErrUnreadable, "pool_max_conns"},
		{answer("3D000"), ports.ErrUnreadable, "create the database"},
		{answer("28P01"), ports.ErrUnreadable, "password"},
		{answer("XX001"), ports.ErrUnreadable, ""},
		{answer("40001"), ports.ErrUnreadable, ""},
		{context.DeadlineExceeded, ports.ErrUnreadable, "deadline"},
		{io.ErrUnexpectedEOF, ports.ErrUnreadable, "connection was lost"},
	} {
		err := call{"mark", "b/c/s"}.failed(test.err)
		require.ErrorIs(t, err, test.is)
		require.ErrorContains(t, err, "pg mark b/c/s: ")
		require.ErrorContains(t, err, test.hint)
		for _, other := range []error{ports.ErrNoRow, ports.ErrInvalid, ports.ErrUndecodable, ports.ErrUnreadable} {
			require.Equal(t, other == test.is, errors.Is(err, other), "%v is %v", err, other)
		}
		var told *Error
		require.ErrorAs(t, err, &told)
		require.Equal(t, "mark", told.Op)
	}
}

// TestSchemaVersion is the number of the last migration.
func TestSchemaVersion(t *testing.T) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	require.NoError(t, err)
	require.Len(t, files, SchemaVersion)
	require.True(t, strings.HasPrefix(files[len(files)-1], fmt.Sprintf("migrations/%05d_", SchemaVersion)))
}

// TestKey: no two scenes share a key.
func TestKey(t *testing.T) {
	seen := map[string]ports.SceneID{}
	for _, id := range []ports.SceneID{{Book: "a", Chapter: "b", Scene: "c"}, {Book: "ab", Chapter: "", Scene: "c"}, {Book: "", Chapter: "ab", Scene: "c"},
		{Book: "a", Chapter: "bc", Scene: ""}, {Book: "a:b", Chapter: "c", Scene: ""}, {Book: "a", Chapter: "b:c", Scene: ""}} {
		k := string(key(id))
		require.Len(t, k, 32)
		require.NotContains(t, seen, k)
		seen[k] = id
	}
}
