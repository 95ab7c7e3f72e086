package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/pgtest"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/pgstore"
	"github.com/animastor/orchestra/ports/pointerstest"
)

var storeScene = ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}

// fill puts a row into each table.
func (d *database) fill(t *testing.T, scene ports.SceneID) {
	t.Helper()
	fillStore(t, ctx, d.store, scene)
}

func fillStore(t *testing.T, ctx context.Context, s ports.Pointers, scene ports.SceneID) {
	t.Helper()
	_, err := s.Publish(ctx, scene, ports.Pointer{Unit: "u1", Path: "x", Status: ports.PointerOK, Generation: 1})
	require.NoError(t, err)
	_, err = s.Mark(ctx, scene, []string{"u1"})
	require.NoError(t, err)
	require.NoError(t, s.Stamp(ctx, scene.Of("image"), 1))
	require.NoError(t, s.Bury(ctx, scene.Book))
}

// stands checks that the rows of fill are there.
func (d *database) stands(t *testing.T, scene ports.SceneID) {
	t.Helper()
	published, err := ports.AllPublished(ctx, d.store, scene)
	require.NoError(t, err)
	require.Equal(t, "x", published["u1"].Path)
	marks, err := ports.AllMarks(ctx, d.store, scene)
	require.NoError(t, err)
	require.Positive(t, marks["u1"])
	version, err := d.store.Stamped(ctx, scene.Of("image"))
	require.NoError(t, err)
	require.EqualValues(t, 1, version)
	buried, err := d.store.Buried(ctx, scene.Book)
	require.NoError(t, err)
	require.Equal(t, ports.Present, buried)
}

// outages are ways in which PostgreSQL cannot be read, each while ask runs, and what the errors
// say of it.
var outages = []struct {
	name, says string
	during     func(t *testing.T, d *database, ask func(context.Context))
}{
	{"permission revoked", "permission denied for table", func(t *testing.T, d *database, ask func(context.Context)) {
		d.do(t, "REVOKE ALL ON "+strings.Join(tables, ", ")+" FROM "+pgtest.Role)
		defer d.do(t, "GRANT ALL ON "+strings.Join(tables, ", ")+" TO "+pgtest.Role)
		ask(ctx)
	}},
	{"statement timeout", "statement_timeout", func(t *testing.T, d *database, ask func(context.Context)) {
		d.do(t, "ALTER DATABASE "+d.name+" SET statement_timeout = '100ms'")
		renew := func() { // what is connected keeps its settings
			d.cut(t)
			d.answers(t)
		}
		defer renew()
		defer d.do(t, "ALTER DATABASE "+d.name+" RESET statement_timeout")
		renew()
		d.locked(t, func() { ask(ctx) })
	}},
	{"deadline of the caller", "no answer within the deadline", func(t *testing.T, d *database, ask func(context.Context)) {
		d.locked(t, func() { ask(context.WithValue(ctx, askTimeout{}, 100*time.Millisecond)) })
	}},
	{"the caller has given up", "context canceled", func(t *testing.T, d *database, ask func(context.Context)) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		ask(ctx)
	}},
	{"tables gone", "orchestra migrate", func(t *testing.T, d *database, ask func(context.Context)) {
		for _, table := range tables {
			d.do(t, "ALTER TABLE "+table+" RENAME TO gone_"+table)
			defer d.do(t, "ALTER TABLE gone_"+table+" RENAME TO "+table)
		}
		ask(ctx)
	}},
	{"too many connections", "pool_max_conns", func(t *testing.T, d *database, ask func(context.Context)) {
		d.do(t, "ALTER ROLE "+pgtest.Role+" CONNECTION LIMIT 0")
		defer d.do(t, "ALTER ROLE "+pgtest.Role+" CONNECTION LIMIT -1")
		d.cut(t)
		time.Sleep(10 * time.Millisecond)
		_, _ = d.store.Buried(ctx, "b") // may still find a connection that was cut
		_, _ = d.store.Buried(ctx, "b")
		ask(ctx)
	}},
	{"server stopped", "", func(t *testing.T, d *database, ask func(context.Context)) {
		require.NoError(t, postgres.Stop())
		defer func() { require.NoError(t, postgres.Restart(ctx)) }()
		ask(ctx)
	}},
}

// askTimeout is the key of how long each method may take.
type askTimeout struct{}

// TestStoreOutage: whatever keeps PostgreSQL from being read, every method answers ErrUnreadable,
// and none an empty list; afterwards all is there as before. (The same of the fake: TestOutage
// in fakes/pointers.)
func TestStoreOutage(t *testing.T) {
	d := newDatabase(t)
	for _, outage := range outages {
		t.Run(outage.name, func(t *testing.T) {
			d.empty(t)
			d.fill(t, storeScene)
			outage.during(t, d, func(ctx context.Context) {
				for _, method := range pointerstest.Methods() {
					began := time.Now()
					require.NoError(t, askInTime(ctx, d.store, method), "postgresql, %s", outage.name)
					require.Less(t, time.Since(began), 8*time.Second)
				}
				timesAreUnreadable(t, ctx, d)
				ctx, cancel := inTime(ctx)
				defer cancel()
				if _, err := d.store.Published(ctx, storeScene, ""); *plantName == "" {
					require.ErrorContains(t, err, "pg pointer b1/c1/s1: ")
					require.ErrorContains(t, err, outage.says)
				}
			})
			d.answers(t)
			d.stands(t, storeScene)
		})
	}
}

func askInTime(ctx context.Context, s ports.Pointers, method string) error {
	ctx, cancel := inTime(ctx)
	defer cancel()
	return pointerstest.Outage(ctx, s, method)
}

func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if timeout, ok := ctx.Value(askTimeout{}).(time.Duration); ok {
		return context.WithTimeout(ctx, timeout)
	}
	return ctx, func() {}
}

// TestStoreRestart: a server that crashed and came back has lost nothing that was answered.
func TestStoreRestart(t *testing.T) {
	d := newDatabase(t)
	d.fill(t, storeScene)
	first, err := d.store.Mark(ctx, storeScene, []string{"u2"})
	require.NoError(t, err)
	require.NoError(t, postgres.Restart(ctx))
	d.answers(t)
	d.stands(t, storeScene)
	second, err := d.store.Mark(ctx, storeScene, []string{"u2"})
	require.NoError(t, err)
	require.Greater(t, second, first, "the sequence went back")
}

// TestStoreUndecodable: a row that makes no sense is told from one that cannot be read and from
// none; other scenes are read as ever; the next write mends it.
func TestStoreUndecodable(t *testing.T) {
	d := newDatabase(t)
	for _, column := range []struct{ table, column string }{
		{"pointers", "path"}, {"pointers", "status"}, {"pointers", "generation"}, {"pointers", "version"}, {"pointers", "mark"},
		{"marks", "number"}, {"versions", "version"},
	} {
		d.do(t, "ALTER TABLE orchestra_"+column.table+" ALTER "+column.column+" DROP NOT NULL")
	}
	for _, check := range []string{"pointers DROP CONSTRAINT orchestra_pointers_generation_check", "pointers DROP CONSTRAINT orchestra_pointers_version_check",
		"pointers DROP CONSTRAINT orchestra_pointers_mark_check", "marks DROP CONSTRAINT orchestra_marks_number_check", "versions DROP CONSTRAINT orchestra_versions_version_check"} {
		d.do(t, "ALTER TABLE orchestra_"+check)
	}
	good := ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s2"}
	for name, broken := range map[string]struct {
		set  []string
		says string
	}{
		"numbers that are NULL": {[]string{"pointers SET generation = NULL", "marks SET number = NULL", "versions SET version = NULL"},
			"generation is NULL of the unit u1"},
		"numbers below zero": {[]string{"pointers SET mark = -1", "marks SET number = -9", "versions SET version = -1"},
			"mark is -1 of the unit u1"},
		"a path that is NULL": {[]string{"pointers SET path = NULL", "marks SET number = 0", "versions SET version = -9223372036854775808"},
			"path is NULL of the unit u1"},
	} {
		t.Run(name, func(t *testing.T) {
			d.empty(t)
			d.fill(t, storeScene)
			d.fill(t, good)
			for _, set := range broken.set {
				d.do(t, "UPDATE orchestra_"+set+" WHERE scene = (SELECT key FROM orchestra_scenes WHERE scene = 's1')")
			}
			require.NoError(t, pointerstest.Undecodable(ctx, d.store, storeScene))
			_, err := d.store.Published(ctx, storeScene, "")
			require.ErrorContains(t, err, broken.says)
			require.ErrorContains(t, err, "mend or delete the row")
			d.stands(t, good)
			d.fill(t, storeScene)
			d.stands(t, storeScene)
		})
	}
	d.do(t, "ALTER TABLE orchestra_pointers ALTER generation TYPE text")
	d.cut(t) // what is connected has prepared the statement for numbers
	d.answers(t)
	_, err := d.store.Published(ctx, storeScene, "")
	require.ErrorIs(t, err, ports.ErrUndecodable)
	require.ErrorContains(t, err, "generation is a string, not a int64")
}

// TestStoreSchema: Open says what is wrong with a database, Migrate mends what it can.
func TestStoreSchema(t *testing.T) {
	needPostgres(t)
	name, err := postgres.NewDatabase(ctx)
	require.NoError(t, err)
	dsn := postgres.DSN(pgtest.Role, name)
	opens := func(says string) {
		t.Helper()
		s, err := pgstore.Open(ctx, dsn)
		if says == "" {
			require.NoError(t, err)
			s.Close()
			return
		}
		require.ErrorIs(t, err, pgstore.ErrSchema)
		require.ErrorContains(t, err, says)
	}
	opens("there are none; run `orchestra migrate`")
	done := make(chan error)
	for range 4 { // replicas that are started at once
		go func() { done <- pgstore.Migrate(ctx, dsn) }()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	opens("")
	require.NoError(t, pgstore.Migrate(ctx, dsn))
	require.NoError(t, postgres.Admin(ctx, name, "DROP VIEW orchestra_unit_times", "DROP TABLE orchestra_times", "DELETE FROM orchestra_migrations WHERE version_id = 2"))
	opens("version 1, not 2; run `orchestra migrate`")
	require.NoError(t, pgstore.Migrate(ctx, dsn))
	opens("")
	require.NoError(t, postgres.Admin(ctx, name, "UPDATE orchestra_migrations SET is_applied = false"))
	opens("version 0, not 2; run `orchestra migrate`")
	require.NoError(t, postgres.Admin(ctx, name, "UPDATE orchestra_migrations SET is_applied = true", "INSERT INTO orchestra_migrations (version_id, is_applied) VALUES (99, true)"))
	opens("version 99, not 2; a newer orchestra migrated them")
	require.ErrorIs(t, pgstore.Migrate(ctx, dsn), pgstore.ErrSchema)
	require.NoError(t, postgres.Admin(ctx, "postgres", "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0 OWNER "+pgtest.Role))
	dsn = postgres.DSN(pgtest.Role, "latin")
	require.ErrorIs(t, pgstore.Migrate(ctx, dsn), pgstore.ErrSchema)
	opens("encoding LATIN1; create it with ENCODING 'UTF8'")
}

// TestStoreUnreachable: whatever keeps Open from connecting, it says so soon, without the password.
func TestStoreUnreachable(t *testing.T) {
	needPostgres(t)
	const wrong = "s3cr3t"
	for name, c := range map[string]struct{ dsn, says string }{
		"no database":    {postgres.DSN(pgtest.Role, "nowhere"), "create the database"},
		"no role":        {postgres.DSN("nobody-there", "postgres"), "check user and password"},
		"wrong password": {strings.Replace(postgres.DSN(pgtest.Locked, "postgres"), "@", ":"+wrong+"@", 1), "check user and password"},
		"no socket":      {"postgres://u:" + wrong + "@/d?host=/nonexistent", "is PostgreSQL running"},
		"no port":        {"postgres://u:" + wrong + "@127.0.0.1:1/d", "is PostgreSQL running"},
		"no host":        {"host=nowhere.invalid user=u dbname=d password='" + wrong + "'", "is PostgreSQL running"},
		"no answer":      {"postgres://u:" + wrong + "@192.0.2.1/d?connect_timeout=1", "is PostgreSQL running"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, act := range []func() error{
				func() error { _, err := pgstore.Open(ctx, c.dsn); return err },
				func() error { return pgstore.Migrate(ctx, c.dsn) },
			} {
				began := time.Now()
				err := act()
				require.ErrorIs(t, err, ports.ErrUnreadable)
				require.ErrorContains(t, err, c.says)
				require.NotContains(t, err.Error(), wrong)
				require.Less(t, time.Since(began), 8*time.Second)
			}
		})
	}
	s, err := pgstore.Open(ctx, strings.Replace(postgres.DSN(pgtest.Locked, "postgres"), "@", ":"+pgtest.Password+"@", 1))
	require.Nil(t, s)
	require.ErrorIs(t, err, pgstore.ErrSchema, "the right password lets it in")
}
