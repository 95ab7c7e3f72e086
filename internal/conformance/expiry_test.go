package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A timeline is one round trip a line, each at its ms after the base: commands between `;`.
// At its deadline's ms a key lives; one later it does not.
var timelines = map[string]string{
	"a string lives through its deadline": `
		0 set k v px 6
		5 get k ; pttl k ; ttl k ; exists k
		8 get k ; pttl k ; ttl k ; exists k ; type k`,
	"at the deadline itself": `
		0 set k v px 4 ; hset h f v ; pexpireat h @4
		4 get k ; pttl k ; ttl k ; hget h f ; pttl h ; set k w xx keepttl ; hset h g w
		7 exists k h`,
	"right after it": `
		0 set k v px 4 ; set n v ; pexpireat n @4
		5 get k ; pttl k ; pexpiretime k ; set k w nx ; pttl k ; persist n ; pexpire n 5 ; exists n`,
	"each type is gone as a whole, and free": `
		0 hset h f v ; zadd z 1 m ; sadd s m ; rpush l v ; xadd x 1-1 f v ; pexpireat h @3 ; pexpireat z @3 ; pexpireat s @3 ; pexpireat l @3 ; pexpireat x @3
		4 hgetall h ; zcard z ; smembers s ; llen l ; xlen x ; hset z f v ; zadd h 1 m ; rpush s v ; sadd l m ; set x v ; pttl h
		6 dbsize`,
	"TTL rounds to the nearest second": `
		0 set a v px 1499 ; set b v px 1500 ; set c v px 499 ; set d v px 500 ; ttl a ; ttl b ; ttl c ; ttl d ; pttl a
		3 ttl b ; ttl d ; pttl b`,
	"a time to live that is over deletes": `
		0 set a v ; set b v ; set c v ; set d v ; pexpire a 0 ; pexpire b -1 ; expire c 0 ; expire d -5
		2 exists a b c d ; pexpire a 0 ; dbsize`,
	"a deadline that is over deletes, also this ms": `
		0 set a v ; set b v ; set c v
		3 pexpireat a @2 ; pexpireat b @3 ; pexpireat c @4 ; exists a ; exists b ; exists c ; pttl c
		6 exists c`,
	"SET needs a time to live above 0": `
		0 set k v px 0
		2 set k v px -1 ; exists k`,
	"SET drops a TTL, or keeps it": `
		0 set a v px 60000 ; set b v px 60000 ; set c v px 60000
		2 set a w ; set b w keepttl ; set c w xx ; pttl a ; pttl b ; pttl c ; pexpiretime b`,
	"SET NX and a failed SET leave the TTL": `
		0 set a v px 60000 ; hset h f v ; pexpire h 60000
		2 set a w nx ; pexpiretime a ; set a w nx px 5 ; pexpiretime a ; get h ; pexpiretime h`,
	"writes into a value keep its TTL": `
		0 hset h f v ; zadd z 1 m ; sadd s m ; rpush l v ; xadd x 1-1 f v
		2 pexpire h 60000 ; pexpire z 60000 ; pexpire s 60000 ; pexpire l 60000 ; pexpire x 60000
		4 hset h g v ; hdel h f ; zadd z 2 n ; zrem z m ; sadd s n ; rpush l w ; lpop l ; ltrim l -5 -1 ; xadd x * f v
		6 pexpiretime h ; pexpiretime z ; pexpiretime s ; pexpiretime l ; pexpiretime x`,
	"an emptied value takes its TTL along": `
		0 hset h f v ; zadd z 1 m ; sadd s m ; rpush l v ; pexpire h 60000 ; pexpire z 60000 ; pexpire s 60000 ; pexpire l 60000
		2 hdel h f ; zremrangebyscore z -inf +inf ; srem s m ; lpop l ; dbsize
		4 hset h f v ; zadd z 1 m ; sadd s m ; rpush l v ; pttl h ; pttl z ; pttl s ; pttl l`,
	"DEL takes the TTL along": `
		0 set k v px 60000
		2 del k ; set k v ; pttl k`,
	"PERSIST and PEXPIRE answer whether they did": `
		0 set k v ; persist k ; pexpire k 60000 ; persist k ; persist k ; pttl k ; pexpire n 5 ; persist n
		2 pexpire k 60000 nx ; pexpire k 5 nx ; pexpire k 70000 gt ; pexpire k 5 gt ; pexpire k 50000 lt ; pexpire k 99999 xx ; pexpiretime k`,
}

// TestExpiry: the edges of a key's life.
func TestExpiry(t *testing.T) {
	needServer(t)
	for name, timeline := range timelines {
		t.Run(name, func(t *testing.T) {
			check(t, append(timelineSteps(t, timeline), dump(strings.Fields("a b c d h k l n s x z"))))
		})
	}
}

func timelineSteps(t *testing.T, timeline string) (steps []step) {
	next := int64(0)
	for _, line := range strings.Split(strings.TrimSpace(timeline), "\n") {
		at, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		atMs, err := strconv.ParseInt(at, 10, 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, atMs, next, fmt.Sprintf("%q comes too soon after the line before", line))
		var commands [][]string
		for _, command := range strings.Split(text, ";") {
			commands = append(commands, strings.Fields(command))
		}
		steps = append(steps, step{restMs: atMs - next, commands: commands})
		next = atMs + gapMs
	}
	return steps
}
