package redis

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// DB is the database as a script sees it: the view that a native twin works on.
//
// Its error is sticky, as in a script that a failing redis.call ends: after the
// first one, such as a key of the wrong type, reads answer zero values and writes
// do nothing, and the server answers the error instead of the twin's reply. What
// was written before stays, as in Redis.
//
// A twin may touch the keys that it was given and no others.
type DB struct {
	s    *Server
	keys []string // the keys declared; nil: any
	err  error
}

// Errors of a DB, with the text that Redis answers.
var (
	// ErrWrongType: the key holds a value of another type.
	ErrWrongType = errors.New("WRONGTYPE Operation against a key holding the wrong kind of value")
	// ErrOOM: memory is short, and the command might need some.
	ErrOOM = errors.New("OOM command not allowed when used memory > 'maxmemory'")
	// ErrReadOnly: the server is a replica, and the command writes.
	ErrReadOnly = errors.New("READONLY You can't write against a read only replica")
	// ErrUndeclared: a script used a key that is not among its KEYS.
	ErrUndeclared = errors.New("ERR Script attempted to access a key that it did not declare")
)

// Err is the first error of this DB, or nil.
func (db *DB) Err() error { return db.err }

// Now is the time of the server in ms since 1970.
func (db *DB) Now() int64 { return db.s.nowMs }

// Get is the string under k, if there is one.
func (db *DB) Get(k string) (string, bool) {
	if !db.holds(k, "string") {
		return "", false
	}
	v, err := db.s.db.Get(k)
	return v, err == nil
}

// Set stores a string, whatever k held, without a TTL.
func (db *DB) Set(k, v string) {
	if !db.mayGrow() || !db.may(k) {
		return
	}
	if db.s.db.Set(k, v) != nil { // of another type
		db.s.remove(k)
		_ = db.s.db.Set(k, v)
	}
	delete(db.s.deadlines, k)
	db.s.wrote(k)
}

// SetPX stores a string, whatever k held, for ttlMs ms. The TTL must be positive.
func (db *DB) SetPX(k, v string, ttlMs int64) {
	if db.mayGrow() && ttlMs <= 0 {
		db.fail(errors.New("ERR invalid expire time in 'set' command"))
		return
	}
	db.Set(k, v)
	if db.err == nil {
		db.s.expireAt(k, db.s.nowMs+ttlMs)
	}
}

// Del deletes keys and returns how many there were.
func (db *DB) Del(keys ...string) int {
	n := 0
	for _, k := range keys {
		if db.mayShrink() && db.may(k) && db.s.remove(k) {
			db.s.wrote(k)
			n++
		}
	}
	return n
}

// Exists says whether there is a value under k.
func (db *DB) Exists(k string) bool { return db.may(k) && db.s.db.Exists(k) }

// PExpire lets k live for ttlMs ms more. It returns false if there is no such key;
// a TTL that is not positive deletes it.
func (db *DB) PExpire(k string, ttlMs int64) bool {
	if !db.mayShrink() || !db.Exists(k) {
		return false
	}
	if ttlMs > 0 {
		db.s.expireAt(k, db.s.nowMs+ttlMs)
	} else {
		db.s.remove(k)
	}
	db.s.wrote(k)
	return true
}

// PTTL is how many ms k has left: -1 without a TTL, -2 without a key.
func (db *DB) PTTL(k string) int64 {
	if !db.Exists(k) {
		return -2
	}
	return db.s.pttl(k)
}

// HGet is a field of a hash, if it is there.
func (db *DB) HGet(k, field string) (string, bool) {
	if !db.holds(k, "hash") {
		return "", false
	}
	if v := db.s.db.HGet(k, field); v != "" {
		return v, true
	}
	return "", db.s.number("HEXISTS", k, field) == 1
}

// HGetAll is a whole hash: field, value, field, value, …, sorted by field.
func (db *DB) HGetAll(k string) []string {
	if !db.holds(k, "hash") {
		return nil
	}
	fields, _ := db.s.db.HKeys(k) // sorted
	pairs := make([]string, 0, 2*len(fields))
	for _, f := range fields {
		pairs = append(pairs, f, db.s.db.HGet(k, f))
	}
	return pairs
}

// HSet sets fields of a hash: field, value, field, value, …
func (db *DB) HSet(k string, pairs ...string) {
	if len(pairs) == 0 || len(pairs)%2 != 0 {
		db.fail(errors.New("ERR wrong number of arguments for 'hset' command"))
		return
	}
	if db.mayGrow() && db.takes(k, "hash") {
		db.s.db.HSet(k, pairs...)
		db.s.wrote(k)
	}
}

// HDel deletes fields of a hash and returns how many there were.
func (db *DB) HDel(k string, fields ...string) int {
	if !db.mayShrink() || !db.holds(k, "hash") {
		return 0
	}
	n := int(db.s.number("HDEL", append([]string{k}, fields...)...))
	db.changed(k, n)
	return n
}

// HLen is the number of fields of a hash.
func (db *DB) HLen(k string) int {
	if !db.holds(k, "hash") {
		return 0
	}
	return int(db.s.number("HLEN", k))
}

// ZAdd puts a member into a sorted set, or gives it a new score.
func (db *DB) ZAdd(k string, score float64, member string) {
	if db.mayGrow() && db.takes(k, "zset") {
		_, _ = db.s.db.ZAdd(k, score, member) // the type is right
		db.s.wrote(k)
	}
}

// ZRem removes members of a sorted set and returns how many there were.
func (db *DB) ZRem(k string, members ...string) int {
	n := 0
	if !db.mayShrink() || !db.holds(k, "zset") {
		return 0
	}
	for _, m := range members {
		if ok, _ := db.s.db.ZRem(k, m); ok { // fails only when the last one is gone
			n++
		}
	}
	db.changed(k, n)
	return n
}

// ZScore is the score of a member, if it is there.
func (db *DB) ZScore(k, member string) (float64, bool) {
	score, ok := db.zset(k)[member]
	return score, ok
}

// ZCard is the number of members of a sorted set.
func (db *DB) ZCard(k string) int { return len(db.zset(k)) }

// ZCountAbove is the number of members with a score above floor: ZCOUNT k (floor +inf.
func (db *DB) ZCountAbove(k string, floor float64) int {
	n := 0
	for _, score := range db.zset(k) { //sim:unordered it counts
		if score > floor {
			n++
		}
	}
	return n
}

// ZRange is the members at the positions start to stop, both included, by score;
// negative positions count from the end.
func (db *DB) ZRange(k string, start, stop int) []string {
	if !db.holds(k, "zset") {
		return nil
	}
	members, _ := db.s.db.ZMembers(k)
	return slices.Clone(span(members, start, stop))
}

// ZRemUpTo removes the members with a score of at most ceil and returns how many
// there were: ZREMRANGEBYSCORE k -inf ceil.
func (db *DB) ZRemUpTo(k string, ceil float64) int {
	var due []string
	if !db.mayShrink() {
		return 0
	}
	for member, score := range db.zset(k) { //sim:unordered it collects what is removed together
		if score <= ceil {
			due = append(due, member)
		}
	}
	return db.ZRem(k, due...)
}

// SAdd puts members into a set and returns how many were new.
func (db *DB) SAdd(k string, members ...string) int {
	if !db.mayGrow() || !db.takes(k, "set") {
		return 0
	}
	n, _ := db.s.db.SetAdd(k, members...)
	db.changed(k, n)
	return n
}

// SRem removes members of a set and returns how many there were.
func (db *DB) SRem(k string, members ...string) int {
	if !db.mayShrink() || !db.holds(k, "set") {
		return 0
	}
	n, _ := db.s.db.SRem(k, members...)
	db.changed(k, n)
	return n
}

// SIsMember says whether a set has the member.
func (db *DB) SIsMember(k, member string) bool {
	if !db.holds(k, "set") {
		return false
	}
	ok, _ := db.s.db.IsMember(k, member)
	return ok
}

// RPush appends values to a list and returns its length.
func (db *DB) RPush(k string, values ...string) int {
	if !db.mayGrow() || !db.takes(k, "list") {
		return 0
	}
	n, _ := db.s.db.Push(k, values...)
	db.s.wrote(k)
	return n
}

// LTrimLast keeps the last n elements of a list: LTRIM k -n -1. n must be positive.
func (db *DB) LTrimLast(k string, n int) {
	if !db.mayShrink() {
		return
	}
	list := db.list(k)
	for range len(list) - n {
		_, _ = db.s.db.Lpop(k)
	}
	db.changed(k, len(list))
}

// LLen is the length of a list.
func (db *DB) LLen(k string) int { return len(db.list(k)) }

// LIndex is an element of a list, if it is there; a negative position counts from
// the end.
func (db *DB) LIndex(k string, i int) (string, bool) {
	list := db.list(k)
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return "", false
	}
	return list[i], true
}

// LPop takes the first element of a list, if there is one.
func (db *DB) LPop(k string) (string, bool) {
	if !db.mayShrink() || len(db.list(k)) == 0 {
		return "", false
	}
	v, err := db.s.db.Lpop(k)
	db.changed(k, 1)
	return v, err == nil
}

// XAdd appends an entry (field, value, field, value, …) to a stream, trims it to
// about maxLen entries (0: not at all), and returns the entry's id.
func (db *DB) XAdd(k string, maxLen int64, values ...string) string {
	args := []string{"XADD", k}
	if maxLen > 0 {
		args = append(args, "MAXLEN", "~", strconv.FormatInt(maxLen, 10))
	}
	id, _ := db.Do(append(append(args, "*"), values...)...).(string)
	return id
}

// Do runs any command that the server knows, except scripts, and returns its
// reply: string, int64, nil or []any. It is slower than the typed methods.
func (db *DB) Do(args ...string) any {
	if db.err != nil {
		return nil
	}
	reply, err := db.s.run(args, db.may)
	if err != nil {
		db.fail(err)
	}
	return reply
}

// fail keeps the first error.
func (db *DB) fail(err error) {
	if db.err == nil {
		db.err = err
	}
}

// may says whether the script may go on with k.
func (db *DB) may(k string) bool {
	if db.err == nil && db.keys != nil && !slices.Contains(db.keys, k) {
		db.err = fmt.Errorf("%w: %q", ErrUndeclared, k)
	}
	return db.err == nil
}

// mayShrink says whether the script may write what needs no memory.
func (db *DB) mayShrink() bool { return db.mayWrite(false) }

// mayGrow says whether the script may write what may need memory.
func (db *DB) mayGrow() bool { return db.mayWrite(true) }

func (db *DB) mayWrite(grows bool) bool {
	if db.err == nil {
		db.err = db.s.forbid(true, grows)
	}
	return db.err == nil
}

// takes says whether k is free or holds a value of that type.
func (db *DB) takes(k, typ string) bool {
	if !db.may(k) {
		return false
	}
	if t := db.s.db.Type(k); t != "" && t != typ {
		db.err = ErrWrongType
	}
	return db.err == nil
}

// holds says whether k holds a value of that type.
func (db *DB) holds(k, typ string) bool {
	if !db.may(k) {
		return false
	}
	t := db.s.db.Type(k)
	if t != "" && t != typ {
		db.err = ErrWrongType
	}
	return t == typ
}

// changed notes that a command did something to n members of k.
func (db *DB) changed(k string, n int) {
	if n > 0 {
		db.s.forget(k)
		db.s.wrote(k)
	}
}

func (db *DB) zset(k string) map[string]float64 {
	if !db.holds(k, "zset") {
		return nil
	}
	m, _ := db.s.db.SortedSet(k)
	return m
}

func (db *DB) list(k string) []string {
	if !db.holds(k, "list") {
		return nil
	}
	l, _ := db.s.db.List(k)
	return l
}

// span is the part of a list that Redis means by start and stop.
func span(list []string, start, stop int) []string {
	n := len(list)
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	stop = min(stop, n-1)
	if start > stop {
		return nil
	}
	return list[start : stop+1]
}
