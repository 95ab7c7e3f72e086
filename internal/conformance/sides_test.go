package conformance

import (
	"context"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/scenarios/wire"
	"github.com/animastor/orchestra/sim"
)

// play plays a case on the real server, again until each round trip was in time.
func (s *server) play(t tester, steps []step) *play {
	t.Helper()
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		s.reset(t)
		p := &play{
			client: goredis.NewClient(s.client.Options()), // for its hook: it never connects
			baseMs: time.Now().UnixMilli() + gapMs, wait: waitUntil, send: s.within,
			set: func(fault string) { s.set(t, fault) },
		}
		p.client.AddHook(p)
		p.run(steps)
		_ = p.client.Close()
		if !p.late {
			return p
		}
	}
	t.Fatalf("the machine is too busy: within 30 s the case was never played in time")
	return nil
}

// waitUntil waits for an instant of the machine's clock, which is the server's too.
func waitUntil(atMs int64) {
	const precision = 2 * time.Millisecond // of Sleep
	time.Sleep(time.Until(time.UnixMilli(atMs)) - precision)
	for time.Now().UnixMilli() < atMs {
	}
}

// within carries out commands and says whether the server did so within a millisecond.
func (s *server) within(atMs int64, cmds []goredis.Cmder) bool {
	var before, after *goredis.TimeCmd
	_, _ = s.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		before = pipe.Time(ctx)
		for _, cmd := range cmds {
			_ = pipe.Process(ctx, cmd)
		}
		after = pipe.Time(ctx)
		return nil
	})
	return before.Val().UnixMilli() == atMs && after.Val().UnixMilli() == atMs
}

// set brings a fault about.
func (s *server) set(t tester, fault string) {
	commands := map[string][][]any{
		"":         {{"config", "set", "maxmemory", "0"}, {"replicaof", "no", "one"}},
		"oom":      {{"config", "set", "maxmemory", "1"}},
		"readonly": {{"replicaof", "127.0.0.1", "1"}}, // nobody is there
		"noscript": {{"script", "flush"}},
	}[fault]
	for _, command := range commands {
		if err := s.client.Do(ctx, command...).Err(); err != nil {
			t.Fatalf("redis: %v: %v", command, err)
		}
	}
}

// reset empties the server, but for the scripts of the engine.
func (s *server) reset(t tester) {
	s.set(t, "")
	_, err := s.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		pipe.FlushAll(ctx)
		for _, script := range store.Scripts() {
			pipe.ScriptLoad(ctx, script.Source)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("redis: reset: %v", err)
	}
}

// fake is the fake of Redis, in one of its ways.
type fake struct {
	name  string
	lua   bool
	plant goredis.Hook // a difference, or nil
}

// redisFakes are both ways of it.
func redisFakes() []fake {
	plant := plants[*plantName]
	return []fake{{"the fake, with twins", false, plant}, {"the fake, with the scripts", true, plant}}
}

// world is an empty fake in a world of its own.
func (f fake) world() (*sim.World, *redis.Server) {
	w := sim.New(sim.Options{Seed: 1})
	twins := wire.Twins()
	var scripts []redis.Script
	for _, s := range store.Scripts() {
		scripts = append(scripts, redis.Script{Name: s.Name, SHA: s.SHA, Source: s.Source, Twin: twins[s.Name]})
	}
	return w, redis.New(w, redis.Options{Scripts: scripts, Lua: f.lua})
}

// play plays a case on the fake, at the instants of a play on the real server.
func (f fake) play(t tester, steps []step, baseMs int64) *play {
	t.Helper()
	w, s := f.world()
	defer w.Close()
	base := time.UnixMilli(baseMs).Sub(sim.Epoch)
	if base < time.Minute {
		t.Fatalf("the clock of this machine says %v; worlds begin at %v", time.UnixMilli(baseMs), sim.Epoch)
	}
	w.RunUntil(base - time.Minute)
	process := w.Process("e1")
	p := &play{client: s.Client(process), baseMs: baseMs}
	p.client.AddHook(p)
	if f.plant != nil {
		p.client.AddHook(f.plant)
	}
	p.set = func(fault string) {
		w.Heal(nil)
		if fault == "" {
			return
		}
		rule := sim.Rule{ID: fault, Effect: fault, Match: func(sim.CallName) bool { return true }}
		if fault == "noscript" {
			rule.Count = 1
		}
		w.Inject(rule)
	}
	process.Go(process.Context(), "case", func(ctx context.Context) {
		p.wait = func(atMs int64) { _ = process.Sleep(ctx, time.UnixMilli(atMs).Sub(w.Now())) }
		p.run(steps)
	})
	w.RunFor(time.Hour)
	if failures := w.Failures(); len(failures) > 0 {
		t.Fatalf("%s: %v", f.name, failures)
	}
	return p
}

// plants are differences that can be planted in a fake, to see that they are found: a hook
// for the client of the fake of Redis, nil for another fake.
var plants = map[string]goredis.Hook{
	"ttl":        wrongTTL{},
	"scope-echo": nil, // a hub whose answer to a clear does not name the scope
}

// wrongTTL is a fake that rounds the deadlines of keys up where Redis cuts them off.
type wrongTTL struct{}

var _ goredis.Hook = wrongTTL{}

// DialHook implements goredis.Hook.
func (wrongTTL) DialHook(next goredis.DialHook) goredis.DialHook { return next }

// ProcessHook implements goredis.Hook.
func (wrongTTL) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook { return next }

// ProcessPipelineHook implements goredis.Hook.
func (wrongTTL) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if c, ok := cmd.(*goredis.Cmd); ok && c.Name() == "pexpiretime" {
				if ms, ok := c.Val().(int64); ok && ms > 0 {
					c.SetVal(ms + 1)
				}
			}
		}
		return err
	}
}

// number is the text of a number.
func number(n int64) string { return strconv.FormatInt(n, 10) }
