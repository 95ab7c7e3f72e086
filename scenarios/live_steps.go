package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
)

// do carries a statement out for real. Its cases are the verbs that notLive lets through.
func (r *liveRun) do(s *lang.Step) {
	var err error
	switch s.Verb.Name {
	case "book", "engines", "config", "property":
	case "workers":
		for _, w := range workersOf(s) {
			if err == nil {
				err = r.service.SetWorkers(w)
			}
		}
	case "preload":
		err = r.preload(s)
	case "evict":
		err = r.evict(s)
	case "lose":
		for _, t := range s.Args.Path("path").Targets {
			if err == nil {
				err = r.shelf.lose(r.ctx, t, s.Args.Names("units"))
			}
		}
	case "insert":
		for _, t := range s.Args.Path("path").Targets {
			if err == nil {
				err = r.shelf.insert(t.SceneID)
			}
		}
	case "request", "regenerate", "reset", "cancel", "delete":
		r.intent(s)
	case "run":
		r.now += s.Args.Duration("duration")
		r.pass(r.now, nil)
	case "settle":
		r.settle(s)
	case "expect":
		r.expect(s)
	default:
		panic("scenarios: notLive lets the verb " + s.Verb.Name + " through, which does nothing; add it to do")
	}
	if err != nil {
		r.broken(fmt.Sprintf("line %d: %s", s.Stmt.Line, s.Verb.Name), err)
	}
}

// intent asks for every target of a path.
func (r *liveRun) intent(s *lang.Step) {
	for _, t := range s.Args.Path("path").Targets {
		args := of(t)
		if s.Verb.Name == "request" && s.Args.YesNo("force") {
			args = append([]string{"--force"}, args...)
		}
		r.ask(s, t, args...)
	}
}

// of names a target on the command line.
func of(t ports.StageID) (args []string) {
	for _, part := range [...][2]string{{"chapter", t.Chapter}, {"scene", t.Scene}, {"stage", t.Stage}} {
		if part[1] != "" {
			args = append(args, "--"+part[0]+"="+part[1])
		}
	}
	return append(args, "--", t.Book)
}

// ask runs a client command, and insists for a while, as the client of a world does.
func (r *liveRun) ask(s *lang.Step, about ports.StageID, args ...string) {
	r.begin()
	err := r.service.Ask(r.ctx, s.Verb.Name, args...)
	for until := time.Now().Add(liveAskTime); err != nil && time.Now().Before(until); err = r.service.Ask(r.ctx, s.Verb.Name, args...) {
		time.Sleep(time.Second)
	}
	if err != nil {
		r.fail(Failure{Pos: s.Stmt.Pos, What: s.Verb.Name, Subject: about.String(), Saw: err.Error()})
	}
}

// preload writes a raw value, as that of a world does.
func (r *liveRun) preload(s *lang.Step) error {
	db, key, kind := r.service.Client(), s.Args.Text("key"), s.Args.Text("type")
	held, err := db.Type(r.ctx, key).Result()
	if err != nil {
		return err
	}
	if held != kind {
		err = db.Del(r.ctx, key).Err() // as in a world
	}
	switch values := s.Args.Texts("value"); {
	case err != nil:
	case kind == "string":
		err = db.Set(r.ctx, key, values[0], 0).Err()
	case kind == "set":
		err = db.SAdd(r.ctx, key, values).Err()
	}
	for _, f := range s.Args.Fields() {
		switch {
		case err != nil:
		case kind == "hash":
			err = db.HSet(r.ctx, key, f.Name, f.Value).Err()
		case kind == "zset":
			score, _ := strconv.ParseFloat(f.Value, 64) // vetted
			err = db.ZAdd(r.ctx, key, redis.Z{Score: score, Member: f.Name}).Err()
		}
	}
	if err == nil && s.Args.Has("ttl") {
		err = db.PExpire(r.ctx, key, s.Args.Duration("ttl")).Err()
	}
	return err
}

// evict removes keys, as that of a world does.
func (r *liveRun) evict(s *lang.Step) error {
	db := r.service.Client()
	if !s.Args.Has("service") {
		return db.Del(r.ctx, s.Args.Text("key")).Err()
	}
	for _, t := range s.Args.Path("key").Targets {
		dispatch, err := db.HGet(r.ctx, keys.AssetState(t.SceneID), t.Stage+".dispatch").Result()
		if err != nil && err != redis.Nil {
			return err
		}
		if key := wire.KeyOf(s.Args.Text("family"), t, dispatch); key != "" {
			if err := db.Del(r.ctx, key).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// notLive says what keeps a scenario from a live run, or "".
func notLive(p *lang.Program) string {
	for i := range p.Steps {
		s := &p.Steps[i]
		if why := verbNotLive(s); why != "" {
			return why
		}
	}
	return ""
}

// worldOnly are the verbs of which only a world knows the meaning, and what they are.
var worldOnly = map[string]string{
	"fault": "it has faults", "heal": "it has faults", "crash": "it crashes a process", "restart": "it crashes a process",
	"pause": "it pauses a process", "clock": "it sets a clock off", "latency": "it says how long calls take",
	"failover": "it loses writes of Redis", "replay": "it replays a run call by call", "hub": "it changes the ways of the hub",
	"show": "it shows what only a world can", "clear": "it clears deferrals", "edit": "it edits scenes", "reconcile": "it asks for a pass",
}

func verbNotLive(s *lang.Step) string {
	switch s.Verb.Name {
	case "config":
		for _, setting := range s.Args.Given() {
			if setting != "tick" && setting != "versioned" && !strings.HasPrefix(setting, "slots.") {
				return "it sets " + setting + ", which is no setting of orchestra serve"
			}
		}
	case "expect":
		return metricNotLive(s.Expect)
	}
	return worldOnly[s.Verb.Name]
}

// unseen are the metrics that cannot be read from outside.
var unseen = []string{"told", "repeats", "news", "completions", "timed", "counter"}

func metricNotLive(e *lang.Expect) string {
	for _, name := range unseen {
		if e.Metric.Name == name {
			return "it expects " + name + ", which cannot be read from outside"
		}
	}
	if e.Metric.Name == "calls" && !strings.HasPrefix(e.Subject, hubCalls) {
		return "it counts calls that only a world sees"
	}
	return ""
}
