package pgstore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/animastor/orchestra/ports"
)

// Store is the store of production. It is safe for use by several goroutines.
type Store struct{ pool *pgxpool.Pool }

var _ ports.Pointers = (*Store)(nil)

// Close ends the connections. Calls under way are waited for.
func (s *Store) Close() { s.pool.Close() }

// Published implements ports.Pointers.
func (s *Store) Published(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.Pointer], error) {
	return page(ctx, s, call{"pointer", scene.String()}, publishedSQL, scene, after, func(r *row) ports.Pointer {
		return ports.Pointer{Unit: r.text("unit"), Path: r.text("path"), Status: r.text("status"),
			Generation: r.number("generation"), Version: r.number("version"), Mark: r.number("mark")}
	})
}

// Marks implements ports.Pointers.
func (s *Store) Marks(ctx context.Context, scene ports.SceneID, after string) (ports.Page[ports.DirtyMark], error) {
	return page(ctx, s, call{"marks", scene.String()}, marksSQL, scene, after, func(r *row) ports.DirtyMark {
		m := ports.DirtyMark{Unit: r.text("unit"), Number: r.number("number")}
		if m.Number == 0 {
			r.makesNoSense("number is 0") // the sequence begins at 1
		}
		return m
	})
}

// Publish implements ports.Pointers.
func (s *Store) Publish(ctx context.Context, scene ports.SceneID, p ports.Pointer) (bool, error) {
	rows, err := s.exec(ctx, call{"publish", unit(scene, p.Unit)}, errors.Join(scene.Validate(), p.Validate()),
		publishSQL, append(ids(scene), p.Unit, p.Path, p.Status, p.Generation, p.Version, p.Mark)...)
	return rows == 1, err
}

// Mark implements ports.Pointers.
func (s *Store) Mark(ctx context.Context, scene ports.SceneID, units []string) (int64, error) {
	return one(ctx, s, call{"mark", scene.String()}, scene.ValidateUnits(units...), func(r *row) int64 { return r.number("number") },
		markSQL, append(ids(scene), units)...)
}

// Settle implements ports.Pointers.
func (s *Store) Settle(ctx context.Context, scene ports.SceneID, u string, upTo int64) error {
	_, err := s.exec(ctx, call{"settle", unit(scene, u)}, scene.ValidateUnits(u), settleSQL, key(scene), u, upTo)
	return err
}

// Stamp implements ports.Pointers.
func (s *Store) Stamp(ctx context.Context, stage ports.StageID, version int64) error {
	_, err := s.exec(ctx, call{"stamp", stage.String()}, errors.Join(stage.Validate(), ports.ValidateNumber("version", version)),
		stampSQL, append(ids(stage.SceneID), stage.Stage, version)...)
	return err
}

// Stamped implements ports.Pointers.
func (s *Store) Stamped(ctx context.Context, stage ports.StageID) (int64, error) {
	return one(ctx, s, call{"version", stage.String()}, stage.Validate(), func(r *row) int64 { return r.number("version") },
		stampedSQL, key(stage.SceneID), stage.Stage)
}

// Bury implements ports.Pointers.
func (s *Store) Bury(ctx context.Context, book string) error {
	_, err := s.exec(ctx, call{"bury", ports.Quote(book)}, ports.ValidateID("book", book), burySQL, book)
	return err
}

// Unbury implements ports.Pointers.
func (s *Store) Unbury(ctx context.Context, book string) error {
	_, err := s.exec(ctx, call{"unbury", ports.Quote(book)}, ports.ValidateID("book", book), unburySQL, book)
	return err
}

// Buried implements ports.Pointers.
func (s *Store) Buried(ctx context.Context, book string) (ports.Presence, error) {
	return one(ctx, s, call{"tombstone", ports.Quote(book)}, ports.ValidateID("book", book), func(r *row) ports.Presence {
		if r.yes("exists") {
			return ports.Present
		}
		return ports.Absent
	}, buriedSQL, book)
}

func unit(scene ports.SceneID, unit string) string { return scene.String() + "/" + ports.Quote(unit) }

// ids are the first arguments of a statement that writes.
func ids(scene ports.SceneID) []any { return []any{key(scene), scene.Book, scene.Chapter, scene.Scene} }

// key is what a scene is found by: a hash of its ids, each after its length.
func key(scene ports.SceneID) []byte {
	h := sha256.New()
	for _, id := range [...]string{scene.Book, scene.Chapter, scene.Scene} {
		_ = binary.Write(h, binary.BigEndian, uint64(len(id))) // a hash takes anything
		h.Write([]byte(id))
	}
	return h.Sum(nil)
}
