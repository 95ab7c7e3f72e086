package redis

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// effect says when a command counts as a write of its keys. A command that sets a
// value counts even if it sets what was there; one that adds or removes counts if
// it did.
type effect int

const (
	reads    effect = iota
	sets            // unless it fails
	some            // unless it answers nil or an empty list
	positive        // if it answers a number above 0
	present         // those of its keys that were there before
)

// command is what the server knows of a command: where its keys are, as in the
// reply of COMMAND INFO, and what it does to them.
type command struct {
	name        string // lower case: the verb of its calls
	first, last int    // positions in the arguments; last -1: to the end; first 0: no keys
	step        int
	effect      effect
	sorted      bool // miniredis answers it in the order of a map
	grows       bool // it may need memory: Redis refuses it when that is short
}

// commands is every command that the server runs; names are as go-redis sends them.
var commands = func() map[string]*command {
	all := map[string]*command{}
	add := func(e effect, first, last, step int, names string) {
		for _, name := range strings.Fields(names) {
			all[name] = &command{name: name, first: first, last: last, step: step, effect: e}
		}
	}
	add(reads, 0, 0, 0, "ping echo time dbsize keys scan eval evalsha script")
	add(reads, 1, 1, 1, "get strlen getrange type ttl pttl expiretime pexpiretime hget hmget hgetall hkeys hvals hlen hexists hstrlen "+
		"llen lrange lindex lpos scard sismember smismember smembers zcard zscore zmscore zrank zrevrank zrange zrangebyscore "+
		"zrevrangebyscore zrevrange zcount zlexcount zrangebylex zrevrangebylex xlen xrange xrevrange")
	add(reads, 1, -1, 1, "exists mget sinter sunion sdiff")
	add(sets, 1, 1, 1, "setex psetex getset incr decr incrby decrby incrbyfloat append setrange hset hmset hincrby hincrbyfloat "+
		"lpush rpush lset zadd zincrby")
	add(sets, 1, 2, 1, "rename")
	add(sets, 1, -1, 2, "mset")
	add(some, 1, 1, 1, "set getdel lpop rpop zpopmin zpopmax xadd")
	add(some, 1, 2, 1, "lmove rpoplpush")
	add(positive, 1, 1, 1, "setnx expire pexpire expireat pexpireat persist hsetnx hdel lpushx rpushx linsert lrem sadd srem "+
		"zrem zremrangebyscore zremrangebyrank zremrangebylex xdel xtrim")
	add(positive, 1, 2, 1, "smove")
	add(positive, 1, -1, 2, "msetnx")
	add(present, 1, -1, 1, "del unlink")
	add(present, 1, 1, 1, "ltrim")
	for _, name := range strings.Fields("keys smembers sinter sunion sdiff hkeys hvals") {
		all[name].sorted = true
	}
	for _, name := range strings.Fields("set setex psetex getset setnx mset msetnx append setrange incr decr incrby decrby incrbyfloat " +
		"hset hmset hsetnx hincrby hincrbyfloat lpush rpush lpushx rpushx linsert lset lmove rpoplpush sadd zadd zincrby xadd") {
		all[name].grows = true
	}
	return all
}()

// refusals are commands that cannot be simulated, with what to use instead.
var refusals = func() map[string]string {
	all := map[string]string{}
	add := func(reason, names string) {
		for _, name := range strings.Fields(names) {
			all[name] = reason
		}
	}
	add("it blocks: poll with the command of that name without the B, and sleep", "blpop brpop brpoplpush blmove blmpop bzpopmin bzpopmax bzmpop")
	add("it blocks: poll with XRANGE, and sleep", "xread xreadgroup")
	add("it waits for messages: poll a stream with XRANGE", "subscribe psubscribe ssubscribe monitor")
	add("its answer is random: sort SMEMBERS, HKEYS or ZRANGE and choose with a stream of the world", "randomkey spop srandmember hrandfield zrandmember")
	add("use a script", "multi exec discard watch unwatch")
	add("one connection is like another here: set the client up by its options", "auth client select reset")
	add("use Server.Evict, or the fault noscript", "flushall flushdb swapdb")
	return all
}()

// lookup finds the command of a request; refusal is the error reply if there is none.
func lookup(args []string) (cmd *command, refusal string) {
	if len(args) == 0 {
		return nil, "ERR empty command"
	}
	if cmd := commands[args[0]]; cmd != nil {
		return cmd, ""
	}
	name := strings.ToLower(args[0])
	if cmd := commands[name]; cmd != nil {
		return cmd, ""
	}
	remedy, known := refusals[name]
	if !known {
		remedy = "give its keys and effect in the table of fakes/redis"
	}
	return nil, fmt.Sprintf("ERR %s is not simulated: %s", strings.ToUpper(name), remedy)
}

// keys are the keys that a request names: a script's are its KEYS.
func (c *command) keys(args []string) []string {
	switch {
	case c.name == "eval" || c.name == "evalsha":
		keys, _, _ := scriptArgs(args)
		return keys
	case c.first == 0 || len(args) <= c.first:
		return nil
	}
	last := c.last
	if last < 0 || last >= len(args) {
		last = len(args) - 1
	}
	if c.step == 1 {
		return args[c.first : last+1]
	}
	var keys []string
	for i := c.first; i <= last; i += c.step {
		keys = append(keys, args[i])
	}
	return keys
}

// perform runs a command that is no script and no SCAN, and notes which keys it
// wrote. ask carries out one command and answers in RESP; the answer is good until
// the next one.
func (s *Server) perform(cmd *command, args []string, ask func(...string) []byte) []byte {
	var keys []string
	if cmd.effect != reads && s.watched() {
		keys = cmd.keys(args)
	}
	if cmd.effect == present && keys != nil {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !isPositive(ask("EXISTS", k)) })
	}
	if cmd.name == "ttl" && len(args) == 2 {
		return inSeconds(ask("PTTL", args[1]))
	}
	reply := ask(args...)
	if cmd.sorted {
		return sortReply(reply)
	}
	if len(keys) == 0 || reply[0] == '-' {
		return reply
	}
	did := true
	switch cmd.effect {
	case some:
		did = !isEmpty(reply)
		if !did && cmd.name == "set" && hasOption(args[3:], "GET") {
			did = isPositive(ask("EXISTS", keys[0]))
			reply = []byte(nilBulk) // ask answers into one buffer
		}
	case positive:
		did = isPositive(reply)
	}
	if did {
		for _, k := range keys {
			s.wrote(k)
		}
	}
	return reply
}

// inSeconds makes the answer of PTTL that of TTL. Redis rounds, miniredis cuts off.
func inSeconds(reply []byte) []byte {
	if !isPositive(reply) {
		return reply
	}
	ms, _, _ := parseLength(string(reply), ':')
	return appendHeader(nil, ':', int64(ms+500)/1000)
}

func isPositive(reply []byte) bool { return reply[0] == ':' && reply[1] > '0' }

func isEmpty(reply []byte) bool {
	return bytes.HasPrefix(reply, []byte("$-1")) || bytes.HasPrefix(reply, []byte("*-1")) || bytes.HasPrefix(reply, []byte("*0"))
}

func hasOption(args []string, option string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, option) })
}
