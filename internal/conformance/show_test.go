package conformance

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/store"
)

// shrinkFor is how long a smaller case is looked for when one fails.
const shrinkFor = 10 * time.Second

// check plays a case everywhere. A difference fails it, with the smallest case that shows it.
func check(t tester, steps []step) *play {
	t.Helper()
	redis := real.play(t, steps)
	for _, f := range redisFakes() {
		d := difference(redis, f.play(t, steps, redis.baseMs), f.name)
		if d == "" {
			continue
		}
		smallest(steps, time.Now().Add(shrinkFor), func(steps []step) bool {
			redis := real.play(t, steps)
			smaller := difference(redis, f.play(t, steps, redis.baseMs), f.name)
			if smaller != "" {
				d = smaller
			}
			return smaller != ""
		})
		t.Fatalf("%s", d)
	}
	return redis
}

// difference is the case up to its first difference, or "". A round trip is a line for each
// command, after its time in ms; replies stand behind those that say more than OK.
func difference(redis, fake *play, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "redis and %s differ (times in ms after the base, @0):\n", name)
	for i, r := range redis.trips {
		if i >= len(fake.trips) || !slices.Equal(r.requests, fake.trips[i].requests) || r.atMs != fake.trips[i].atMs {
			other := []string{"nothing"}
			if i < len(fake.trips) {
				other = fake.trips[i].requests
			}
			fmt.Fprintf(&b, "%5d  after these answers the client asks redis %s\n       and the fake %s\n", r.atMs, r.requests, other)
			return b.String()
		}
		differs := false
		for j, request := range r.requests {
			was, is := r.replies[j], fake.trips[i].replies[j]
			switch {
			case was != is:
				differs = true
				fmt.Fprintf(&b, "%5d  %s\n       redis: %s\n       fake:  %s\n", r.atMs, request, was, is)
			case len(r.requests) < manyRequests || !isRead(request):
				fmt.Fprintf(&b, "%5d  %s -> %s\n", r.atMs, request, was)
			}
		}
		if differs {
			return b.String()
		}
	}
	if len(fake.trips) > len(redis.trips) {
		return fmt.Sprintf("%sthe client asks the fake %s and redis nothing more", b.String(), fake.trips[len(redis.trips)].requests)
	}
	return ""
}

// Of a dump only what differs is shown.
const manyRequests = 9

func isRead(request string) bool {
	name, _, _ := strings.Cut(request, " ")
	return slices.Contains([]string{"type", "pexpiretime", "get", "hgetall", "zrange", "smembers", "lrange", "xrange", "keys"}, name)
}

// request is a command as one types it; a script stands there by its name.
func (p *play) request(cmd goredis.Cmder) string {
	var words []string
	for i, arg := range cmd.Args() {
		word := fmt.Sprint(arg)
		if i == 1 && strings.HasPrefix(cmd.Name(), "eval") {
			word = scriptName(word)
		}
		words = append(words, p.quote(word))
	}
	return strings.Join(words, " ")
}

func scriptName(word string) string {
	for _, s := range store.Scripts() {
		if word == s.SHA || word == s.Source {
			return s.Name
		}
	}
	return word
}

// epochMs is what a time near now looks like.
var epochMs = regexp.MustCompile(`\b1\d{12}\b`)

const nearMs = 60 * 24 * 3600 * 1000

// quote writes times as `@n`, and quotes what is no plain word.
func (p *play) quote(word string) string {
	word = epochMs.ReplaceAllStringFunc(word, func(text string) string {
		ms, _ := strconv.ParseInt(text, 10, 64)
		if ms -= p.baseMs; -nearMs < ms && ms < nearMs {
			return "@" + number(ms)
		}
		return text
	})
	if word == "" || strings.ContainsAny(word, " \"'\\\n") || strconv.Quote(word) != `"`+word+`"` {
		return strconv.Quote(word)
	}
	return word
}

// unordered are the commands that Redis answers in no order.
var unordered = []string{"smembers", "hkeys", "hvals", "keys"}

// reply is what a command was answered.
func (p *play) reply(cmd goredis.Cmder) string {
	err := cmd.Err()
	var answer goredis.Error
	switch {
	case errors.Is(err, goredis.Nil):
		return "nil"
	case errors.As(err, &answer):
		return "error " + class(err.Error())
	case err != nil:
		return "no answer: " + err.Error()
	}
	value := reflect.ValueOf(cmd).MethodByName("Val").Call(nil)[0].Interface()
	if list, ok := value.([]any); ok && cmd.Name() == "time" {
		return "second " + p.show(list[0]) // the fake's clock has stood still since the millisecond began
	} else if ok && cmd.Name() == "hgetall" {
		hash := map[string]string{}
		for i := 0; i+1 < len(list); i += 2 {
			hash[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
		}
		return p.show(hash)
	}
	words := p.words(value)
	if words == nil {
		return p.show(value)
	}
	if slices.Contains(unordered, cmd.Name()) {
		slices.Sort(words)
	}
	return "[" + strings.Join(words, " ") + "]"
}

// class is what must be equal of an error.
func class(text string) string {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case word == "CORRUPT":
		return text
	case word == "ERR" && strings.HasPrefix(rest, "syntax error"):
		return "ERR syntax error"
	}
	return word
}

// words are the items of a reply that is a list, else nil.
func (p *play) words(value any) []string {
	words := []string{}
	switch list := value.(type) {
	case []any:
		for _, item := range list {
			words = append(words, p.show(item))
		}
	case []string:
		for _, item := range list {
			words = append(words, p.quote(item))
		}
	default:
		return nil
	}
	return words
}

// show writes a reply, or an item of one, down.
func (p *play) show(value any) string {
	switch v := value.(type) {
	case string:
		return p.quote(v)
	case int64:
		return p.quote(number(v))
	case time.Time:
		return p.quote(number(v.UnixMilli()))
	case map[string]string:
		var words []string
		for _, field := range slices.Sorted(maps.Keys(v)) {
			words = append(words, p.quote(field)+"="+p.quote(v[field]))
		}
		return "{" + strings.Join(words, " ") + "}"
	case []any:
		return "[" + strings.Join(p.words(v), " ") + "]"
	}
	return fmt.Sprint(value)
}
