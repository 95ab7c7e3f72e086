package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/animastor/orchestra/ports"
)

var _ ports.Timings = (*Store)(nil)

// SetTimes implements ports.Timings, to the millisecond. It knows of no content but by the
// times that it was given: those of an older version than it keeps are dropped.
func (s *Store) SetTimes(ctx context.Context, scene ports.SceneID, version int64, times []ports.UnitTime) error {
	units, starts, ends := make([]string, len(times)), make([]int64, len(times)), make([]int64, len(times))
	for i, t := range times {
		units[i], starts[i], ends[i] = t.Unit, t.Start.Milliseconds(), t.End.Milliseconds()
	}
	_, err := s.exec(ctx, call{"set times", scene.String()}, scene.ValidateTimes(version, times), setTimesSQL, append(ids(scene), version, units, starts, ends)...)
	return err
}

// Times are the times of the units of a scene, in order, and the content version that they
// are of. The error is ports.ErrNoRow if there are none.
func (s *Store) Times(ctx context.Context, scene ports.SceneID) (version int64, times []ports.UnitTime, err error) {
	c := call{"times", scene.String()}
	var list []ports.UnitTime
	err = s.each(ctx, c, scene.Validate(), func(r *row) {
		ms := func(column string) time.Duration { return time.Duration(r.number(column)) * time.Millisecond }
		version = r.number("version")
		list = append(list, ports.UnitTime{Unit: r.text("unit"), Start: ms("start_ms"), End: ms("end_ms")})
	}, timesSQL, key(scene))
	switch {
	case err != nil:
		return 0, nil, err
	case len(list) == 0:
		return 0, nil, c.failed(pgx.ErrNoRows)
	}
	return version, list, nil
}
