// Package pgtest starts a throw-away PostgreSQL for tests and live runs: in a directory of its
// own, on a Unix socket there, without fsync. It can be stopped, killed and started again, which
// loses nothing. Close removes it; so does the end of the process that started it, however that
// ends.
//
// PostgreSQL refuses to run as root, so root runs it as the user postgres or nobody.
//
// Its default collation is English, as on many a server, so that a query that relies on
// another order of texts is found out.
//
// Not for: anything but tests and live runs.
package pgtest
