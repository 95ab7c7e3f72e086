package conformance

import (
	"context"
	"io"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/pgtest"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// storeWrites are the writes of a store, and whether they were carried out on a scene that
// database.fill made.
var storeWrites = []struct {
	verb  string
	write func(context.Context, ports.Pointers, ports.SceneID) error
	done  func(context.Context, ports.Pointers, ports.SceneID) (bool, error)
}{
	{"publish", func(ctx context.Context, s ports.Pointers, scene ports.SceneID) error {
		_, err := s.Publish(ctx, scene, ports.Pointer{Unit: "u1", Path: "y", Status: ports.PointerOK, Generation: 2})
		return err
	}, func(ctx context.Context, s ports.Pointers, scene ports.SceneID) (bool, error) {
		got, err := ports.AllPublished(ctx, s, scene)
		return got["u1"].Path == "y", err
	}},
	{"mark", func(ctx context.Context, s ports.Pointers, scene ports.SceneID) error {
		_, err := s.Mark(ctx, scene, []string{"u8", "u9"})
		return err
	}, func(ctx context.Context, s ports.Pointers, scene ports.SceneID) (bool, error) {
		got, err := ports.AllMarks(ctx, s, scene)
		return got["u8"] > 0 && got["u9"] > 0, err
	}},
	{"settle", func(ctx context.Context, s ports.Pointers, scene ports.SceneID) error {
		return s.Settle(ctx, scene, "u1", 1<<40)
	}, func(ctx context.Context, s ports.Pointers, scene ports.SceneID) (bool, error) {
		got, err := ports.AllMarks(ctx, s, scene)
		return got["u1"] == 0, err
	}},
	{"stamp", func(ctx context.Context, s ports.Pointers, scene ports.SceneID) error {
		return s.Stamp(ctx, scene.Of("image"), 2)
	}, func(ctx context.Context, s ports.Pointers, scene ports.SceneID) (bool, error) {
		got, err := s.Stamped(ctx, scene.Of("image"))
		return got == 2, err
	}},
	{"unbury", func(ctx context.Context, s ports.Pointers, scene ports.SceneID) error {
		return s.Unbury(ctx, scene.Book)
	}, func(ctx context.Context, s ports.Pointers, scene ports.SceneID) (bool, error) {
		got, err := s.Buried(ctx, scene.Book)
		return got == ports.Absent, err
	}},
	{"bury", func(ctx context.Context, s ports.Pointers, scene ports.SceneID) error {
		return s.Bury(ctx, scene.Book+"'")
	}, func(ctx context.Context, s ports.Pointers, scene ports.SceneID) (bool, error) {
		got, err := s.Buried(ctx, scene.Book+"'")
		return got == ports.Present, err
	}},
}

// TestStoreWriteCut: a connection that is cut in the middle of a write answers an error. Before
// the commit nothing was carried out, after it everything; made again, both are harmless.
func TestStoreWriteCut(t *testing.T) {
	for _, w := range storeWrites {
		carriedOut := func(t *testing.T, ctx context.Context, s ports.Pointers, want bool) {
			t.Helper()
			done, err := w.done(ctx, s, storeScene)
			require.NoError(t, err)
			require.Equal(t, want, done)
		}
		again := func(t *testing.T, ctx context.Context, s ports.Pointers) {
			t.Helper()
			for range 2 {
				require.NoError(t, w.write(ctx, s, storeScene))
				carriedOut(t, ctx, s, true)
			}
		}
		t.Run(w.verb+" before the commit", func(t *testing.T) {
			d := newDatabase(t)
			d.fill(t, storeScene)
			err := make(chan error)
			d.locked(t, func() {
				go func() { err <- w.write(ctx, d.store, storeScene) }()
				d.waiting(t, 1)
				d.cut(t)
				require.ErrorIs(t, <-err, ports.ErrUnreadable)
			})
			d.answers(t)
			carriedOut(t, ctx, d.store, false)
			again(t, ctx, d.store)
			whatTheFakeDoes(t, "refuse", w.verb, func(ctx context.Context, s ports.Pointers) {
				require.ErrorIs(t, w.write(ctx, s, storeScene), ports.ErrUnreadable)
				carriedOut(t, ctx, s, false)
				again(t, ctx, s)
			})
		})
		t.Run(w.verb+" after the commit", func(t *testing.T) {
			d := newDatabase(t)
			d.fill(t, storeScene)
			lossy, store := d.behindProxy(t)
			require.NoError(t, w.write(ctx, store, ports.SceneID{Book: "b2", Chapter: "c", Scene: "s"})) // prepares the statement
			lossy.loseAfter(0)
			require.ErrorIs(t, w.write(ctx, store, storeScene), ports.ErrUnreadable)
			require.Zero(t, lossy.lose.Load(), "no answer came by")
			carriedOut(t, ctx, d.store, true)
			again(t, ctx, store)
			whatTheFakeDoes(t, "lost", w.verb, func(ctx context.Context, s ports.Pointers) {
				require.ErrorIs(t, w.write(ctx, s, storeScene), ports.ErrUnreadable)
				carriedOut(t, ctx, s, true)
				again(t, ctx, s)
			})
		})
	}
}

// TestStoreReadCut: a page whose connection is cut after so many bytes is unreadable, or whole;
// never a part of it.
func TestStoreReadCut(t *testing.T) {
	d := newDatabase(t)
	lossy, store := d.behindProxy(t)
	require.NotContains(t, manyOp(storeScene, ports.PageRows).do(ctx, &storePlay{store: d.store}), "error")
	whole := func() {
		waitForAnswer(t, store)
		published, err := store.Published(ctx, storeScene, "")
		require.NoError(t, err)
		require.Len(t, published.Rows, ports.PageRows)
		marks, err := store.Marks(ctx, storeScene, "")
		require.NoError(t, err)
		require.Len(t, marks.Rows, ports.PageRows)
	}
	unreadable := map[string]int{}
	for _, bytes := range []int64{0, 1, 10, 50, 100, 500, 1000, 2000, 3000, 4000, 5000} {
		for name, read := range map[string]func() (int, error){
			"pointers": func() (int, error) {
				p, err := store.Published(ctx, storeScene, "")
				return len(p.Rows) + p.Total, err
			},
			"marks": func() (int, error) {
				p, err := store.Marks(ctx, storeScene, "")
				return len(p.Rows) + p.Total, err
			},
		} {
			whole() // prepares the statements
			lossy.loseAfter(bytes)
			rows, err := read()
			lossy.lose.Store(0)
			if err == nil {
				require.Equal(t, 2*ports.PageRows, rows, "%s after %d bytes: a part of a page, or an outage that reads as an empty one", name, bytes)
				continue
			}
			require.ErrorIs(t, err, ports.ErrUnreadable)
			require.Zero(t, rows, "%s after %d bytes", name, bytes)
			unreadable[name]++
		}
	}
	require.GreaterOrEqual(t, unreadable["pointers"], 8)
	require.GreaterOrEqual(t, unreadable["marks"], 6)
}

// behindProxy is the store of a database with one connection, which goes through a proxy.
func (d *database) behindProxy(t *testing.T) (*lossyProxy, ports.Pointers) {
	t.Helper()
	p := newLossyProxy(t, serverSocket())
	return p, planted(open(t, d.dsnBehind(p)))
}

// serverSocket is where the server listens.
func serverSocket() string { return filepath.Join(postgres.Dir(), ".s.PGSQL.5432") }

// dsnBehind leads to a database through a proxy, with one connection.
func (d *database) dsnBehind(p *lossyProxy) string {
	return strings.Replace(postgres.DSN(pgtest.Role, d.name), postgres.Dir(), p.dir, 1) + "&pool_max_conns=1"
}

// whatTheFakeDoes plays the same on the fake: the first call of a verb has a fault.
func whatTheFakeDoes(t *testing.T, effect, verb string, do func(context.Context, ports.Pointers)) {
	t.Helper()
	armed := false
	inWorld(t, func(ctx context.Context, rt ports.Runtime, s ports.Pointers) {
		ctx, cancel := rt.WithTimeout(ctx, time.Minute)
		defer cancel()
		fillStore(t, ctx, s, storeScene)
		armed = true
		do(ctx, s)
	}, sim.Rule{Effect: effect, Count: 1, Match: func(c sim.CallName) bool { return armed && c.Verb == verb }})
}

// TestStoreMarksInOrder: a mark that has drawn its number and is held up before its commit is not
// overtaken by one of another unit. Chance alone hardly ever shows it.
func TestStoreMarksInOrder(t *testing.T) {
	d := newDatabase(t)
	d.fill(t, storeScene) // marks u1
	done := make(chan error, 2)
	mark := func(unit string) {
		_, err := d.store.Mark(ctx, storeScene, []string{unit})
		done <- err
	}
	seen := int64(0)
	require.NoError(t, pgx.BeginFunc(ctx, d.admin, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT FROM orchestra_marks FOR UPDATE"); err != nil {
			return err
		}
		go mark("u1")
		d.waiting(t, 1)
		go mark("u2")
		for began := time.Now(); len(done) == 0 && d.waits(t) < 2 && time.Since(began) < 10*time.Second; {
			time.Sleep(time.Millisecond)
		}
		marks, err := ports.AllMarks(ctx, d.store, storeScene)
		seen = slices.Max(slices.Collect(maps.Values(marks)))
		return err
	}))
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	marks, err := ports.AllMarks(ctx, d.store, storeScene)
	require.NoError(t, err)
	require.Greater(t, marks["u1"], seen, "a mark was seen after a higher one: settling up to that would take it away unread")
}

// waiting waits until so many statements of the store wait for a lock.
func (d *database) waiting(t tester, statements int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
		if d.waits(t) >= statements {
			return
		}
	}
	t.Fatalf("no statement waits for the lock")
}

// waits counts the statements of the store that wait for a lock.
func (d *database) waits(t tester) (statements int) {
	t.Helper()
	if err := d.admin.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND usename = $2 AND wait_event_type = 'Lock'",
		d.name, pgtest.Role).Scan(&statements); err != nil {
		t.Fatalf("pg_stat_activity: %v", err)
	}
	return statements
}

// lossyProxy stands between a store and its server, and can lose an answer: it closes the
// connection after so many bytes of it.
type lossyProxy struct {
	dir  string // of its socket
	lose atomic.Int64
}

func (p *lossyProxy) loseAfter(bytes int64) { p.lose.Store(bytes + 1) } // 0: never

func newLossyProxy(t *testing.T, server string) *lossyProxy {
	p := &lossyProxy{dir: t.TempDir()}
	listener, err := net.Listen("unix", filepath.Join(p.dir, filepath.Base(server)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go p.serve(client, server)
		}
	}()
	return p
}

func (p *lossyProxy) serve(client net.Conn, server string) {
	defer func() { _ = client.Close() }()
	conn, err := net.Dial("unix", server)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.Copy(conn, client) // ends with either of them
		_ = conn.Close()
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		if after := p.lose.Swap(0); after > 0 {
			_, _ = client.Write(buf[:min(n, int(after-1))]) // the client may have gone
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}
