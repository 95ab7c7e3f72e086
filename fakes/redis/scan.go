package redis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	scanCount  = 10  // COUNT if none is given
	scanRepeat = 0.1 // probability that a page comes once more
)

// bucket is a key at its place in the order of a scan: a hash of the world's seed.
type bucket struct {
	place uint64
	key   string
}

// scan answers SCAN cursor [MATCH pattern] [COUNT n] [TYPE type] as freely as Redis
// may: pages in no order, some twice, and no promise about keys that come or go
// meanwhile. What is there from the first page to the last is returned.
//
// The cursor is the place of the next key, so that a key's place never moves.
func (s *Server) scan(args []string, out []byte) []byte {
	options, refusal := parseScan(args)
	if refusal != "" {
		return appendError(out, refusal)
	}
	all := s.buckets()
	first, _ := slices.BinarySearchFunc(all, options.cursor, func(b bucket, at uint64) int { return cmp.Compare(b.place, at) })
	last := min(first+options.count, len(all))
	for last > first && last < len(all) && all[last].place == all[last-1].place {
		last++ // a cursor cannot tell keys of one place apart
	}
	next := uint64(0)
	if last < len(all) {
		next = all[last].place
	}
	if first < last && s.w.Rand("redis/scan").Float64() < scanRepeat {
		next = all[first].place
	}
	var page []string
	for _, b := range all[first:last] {
		if (options.match == "*" || glob(options.match, b.key)) && (options.typ == "" || s.db.Type(b.key) == options.typ) {
			page = append(page, b.key)
		}
	}
	out = appendBulk(append(out, "*2\r\n"...), strconv.FormatUint(next, 10))
	return appendStrings(out, page)
}

// buckets are all keys by place.
func (s *Server) buckets() []bucket {
	keys := s.db.Keys()
	all := make([]bucket, len(keys))
	for i, k := range keys {
		all[i] = bucket{s.w.Hash("redis/scan", k)>>16 | 1, k} // never 0: that ends a scan
	}
	slices.SortFunc(all, func(a, b bucket) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.key, b.key)) })
	return all
}

type scanOptions struct {
	cursor uint64
	count  int
	typ    string
	match  string
}

// parseScan reads the arguments of SCAN; refusal is the error reply to bad ones.
func parseScan(args []string) (o scanOptions, refusal string) {
	const syntax = "ERR syntax error"
	if len(args) < 2 {
		return o, "ERR wrong number of arguments for 'scan' command"
	}
	o.count, o.match = scanCount, "*"
	var err error
	if o.cursor, err = strconv.ParseUint(args[1], 10, 64); err != nil {
		return o, "ERR invalid cursor"
	}
	for args = args[2:]; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return o, syntax
		}
		switch strings.ToUpper(args[0]) {
		case "COUNT":
			if o.count, err = strconv.Atoi(args[1]); err != nil {
				return o, "ERR value is not an integer or out of range"
			} else if o.count < 1 {
				return o, syntax
			}
		case "TYPE":
			o.typ = strings.ToLower(args[1])
		case "MATCH":
			o.match = args[1]
		default:
			return o, syntax
		}
	}
	return o, ""
}
