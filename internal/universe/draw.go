package universe

import (
	"regexp"
	"slices"
	"strconv"

	"pgregory.net/rapid"
)

// Evenly draws a number below n, each as likely as the others: rapid itself prefers small
// ones. It shrinks to 0.
func Evenly(t *rapid.T, n int) int {
	x := rapid.Uint64().Draw(t, "bits") // mixed as in murmur3, where 0 stays 0
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return int((x ^ x>>33) % uint64(n))
}

// Chance is true in so many percent of the draws. It shrinks to false.
func Chance(t *rapid.T, percent int) bool { return Evenly(t, 100) >= 100-percent }

// OneOf draws one of a list. It shrinks to the first.
func OneOf[T any](t *rapid.T, from ...T) T { return from[Evenly(t, len(from))] }

// often is a list in which one value stands for most of the draws.
func often(usual string, others ...string) []string {
	return append(slices.Repeat([]string{usual}, 12), others...)
}

// instant is a time in the arguments of a command, in ms after the case's base.
var instant = regexp.MustCompile(`@-?\d+`)

// At puts the instants into an argument of a command: `@n` is n ms after the base.
func At(arg string, baseMs int64) string {
	return instant.ReplaceAllStringFunc(arg, func(at string) string {
		ms, _ := strconv.ParseInt(at[1:], 10, 64)
		return strconv.FormatInt(baseMs+ms, 10)
	})
}

// instants are times around a case's base and around what the scripts add to it.
var instants = []string{"@-3600000", "@-90001", "@-90000", "@-89997", "@-1", "@0", "@2", "@3", "@4", "@59999", "@600000"}

// Hostile values break naive parsing; most are no number, or not one of ours.
var Hostile = []string{
	"", "0", "-1", "007", "1e3", "0x10", " 3", "3 ", "nan", "inf", "1_0", "99999999999999999999", "999999999999999", "1000000000000000",
	"a|b", "|||||", "ready|", "Ä", "\x00", "\xff\xfe", "%s%d",
}

// value is a key and what it may hold: for a hash the values of each field, for others
// members or elements (of a zset with scores).
type value struct {
	key, typ string
	fields   []field
}

type field struct {
	name   string
	values []string
}

// odds say how a value is drawn, in percent.
type odds struct{ absent, hostile, wrong int }

// set draws the commands that make a key what it is.
func (v value) set(t *rapid.T, o odds) (commands [][]string) {
	typ := v.typ
	if Chance(t, o.wrong) {
		typ = OneOf(t, "string", "hash", "zset", "set", "list", "stream")
	}
	commands = [][]string{{"del", v.key}}
	if Chance(t, o.absent) {
		return commands
	}
	for _, f := range v.fields {
		if Chance(t, o.absent) {
			continue
		}
		x := OneOf(t, f.values...)
		if typ != "zset" && Chance(t, o.hostile) {
			x = OneOf(t, Hostile...)
		}
		command := map[string][]string{
			"string": {"set", v.key, x}, "hash": {"hset", v.key, f.name, x}, "zset": {"zadd", v.key, score(x), f.name},
			"set": {"sadd", v.key, x}, "list": {"rpush", v.key, x}, "stream": {"xadd", v.key, "*", "f", x},
		}[typ]
		commands = append(commands, command)
	}
	if len(commands) > 1 && Chance(t, 30) {
		commands = append(commands, []string{"pexpireat", v.key, OneOf(t, "@60000", "@2", "@3", "@4", "@5", "@1380000", "@604800000")})
	}
	return commands
}

// score is a value as a score of a sorted set.
func score(x string) string {
	if instant.FindString(x) != x {
		return "1"
	}
	return x
}
