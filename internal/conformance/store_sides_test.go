package conformance

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/fakes"
	"github.com/animastor/orchestra/fakes/pointers"
	"github.com/animastor/orchestra/internal/pgtest"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/pgstore"
	"github.com/animastor/orchestra/sim"
)

// database is a database of the real server, and the store on it.
type database struct {
	name  string
	admin *pgxpool.Pool // past the store, as one who may do everything
	store ports.Pointers
	times *pgstore.Store // the same, with nothing planted in it
}

// newDatabase makes a database with the tables of the store.
func newDatabase(t *testing.T) *database {
	t.Helper()
	needPostgres(t)
	name, err := postgres.NewDatabase(ctx)
	require.NoError(t, err)
	require.NoError(t, pgstore.Migrate(ctx, postgres.DSN(pgtest.Role, name)))
	d := &database{name: name, times: open(t, postgres.DSN(pgtest.Role, name))}
	d.store = planted(d.times)
	d.admin, err = pgxpool.New(ctx, postgres.AdminDSN(name))
	require.NoError(t, err)
	t.Cleanup(d.admin.Close)
	return d
}

// open opens the store of a DSN.
func open(t *testing.T, dsn string) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(ctx, dsn)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// planted is a store with what is planted in it.
func planted(s *pgstore.Store) ports.Pointers {
	if plant := storePlants[*plantName]; plant != nil {
		return plant(s)
	}
	return s
}

// do carries a statement out past the store.
func (d *database) do(t tester, sql string, args ...any) {
	t.Helper()
	if _, err := d.admin.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// tables are those of the store; the last one is what others refer to.
var tables = []string{"orchestra_pointers", "orchestra_marks", "orchestra_versions", "orchestra_times", "orchestra_tombstones", "orchestra_scenes"}

// empty takes all rows away. Numbers go on.
func (d *database) empty(t tester) {
	t.Helper()
	d.do(t, "DELETE FROM "+strings.Join(tables, "; DELETE FROM "))
}

// cut cuts the connections of the store.
func (d *database) cut(t tester) {
	t.Helper()
	d.do(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = $2", d.name, pgtest.Role)
}

// answers waits until the store answers again after its connections were cut.
func (d *database) answers(t tester) {
	t.Helper()
	waitForAnswer(t, d.store)
}

func waitForAnswer(t tester, s ports.Pointers) {
	t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
		if _, err = s.Buried(ctx, "b"); err == nil {
			return
		}
	}
	t.Fatalf("the store never recovered: %v", err)
}

// locked runs do while others wait for the tables, and so for its end.
func (d *database) locked(t tester, do func()) {
	t.Helper()
	err := pgx.BeginFunc(ctx, d.admin, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE "+strings.Join(tables, ", ")); err != nil {
			return err
		}
		do()
		return nil
	})
	if err != nil {
		t.Fatalf("lock: %v", err)
	}
}

// inWorld runs do with a fake store, in a process of a world with these faults.
func inWorld(t tester, do func(context.Context, ports.Runtime, ports.Pointers), faults ...sim.Rule) {
	t.Helper()
	w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{"pg": {Min: 1, Max: time.Millisecond}}})
	defer w.Close()
	for _, fault := range faults {
		w.Inject(fault)
	}
	store, ended := pointers.New(w), false
	p := w.Process("e1")
	p.Go(p.Context(), "case", func(ctx context.Context) {
		do(ctx, fakes.Runtime{Process: p}, store)
		ended = true
	})
	w.RunFor(time.Hour)
	if failures := w.Failures(); len(failures) > 0 || len(w.Unfired()) > 0 || !ended {
		t.Fatalf("the fake: %v, unfired %v", failures, w.Unfired())
	}
}

// storePlants are differences that can be planted in the real store, to see that they are found.
var storePlants = map[string]func(ports.Pointers) ports.Pointers{
	"empty-on-outage": func(s ports.Pointers) ports.Pointers { return emptyOnOutage{s} },
	"settle":          func(s ports.Pointers) ports.Pointers { return settlesAll{s} },
}

// emptyOnOutage is a store whose query for pointers reads an outage as a store without any, as
// the published engine did (audit 143a B2).
type emptyOnOutage struct{ ports.Pointers }

// Published implements ports.Pointers.
func (s emptyOnOutage) Published(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.Pointer], error) {
	page, err := s.Pointers.Published(ctx, scene, after)
	if errors.Is(err, ports.ErrUnreadable) {
		err = nil
	}
	return page, err
}

// settlesAll is a store that settles marks that are newer than what was made, too.
type settlesAll struct{ ports.Pointers }

// Settle implements ports.Pointers.
func (s settlesAll) Settle(ctx context.Context, scene ports.SceneID, unit string, _ int64) error {
	return s.Pointers.Settle(ctx, scene, unit, math.MaxInt64)
}
