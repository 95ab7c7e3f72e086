package pgstore

// The statements of the methods. Each that writes rows of a scene first sees to it that the
// scene is known: $1 to $4 are its key and its ids.
const (
	knownScene = `WITH known AS (
    INSERT INTO orchestra_scenes (key, book, chapter, scene) VALUES ($1, $2, $3, $4) ON CONFLICT (key) DO NOTHING
)
`

	// A comparison with NULL is NULL: such a row gives way.
	publishSQL = knownScene + `
INSERT INTO orchestra_pointers AS p (scene, unit, path, status, generation, version, mark) VALUES ($1, $5, $6, $7, $8, $9, $10)
ON CONFLICT (scene, unit) DO UPDATE
SET path = excluded.path, status = excluded.status, generation = excluded.generation, version = excluded.version, mark = excluded.mark
WHERE (excluded.generation > p.generation
    OR excluded.generation = p.generation AND excluded.mark >= p.mark AND excluded.version >= p.version) IS NOT FALSE`

	// The number is drawn anew once the row of the scene is locked. So within a scene a higher
	// number is never seen before a lower one. In another scene it may be: nobody compares them.
	markSQL = `WITH marking AS (
    INSERT INTO orchestra_scenes (key, book, chapter, scene, number) VALUES ($1, $2, $3, $4, nextval('orchestra_numbers'))
    ON CONFLICT (key) DO UPDATE SET number = nextval('orchestra_numbers')
    RETURNING number
), marked AS (
    INSERT INTO orchestra_marks (scene, unit, number)
    SELECT DISTINCT $1::bytea, unit, number FROM marking, unnest($5::text[]) AS unit
    ON CONFLICT (scene, unit) DO UPDATE SET number = excluded.number
)
SELECT number FROM marking`

	settleSQL = `DELETE FROM orchestra_marks WHERE scene = $1 AND unit = $2 AND number <= $3`

	stampSQL = knownScene + `
INSERT INTO orchestra_versions AS v (scene, stage, version) VALUES ($1, $5, $6)
ON CONFLICT (scene, stage) DO UPDATE SET version = greatest(v.version, excluded.version)`

	stampedSQL = `SELECT version FROM orchestra_versions WHERE scene = $1 AND stage = $2`

	setTimesSQL = knownScene + `
INSERT INTO orchestra_times AS t (scene, version, units, starts, ends) VALUES ($1, $5, $6, $7, $8)
ON CONFLICT (scene) DO UPDATE SET version = excluded.version, units = excluded.units, starts = excluded.starts, ends = excluded.ends
WHERE (excluded.version >= t.version) IS NOT FALSE`

	timesSQL = `SELECT version, unit, start_ms, end_ms
FROM orchestra_times, unnest(units, starts, ends) WITH ORDINALITY AS u (unit, start_ms, end_ms, number) WHERE scene = $1
ORDER BY number`

	burySQL   = `INSERT INTO orchestra_tombstones (book) VALUES ($1) ON CONFLICT (book) DO NOTHING`
	unburySQL = `DELETE FROM orchestra_tombstones WHERE book = $1`
	buriedSQL = `SELECT EXISTS (SELECT FROM orchestra_tombstones WHERE book = $1)`

	// A page has a row even when it is empty: the total.
	publishedSQL = `SELECT total, unit, path, status, generation, version, mark
FROM (SELECT count(*) AS total FROM orchestra_pointers WHERE scene = $1) AS list
LEFT JOIN (SELECT * FROM orchestra_pointers WHERE scene = $1 AND unit > $2 ORDER BY unit LIMIT $3) AS page ON true
ORDER BY unit`

	marksSQL = `SELECT total, unit, number
FROM (SELECT count(*) AS total FROM orchestra_marks WHERE scene = $1) AS list
LEFT JOIN (SELECT * FROM orchestra_marks WHERE scene = $1 AND unit > $2 ORDER BY unit LIMIT $3) AS page ON true
ORDER BY unit`
)
