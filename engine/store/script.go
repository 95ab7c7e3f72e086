package store

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Script is one Lua script, with the prelude that all share.
type Script struct {
	Name   string // "begin": how traces name its calls
	Source string
	SHA    string // of Source, in hexadecimal: what EVALSHA names

	script *redis.Script
}

//go:embed lua/*.lua
var files embed.FS

var scripts = struct {
	begin, renew, adopt, admit, mark, forget, release, accept, claim,
	finish, intent, retire, restore, lock, unlock, undefer, drain, due, delivered,
	order, slide, conclude Script
}{
	begin: load("begin"), renew: load("renew"), adopt: load("adopt"),
	admit: load("admit"), mark: load("mark"), forget: load("forget"), release: load("release"),
	accept: load("accept"), claim: load("claim"), finish: load("finish"),
	intent: load("intent"), retire: load("retire"), restore: load("restore"), lock: load("lock"), unlock: load("unlock"),
	undefer: load("undefer"), drain: load("drain"), due: load("due"), delivered: load("delivered"),
	order: load("order"), slide: load("slide"), conclude: load("conclude"),
}

// Scripts returns all scripts, for who must know them by their SHA.
func Scripts() []Script {
	s := &scripts
	return []Script{
		s.begin, s.renew, s.adopt, s.admit, s.mark, s.forget, s.release, s.accept, s.claim,
		s.finish, s.intent, s.retire, s.restore, s.lock, s.unlock, s.undefer, s.drain, s.due, s.delivered,
		s.order, s.slide, s.conclude,
	}
}

func load(name string) Script {
	script := redis.NewScript(source("prelude") + "\n" + source(name))
	return Script{Name: name, Source: source("prelude") + "\n" + source(name), SHA: script.Hash(), script: script}
}

func source(name string) string {
	text, err := files.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic("store: " + err.Error()) // the file is part of the binary
	}
	return string(text)
}

// Store is the engine's Redis. It holds no state of its own.
type Store struct {
	client redis.Cmdable
}

// New returns a Store on a client. The client's own retries must be off (MaxRetries
// -1): whether a call may be made again is for the caller to say.
func New(client redis.Cmdable) *Store { return &Store{client} }

// run runs a script on one subject, which errors name. args are strings and integers.
func (s *Store) run(ctx context.Context, script *Script, subject string, keys []string, args ...any) (reply, error) {
	texts, err := script.script.Run(ctx, s.client, keys, args...).StringSlice()
	if err != nil {
		return nil, failed(script.Name, subject, err)
	}
	return texts, nil
}

// yes runs a script that answers 1 or 0.
func (s *Store) yes(ctx context.Context, script *Script, subject string, keys []string, args ...any) (bool, error) {
	r, err := s.run(ctx, script, subject, keys, args...)
	return err == nil && r[0] == "1", err
}

// reply is what a script answers: a verdict, and texts or numbers.
type reply []string

func (r reply) verdict() Verdict { return Verdict(r[0]) }

// int is a number of a reply, or of a hash; what is no number counts as 0, as it does
// for the scripts.
func (r reply) int(i int) int64 { return number(r[i]) }

// instant is a time of a reply.
func (r reply) instant(i int) time.Time { return instant(r[i]) }

// number is the prelude's int: plain decimal text of at most 15 digits, else 0.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || len(text) > 15 || strconv.FormatInt(n, 10) != text {
		return 0
	}
	return n
}

// instant reads ms since 1970; 0 and what is no number are the zero time.
func instant(text string) time.Time {
	if ms := number(text); ms > 0 {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}

// millis is a time to live or a window for a script. Redis takes none below 1 ms, and
// takes offence at it in the middle of a script: the caller has a bug.
func millis(what string, d time.Duration) int64 {
	if d < time.Millisecond {
		panic(fmt.Sprintf("store: %s is %v; it must be at least 1ms", what, d))
	}
	return d.Milliseconds()
}

// flag is a yes or no for a script.
func flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// with appends texts to the fixed arguments of a script.
func with(args []any, more ...string) []any {
	args = slices.Grow(args, len(more))
	for _, text := range more {
		args = append(args, text)
	}
	return args
}
