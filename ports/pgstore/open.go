package pgstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// connectTimeout is how long one connection is tried, unless the DSN says otherwise
// (connect_timeout, in seconds).
const connectTimeout = 5 * time.Second

// versionTable is where goose notes which migrations were made.
const versionTable = "orchestra_migrations"

//go:embed migrations/*.sql
var migrations embed.FS

// SchemaVersion is the version of the tables that this program works with: the number of the
// last migration.
const SchemaVersion = 2

// Open connects to the database of a DSN (postgres://user:password@host:5432/database, or
// key=value pairs as for libpq; pool_max_conns bounds the connections). It checks that the
// server answers, and that the tables are those of this program. The error says which is wrong:
// ErrDSN, ports.ErrUnreadable, or ErrSchema.
func Open(ctx context.Context, dsn string) (*Store, error) {
	c := call{op: "open"}
	config, err := parse(c, dsn)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, c.failed(err)
	}
	s := &Store{pool}
	if err := s.check(ctx, c); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Migrate makes the tables of an empty or older database those of this program. Several may
// do so at once; one does it. Made again, it changes nothing.
func Migrate(ctx context.Context, dsn string) error {
	c := call{op: "migrate"}
	config, err := parse(c, dsn)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	defer func() { _ = db.Close() }() // nothing is left to be written
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return c.failed(err)
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60)) // tries each second
	if err != nil {
		return c.failed(err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithTableName(versionTable),
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return c.failed(err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return c.failed(err)
	}
	s, err := Open(ctx, dsn)
	if err != nil {
		return err
	}
	s.Close()
	return nil
}

// parse reads a DSN.
func parse(c call, dsn string) (*pgxpool.Config, error) {
	bad := func(why string) error {
		return &Error{Op: c.op, Err: fmt.Errorf("%w: %s", ErrDSN, why), Hint: "write postgres://user:password@host:5432/database, with %XX for other characters"}
	}
	if dsn == "" {
		return nil, bad("it is empty")
	}
	if u, err := url.Parse(dsn); err == nil && u.Scheme != "" && u.User == nil && strings.Contains(u.Path, "@") {
		return nil, bad("an @ stands after a slash, where a part of the password would be taken for the database")
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, bad(whyUnparsed(dsn))
	}
	for parameter := range config.ConnConfig.RuntimeParams { // a server would quote it
		if strings.Trim(parameter, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.") != "" {
			return nil, bad("it has a parameter whose name is none")
		}
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	config.ConnConfig.RuntimeParams["client_encoding"] = "UTF8"
	if _, named := config.ConnConfig.RuntimeParams["application_name"]; !named {
		config.ConnConfig.RuntimeParams["application_name"] = "orchestra"
	}
	return config, nil
}

// whyUnparsed says what pgx has against a DSN, as far as it can be said without a password:
// what it has against the same DSN without user and password.
func whyUnparsed(dsn string) string {
	const secret = "it makes no sense to pgx (not shown, for it may hold a password)"
	scheme, rest, isURL := strings.Cut(dsn, "://")
	if !isURL || strings.Contains(strings.ToLower(rest), "password") {
		return secret
	}
	host := rest[strings.LastIndex(rest, "@")+1:]
	_, err := pgxpool.ParseConfig(scheme + "://" + host)
	if err == nil {
		return "its user or password has characters that must be written as %XX"
	}
	return err.Error()
}

// check asks the server for what it must be: reachable, with texts in UTF-8, with our tables.
func (s *Store) check(ctx context.Context, c call) error {
	type state struct {
		encoding string
		migrated bool
	}
	is, err := one(ctx, s, c, nil, func(r *row) state { return state{r.text("encoding"), r.yes("migrated")} },
		`SELECT current_setting('server_encoding') AS encoding, to_regclass($1) IS NOT NULL AS migrated`, versionTable)
	switch {
	case err != nil:
		return err
	case is.encoding != "UTF8":
		return &Error{Op: c.op, Err: fmt.Errorf("%w: the database has the encoding %s", ErrSchema, is.encoding), Hint: "create it with ENCODING 'UTF8'"}
	case !is.migrated:
		return &Error{Op: c.op, Err: fmt.Errorf("%w: there are none", ErrSchema), Hint: "run `orchestra migrate`"}
	}
	version, err := one(ctx, s, c, nil, func(r *row) int64 { return r.number("version") },
		`SELECT coalesce(max(version_id), 0) AS version FROM `+pgx.Identifier{versionTable}.Sanitize()+` WHERE is_applied`)
	switch {
	case err != nil:
		return err
	case version < SchemaVersion:
		return &Error{Op: c.op, Err: fmt.Errorf("%w: version %d, not %d", ErrSchema, version, SchemaVersion), Hint: "run `orchestra migrate`"}
	case version > SchemaVersion:
		return &Error{Op: c.op, Err: fmt.Errorf("%w: version %d, not %d", ErrSchema, version, SchemaVersion), Hint: "a newer orchestra migrated them: run that one"}
	}
	return nil
}
