-- The tables of ports.Pointers; docs/store.md describes them.

-- +goose Up

CREATE SEQUENCE orchestra_numbers; -- of dirty marks, for all scenes

-- A scene by the SHA-256 of its three ids: as an index entry they can be too long themselves.
CREATE TABLE orchestra_scenes (
    key     bytea  PRIMARY KEY CHECK (octet_length(key) = 32),
    book    text   COLLATE "C" NOT NULL,
    chapter text   COLLATE "C" NOT NULL,
    scene   text   COLLATE "C" NOT NULL,
    number  bigint NOT NULL DEFAULT 0 -- of its last mark; who marks locks the row, so that numbers are seen in their order
);

CREATE TABLE orchestra_pointers (
    scene      bytea  NOT NULL REFERENCES orchestra_scenes,
    unit       text   COLLATE "C" NOT NULL,
    path       text   COLLATE "C" NOT NULL,
    status     text   COLLATE "C" NOT NULL,
    generation bigint NOT NULL CHECK (generation >= 0),
    version    bigint NOT NULL CHECK (version >= 0),
    mark       bigint NOT NULL CHECK (mark >= 0),
    PRIMARY KEY (scene, unit)
);

CREATE TABLE orchestra_marks (
    scene  bytea  NOT NULL REFERENCES orchestra_scenes,
    unit   text   COLLATE "C" NOT NULL,
    number bigint NOT NULL CHECK (number > 0),
    PRIMARY KEY (scene, unit)
);

CREATE TABLE orchestra_versions (
    scene   bytea  NOT NULL REFERENCES orchestra_scenes,
    stage   text   COLLATE "C" NOT NULL,
    version bigint NOT NULL CHECK (version >= 0),
    PRIMARY KEY (scene, stage)
);

CREATE TABLE orchestra_tombstones (
    book text COLLATE "C" PRIMARY KEY
);
