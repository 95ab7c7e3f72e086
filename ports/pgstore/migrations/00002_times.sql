-- The table of ports.Timings; docs/store.md describes it.

-- +goose Up

-- One row holds all the units of a scene, in order, so that they change at once.
CREATE TABLE orchestra_times (
    scene   bytea    PRIMARY KEY REFERENCES orchestra_scenes,
    version bigint   NOT NULL CHECK (version >= 0),
    units   text[]   COLLATE "C" NOT NULL,
    starts  bigint[] NOT NULL, -- ms from the beginning of the scene's audio
    ends    bigint[] NOT NULL,
    CHECK (cardinality(units) = cardinality(starts) AND cardinality(units) = cardinality(ends))
);

-- For who reads them: a row for each unit.
CREATE VIEW orchestra_unit_times AS
SELECT s.book, s.chapter, s.scene, t.version, u.number, u.unit, u.start_ms, u.end_ms
FROM orchestra_times AS t JOIN orchestra_scenes AS s ON s.key = t.scene,
     unnest(t.units, t.starts, t.ends) WITH ORDINALITY AS u (unit, start_ms, end_ms, number);
