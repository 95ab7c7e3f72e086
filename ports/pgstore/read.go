package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/animastor/orchestra/ports"
)

// callTimeout ends a call whose context has no deadline, or a later one.
const callTimeout = 10 * time.Second

// exec carries a statement out and says how many rows it wrote.
func (s *Store) exec(ctx context.Context, c call, valid error, sql string, args ...any) (rows int64, err error) {
	if valid != nil {
		return 0, c.failed(valid)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	tag, err := s.pool.Exec(ctx, sql, args...)
	if err != nil {
		return 0, c.failed(err)
	}
	return tag.RowsAffected(), nil
}

// page reads one page of a list of a scene, and one row more, which tells whether it is the last.
func page[T any](ctx context.Context, s *Store, c call, sql string, scene ports.SceneID, after string, read func(*row) T) (ports.Page[T], error) {
	var p ports.Page[T]
	last := ""
	err := s.each(ctx, c, scene.ValidatePage(after), func(r *row) {
		p.Total = int(r.number("total"))
		switch unit := r.values["unit"]; {
		case unit == nil: // an empty page
		case len(p.Rows) < ports.PageRows:
			p.Rows, last = append(p.Rows, read(r)), r.text("unit")
		default:
			p.Next = last
		}
	}, sql, key(scene), after, ports.PageRows+1)
	if err != nil {
		return ports.Page[T]{}, err
	}
	return p, nil
}

// one reads the one row that a statement answers.
func one[T any](ctx context.Context, s *Store, c call, valid error, read func(*row) T, sql string, args ...any) (answer T, err error) {
	var got T
	found := false
	err = s.each(ctx, c, valid, func(r *row) { got, found = read(r), true }, sql, args...)
	switch {
	case err != nil:
		return answer, err
	case !found:
		return answer, c.failed(pgx.ErrNoRows)
	}
	return got, nil
}

// each reads the rows that a statement answers, to the last one: fewer are an error, whatever
// has been read of them.
func (s *Store) each(ctx context.Context, c call, valid error, read func(*row), sql string, args ...any) error {
	if valid != nil {
		return c.failed(valid)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return c.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := decode(rows)
		if err == nil {
			read(r)
			err = r.err
		}
		if err != nil {
			return c.failed(err)
		}
	}
	if err := rows.Err(); err != nil {
		return c.failed(err)
	}
	return nil
}

// row is one row of an answer. What its columns hold is checked as it is read; err is the
// first that makes no sense.
type row struct {
	values map[string]any // by column
	err    error
}

// decode takes a row apart.
func decode(rows pgx.Rows) (*row, error) {
	values, err := rows.Values()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ports.ErrUndecodable, err)
	}
	r := &row{values: map[string]any{}}
	for i, column := range rows.FieldDescriptions() {
		r.values[column.Name] = values[i]
	}
	return r, nil
}

// number is a column that holds a number, none below zero.
func (r *row) number(column string) int64 {
	n := value[int64](r, column)
	if n < 0 {
		r.makesNoSense("%s is %d", column, n)
	}
	return n
}

func (r *row) text(column string) string { return value[string](r, column) }

func (r *row) yes(column string) bool { return value[bool](r, column) }

func value[T any](r *row, column string) T {
	v, ok := r.values[column].(T)
	switch {
	case ok:
	case r.values[column] == nil:
		r.makesNoSense("%s is NULL", column)
	default:
		r.makesNoSense("%s is a %T, not a %T", column, r.values[column], v)
	}
	return v
}

// makesNoSense notes what is wrong with a row; which one it is the unit tells, if it has one.
func (r *row) makesNoSense(format string, args ...any) {
	if r.err != nil {
		return
	}
	r.err = fmt.Errorf("%w: %s", ports.ErrUndecodable, fmt.Sprintf(format, args...))
	if unit, ok := r.values["unit"].(string); ok {
		r.err = fmt.Errorf("%w of the unit %s", r.err, ports.Quote(unit))
	}
}
