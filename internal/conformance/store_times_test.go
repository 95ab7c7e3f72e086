package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/pgstore"
	"github.com/animastor/orchestra/ports/pointerstest"
)

var (
	timesBefore = []ports.UnitTime{{Unit: "u1", End: time.Second}, {Unit: "u2", Start: time.Second, End: 3 * time.Second}}
	timesAfter  = []ports.UnitTime{{Unit: "u3", End: 5 * time.Second}}
)

// TestStoreTimes: the rules of times on PostgreSQL. (Those of the fake: TestTimesCases in
// fakes/content.)
func TestStoreTimes(t *testing.T) {
	d := newDatabase(t)
	for _, c := range pointerstest.TimesCases() {
		t.Run(c.Name, func(t *testing.T) {
			d.empty(t)
			require.NoError(t, c.Run(ctx, ports.NewSystem(), pointerstest.Times{
				Timings: d.times, Edit: func(ports.SceneID, int64) {}, // it knows of no content
				Read: func(ctx context.Context, scene ports.SceneID) ([]ports.UnitTime, error) {
					_, times, err := d.times.Times(ctx, scene)
					if errors.Is(err, ports.ErrNoRow) {
						err = nil
					}
					return times, err
				},
			}))
		})
	}
}

// TestStoreTimesView: a reader sees a row for each unit, in their order.
func TestStoreTimesView(t *testing.T) {
	d := newDatabase(t)
	require.NoError(t, d.times.SetTimes(ctx, storeScene, 4, timesBefore))
	var units []string
	var start, end, version int64
	require.NoError(t, d.admin.QueryRow(ctx, `SELECT array_agg(unit ORDER BY number), max(start_ms), max(end_ms), max(version)
FROM orchestra_unit_times WHERE book = 'b1' AND chapter = 'c1' AND scene = 's1'`).Scan(&units, &start, &end, &version))
	require.Equal(t, []string{"u1", "u2"}, units)
	require.Equal(t, []int64{1000, 3000, 4}, []int64{start, end, version})
}

// keeps checks what is kept of the scene.
func keeps(t *testing.T, s *pgstore.Store, version int64, want []ports.UnitTime) {
	t.Helper()
	is, got, err := s.Times(ctx, storeScene)
	require.NoError(t, err)
	require.Equal(t, version, is)
	require.Equal(t, want, got)
}

// timesAreUnreadable checks both methods in an outage.
func timesAreUnreadable(t *testing.T, ctx context.Context, d *database) {
	t.Helper()
	for _, act := range []func(context.Context) error{
		func(ctx context.Context) error { return d.times.SetTimes(ctx, storeScene, 1, timesAfter) },
		func(ctx context.Context) error {
			_, times, err := d.times.Times(ctx, storeScene)
			require.Empty(t, times)
			return err
		},
	} {
		ctx, cancel := inTime(ctx)
		err := act(ctx)
		cancel()
		require.ErrorIs(t, err, ports.ErrUnreadable)
		require.NotErrorIs(t, err, ports.ErrNoRow)
	}
}

// TestStoreTimesCut: of times whose connection is cut, all are kept or none.
func TestStoreTimesCut(t *testing.T) {
	d := newDatabase(t)
	require.NoError(t, d.times.SetTimes(ctx, storeScene, 1, timesBefore))
	done := make(chan error)
	d.locked(t, func() {
		go func() { done <- d.times.SetTimes(ctx, storeScene, 2, timesAfter) }()
		d.waiting(t, 1)
		d.cut(t)
		require.ErrorIs(t, <-done, ports.ErrUnreadable)
	})
	d.answers(t)
	keeps(t, d.times, 1, timesBefore)

	lossy := newLossyProxy(t, serverSocket())
	behind := open(t, d.dsnBehind(lossy))
	require.NoError(t, behind.SetTimes(ctx, ports.SceneID{Book: "b2", Chapter: "c", Scene: "s"}, 1, timesAfter)) // prepares the statement
	lossy.loseAfter(0)
	require.ErrorIs(t, behind.SetTimes(ctx, storeScene, 2, timesAfter), ports.ErrUnreadable)
	keeps(t, d.times, 2, timesAfter)
	require.NoError(t, behind.SetTimes(ctx, storeScene, 2, timesAfter))
	keeps(t, d.times, 2, timesAfter)
}

// TestStoreTimesUndecodable: a row that makes no sense is told from none, and gives way to
// the next times.
func TestStoreTimesUndecodable(t *testing.T) {
	d := newDatabase(t)
	d.do(t, "ALTER TABLE orchestra_times ALTER version DROP NOT NULL, DROP CONSTRAINT orchestra_times_check, DROP CONSTRAINT orchestra_times_version_check")
	for _, set := range []string{"version = NULL", "version = -1", "units = ARRAY['u1', NULL]", "starts = ARRAY[0]", "ends = ARRAY[-1, -1]"} {
		require.NoError(t, d.times.SetTimes(ctx, storeScene, 3, timesBefore))
		d.do(t, "UPDATE orchestra_times SET "+set)
		_, times, err := d.times.Times(ctx, storeScene)
		require.ErrorIs(t, err, ports.ErrUndecodable, set)
		require.Empty(t, times)
		require.NoError(t, d.times.SetTimes(ctx, storeScene, 3, timesAfter))
		keeps(t, d.times, 3, timesAfter)
	}
}
