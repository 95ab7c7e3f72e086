package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/animastor/orchestra/internal/pgtest"
)

// ErrNoPostgres says that there is no PostgreSQL to start, and how one comes by it.
var ErrNoPostgres = errors.New("there is no PostgreSQL here: install Debian's package postgresql, or name its program with --postgres PATH")

// FindPostgres is the path of the program postgres: as it was named, or, if that is "", the
// first of the search path, or the newest of Debian's.
func FindPostgres(named string) (string, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%w (%w)", ErrNoPostgres, err)
		}
		return path, nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return path, nil
	}
	list, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(list) == 0 {
		return "", ErrNoPostgres
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) // 9 before 15
	return list[len(list)-1], nil
}

// Postgres is a throw-away PostgreSQL with a database for each stack. It may be asked by many
// at once.
type Postgres struct {
	server *pgtest.Server
	one    sync.Mutex
}

// StartPostgres starts one.
func StartPostgres(ctx context.Context, path string) (*Postgres, error) {
	server, err := pgtest.Start(ctx, path)
	return &Postgres{server: server}, err
}

// NewDSN connects to a new, empty database.
func (p *Postgres) NewDSN(ctx context.Context) (string, error) {
	p.one.Lock()
	defer p.one.Unlock()
	name, err := p.server.NewDatabase(ctx)
	return p.server.DSN(pgtest.Role, name), err
}

// Close ends it and removes all of it.
func (p *Postgres) Close() error { return p.server.Close() }
