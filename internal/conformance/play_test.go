package conformance

import (
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/internal/universe"
)

// gapMs is the time from one round trip to the next: room for the slower one of two
// clients that wait for an instant.
const gapMs = 2

var ctx = context.Background()

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// step is what a case does next.
type step struct {
	restMs   int64       // before it, beyond the gap
	fault    string      // of the server from here on: "", oom, readonly; noscript: it forgets its scripts once
	commands [][]string  // in one round trip; `@n` is an instant
	call     func(*play) // instead of commands: any round trips, through the client of the play
}

// play is one performance of a case on one server.
type play struct {
	client *goredis.Client
	baseMs int64                                       // the instant from which the case counts
	nextMs int64                                       // when the next round trip takes place, after the base
	fault  string                                      // in force
	set    func(fault string)                          // makes it so
	wait   func(atMs int64)                            // for that instant of the server's clock
	send   func(atMs int64, cmds []goredis.Cmder) bool // nil: as go-redis does; false: not within that millisecond
	late   bool                                        // it was so; the rest is not played
	trips  []trip
}

// trip is one round trip as it went.
type trip struct {
	atMs              int64
	requests, replies []string
}

var _ goredis.Hook = (*play)(nil)

var errLate = errors.New("a round trip was not carried out within its millisecond")

func (p *play) run(steps []step) {
	for _, s := range steps {
		if s.fault != p.fault {
			p.set(s.fault)
			p.fault = s.fault
			p.nextMs += 5
		}
		p.nextMs += s.restMs
		if s.call != nil {
			s.call(p)
		} else {
			p.pipeline(s.commands)
		}
		if p.late {
			return
		}
	}
}

// DialHook implements goredis.Hook.
func (p *play) DialHook(next goredis.DialHook) goredis.DialHook { return next }

// ProcessHook implements goredis.Hook.
func (p *play) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		if cmd.Name() == "hello" {
			return next(ctx, cmd) // go-redis dials anew after some errors
		}
		return p.trip([]goredis.Cmder{cmd}, func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements goredis.Hook.
func (p *play) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		return p.trip(cmds, func() error { return next(ctx, cmds) })
	}
}

// trip makes a round trip at its instant, and writes it down.
func (p *play) trip(cmds []goredis.Cmder, next func() error) error {
	if p.late {
		return errLate
	}
	t := trip{atMs: p.nextMs}
	p.nextMs += gapMs
	p.wait(p.baseMs + t.atMs)
	var err error
	if p.send == nil {
		if err = next(); len(cmds) == 1 {
			cmds[0].SetErr(err)
		}
	} else if !p.send(p.baseMs+t.atMs, cmds) {
		p.late = true
		return errLate
	}
	for _, cmd := range cmds {
		if err == nil {
			err = cmd.Err()
		}
		t.requests = append(t.requests, p.request(cmd))
		t.replies = append(t.replies, p.reply(cmd))
	}
	p.trips = append(p.trips, t)
	return err
}

// commands is a step that sends commands in one round trip.
func commands(commands ...[]string) step { return step{commands: commands} }

func (p *play) pipeline(commands [][]string) {
	_, _ = p.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		for _, command := range commands {
			args := make([]any, len(command))
			for i, arg := range command {
				args[i] = universe.At(arg, p.baseMs)
			}
			pipe.Do(ctx, args...)
		}
		return nil
	})
}

// dump asks for all that is known of keys, whatever their types are, and then for the
// names of all keys. (DBSIZE would count keys that are over and not yet removed.)
func dump(keys []string) step {
	var all [][]string
	for _, k := range keys {
		all = append(all, []string{"type", k}, []string{"pexpiretime", k}, []string{"get", k}, []string{"hgetall", k},
			[]string{"zrange", k, "0", "-1", "withscores"}, []string{"smembers", k}, []string{"lrange", k, "0", "-1"}, []string{"xrange", k, "-", "+"})
	}
	return commands(append(all, []string{"keys", "*"})...)
}
