package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/internal/universe"
)

// forms are the commands of the engine and its scripts, and a few that tell about keys.
// In a form k is a key, f a field or member, v a value, n a whole number, s a score,
// ms a time to live, at an instant, id an entry of a
// stream, end an end of a range of them.
var forms = strings.Split(strings.TrimSpace(`
set k v
set k v px ms
set k v keepttl
set k v nx
set k v xx px ms
set k v get
set k v nx px ms get
get k
del k
del k k
exists k k
type k
pttl k
ttl k
pexpiretime k
pexpire k ms
pexpire k ms gt
pexpire k ms nx
pexpireat k at
expire k n
persist k
hset k f v
hset k f v f v
hsetnx k f v
hget k f
hmget k f f
hgetall k
hkeys k
hvals k
hlen k
hdel k f
hdel k f f
zadd k s f
zadd k s f s f
zrem k f
zrem k f f
zscore k f
zcard k
zcount k s s
zrange k n n
zrange k n n withscores
zrangebyscore k s s
zrangebyscore k s s limit n n
zremrangebyscore k s s
sadd k f
sadd k f f
srem k f
sismember k f
smembers k
scard k
rpush k v
rpush k v v
lpop k
lindex k 0
lindex k -1
llen k
lrange k n n
ltrim k n n
xadd k * f v
xadd k maxlen ~ 1000 * f v
xadd k id f v
xlen k
xrange k end end
set k v nonsense
zadd k nonsense f
time`), "\n")

// places are what may stand at a place of a form. The first is the plain one.
var places = map[string][]string{
	"k":   {"k1", "k2", "*?[]\\", "K\x00\xff ä\r\n"},
	"f":   {"f", "*", "a|b", "", "\xff\xfe"},
	"v":   {"v", "", "0", "-1", "007", "1e3", "999999999999999", "@5", "|||", "Ä\x00\n"},
	"n":   {"1", "0", "-1", "2", "-2", "3", "-10000", "9223372036854775808", "x", ""},
	"s":   {"1", "0", "(1", "-inf", "+inf", "inf", "@0", "(@0", "1.5", "1e3", "x", ""},
	"ms":  {"5", "1", "2", "3", "4", "6", "499", "500", "1499", "1500", "60000", "0", "-1", "x"},
	"at":  {"@5", "@-1", "@0", "@1", "@2", "@3", "@4", "@6", "@7", "@8", "@1500", "@60000"},
	"id":  {"@1-1", "@0-0", "0-1", "@60000-5"},
	"end": {"-", "+", "@1-1", "@3", "0-0", "x", "(@1-1"},
}

// allKeys are the keys that a form can name.
func allKeys() []string { return places["k"] }

// fill makes a command of a form.
func fill(form string, choose func(place string) string) []string {
	words := strings.Fields(form)
	for i, word := range words {
		if _, ok := places[word]; ok && i > 0 {
			words[i] = choose(word)
		}
	}
	return words
}

// TestCommands: any few commands, some of them at the edge of a key's life.
func TestCommands(t *testing.T) {
	needServer(t)
	rapid.Check(t, commandsProperty)
}

func commandsProperty(t *rapid.T) {
	command := rapid.Custom(func(t *rapid.T) step {
		command := fill(universe.OneOf(t, forms...), func(place string) string {
			if universe.Chance(t, 50) {
				return universe.OneOf(t, places[place]...)
			}
			return places[place][0]
		})
		return step{restMs: int64(universe.Evenly(t, 2)), commands: [][]string{command}}
	})
	steps := rapid.SliceOfN(command, 1, 12).Draw(t, "commands")
	check(t, append(steps, dump(allKeys())))
}

// holders make a key of each type; each can be read in the dump of a case.
var holders = [][]string{
	nil, {"set", "k", "v"}, {"hset", "k", "f", "v"}, {"zadd", "k", "1", "f"}, {"sadd", "k", "f"}, {"rpush", "k", "v"}, {"xadd", "k", "1-1", "f", "v"},
}

// TestEveryType: each command on a key of each type, with and without a TTL; also on a
// server that is short of memory, and on a replica.
func TestEveryType(t *testing.T) {
	needServer(t)
	for _, fault := range []string{"", "oom", "readonly"} {
		for _, form := range forms {
			var keys []string
			var state, calls [][]string
			for i, holder := range holders {
				for _, ttl := range []string{"", "60000"} {
					key := "key" + number(int64(i)) + ttl
					keys = append(keys, key)
					if holder != nil {
						state = append(state, append([]string{holder[0], key}, holder[2:]...))
					}
					if holder != nil && ttl != "" {
						state = append(state, []string{"pexpireat", key, "@" + ttl})
					}
					calls = append(calls, fill(form, func(place string) string {
						if place == "k" {
							return key
						}
						return places[place][0]
					}))
				}
			}
			t.Run(strings.TrimSpace(fault+" "+form), func(t *testing.T) {
				check(t, []step{{commands: state}, {fault: fault, commands: calls}, dump(keys)})
			})
		}
	}
}

var (
	luaCall = regexp.MustCompile(`redis\.p?call\('(\w+)'`)
	goCall  = regexp.MustCompile(`\b(?:client|p)\.([A-Z]\w+)\(ctx`)
)

// TestForms: they leave out no command of the engine.
func TestForms(t *testing.T) {
	var known []string
	for _, form := range forms {
		known = append(known, strings.Fields(form)[0])
	}
	called := map[string]bool{}
	for _, script := range store.Scripts() {
		for _, match := range luaCall.FindAllStringSubmatch(script.Source, -1) {
			called[strings.ToLower(match[1])] = true
		}
	}
	files, err := filepath.Glob("../../engine/store/*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range goCall.FindAllStringSubmatch(string(text), -1) {
			called[strings.ToLower(strings.TrimSuffix(match[1], "WithScores"))] = true // the client's name of an option
		}
	}
	require.Greater(t, len(called), 20)
	for name := range called {
		if !slices.Contains([]string{"pipelined", "evalsha", "scan"}, name) { // see TestScripts and TestKnownScenes
			require.True(t, slices.Contains(known, name), "the engine uses %s, which is not among the forms", name)
		}
	}
}
