package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/animastor/orchestra/scenarios/syntax"
	"github.com/animastor/orchestra/sim"
)

// FaultEffect is what `fault` can make of a call: an effect of every service
// (Service is empty) or of one, which then hides that of the same name.
type FaultEffect struct {
	Service, Name, Doc string
	Verbs              []string // of the calls that it means something to; nil: all
	Keys               []string // delay and when, where they mean something to it; delay is needed then
	Param              string   // the key that its parameter is written with; "": it has none
}

// services are what a fault can hit: the first part of `service.verb` in the name of a call.
var services = []string{"redis", "hub", "callback", "worker", "content", "artifacts", "media", "consumer", "pg"}

var (
	delay   = []string{"delay"}
	moment  = []string{"when"}
	delayed = []string{"delay", "when"}
)

var effects = []*FaultEffect{
	{Name: "refuse", Doc: "The call is not carried out, and the caller learns it."},
	{Name: "lost", Doc: "The call is carried out and its answer lost."},
	{Name: "slow", Keys: delay, Doc: "The call takes `delay` longer, half of it before it is carried out."},
	{Name: "late", Keys: delay, Doc: "The call is carried out in time and answered `delay` late."},
	{Name: "hang", Doc: "The call is not carried out and never answered: the caller runs into its deadline."},
	{Name: "down", Doc: "As refuse, said of a service that is away for its time (`for`, `until`, or until it is healed)."},
	{Name: "crash", Keys: moment, Doc: "The caller crashes, before the call is carried out or (`when=after`) after it."},
	{Name: "pause", Keys: delayed, Doc: "The caller stands still for `delay`, before the call or (`when=after`) after it."},

	{Service: "redis", Name: "noscript", Doc: "Redis has forgotten the script (NOSCRIPT)."},
	{Service: "redis", Name: "evict", Param: "key", Doc: "`key`, or the first key of the command, is evicted before it runs."},
	{Service: "redis", Name: "cut", Param: "first", Doc: "The `first` commands of a pipeline (half of them) are carried out, then the connection breaks."},
	{Service: "redis", Name: "oom", Doc: "Memory is short: a command that may need some is refused, and a script whose first write is one."},
	{Service: "redis", Name: "readonly", Doc: "Redis is a replica: commands and scripts that write are refused."},

	{Service: "hub", Name: "reject", Param: "status", Doc: "The hub answers `status` (400) and does nothing."},
	{Service: "hub", Name: "error", Doc: "The hub answers 500 and does nothing."},
	{Service: "hub", Name: "busy", Doc: "The hub answers 503 `no_worker_available` and does nothing."},
	{Service: "hub", Name: "stale", Doc: "The hub carries the call out and answers as the last time."},
	{Service: "hub", Name: "garbage", Doc: "The hub carries the call out and answers with a body that cannot be read."},
	{Service: "hub", Name: "restart", Doc: "The hub restarts with an empty queue before it carries the call out."},

	{Service: "callback", Name: "drop", Doc: "The callback never arrives; the hub takes it for delivered."},
	{Service: "callback", Name: "duplicate", Doc: "The callback arrives, and once more within 30 s."},
	{Service: "callback", Name: "reorder", Doc: "The callback arrives within 60 s, behind the next ones."},
	{Service: "callback", Name: "delay", Keys: delay, Doc: "The callback arrives `delay` late, behind the next ones."},

	{Service: "worker", Name: "crawl", Doc: "The rest of the job takes 50 times longer."},
	{Service: "worker", Name: "oom", Doc: "The job fails: out of memory."},
	{Service: "worker", Name: "fail", Param: "code", Doc: "The job fails with `code`, or `invalid_workflow`."},
	{Service: "worker", Name: "half", Doc: "The upload stops half-way, and the worker reports success."},
	{Service: "worker", Name: "wrong", Doc: "The worker reports the result of another unit."},
	{Service: "worker", Name: "duplicate", Doc: "The worker reports twice."},

	{Service: "content", Name: "missing", Verbs: []string{"scene", "scenes"}, Doc: "The scene is not there."},
	{Service: "content", Name: "unreadable", Doc: "The content cannot be read."},
	{Service: "artifacts", Name: "missing", Verbs: []string{"stat"}, Doc: "The file is not there."},
	{Service: "artifacts", Name: "unreadable", Verbs: []string{"stat"}, Doc: "The file cannot be asked for."},
	{Service: "pg", Name: "unreadable", Doc: "The store cannot be read."},
	{Service: "pg", Name: "undecodable", Verbs: []string{"pointer", "marks", "version", "tombstone"}, Doc: "One row of the answer makes no sense."},
	{Service: "pg", Name: "partial", Verbs: []string{"pointer", "marks"}, Doc: "The second half of the page is missing."},
	{Service: "pg", Name: "empty", Verbs: []string{"pointer", "marks", "version", "tombstone"}, Doc: "The store answers as an empty one."},
	{Service: "pg", Name: "stale", Verbs: []string{"pointer", "marks", "version"}, Doc: "The store answers as before the last write of the scene."},
	{Service: "media", Name: "missing", Verbs: []string{"merge"}, Doc: "The merge answers that a part is missing."},
}

// effectKeys are the keys of fault that mean something to some effects only.
var effectKeys = []string{"delay", "when", "status", "first", "key", "code"}

// Effects are all effects, as the manual lists them.
func Effects() []*FaultEffect { return slices.Clone(effects) }

// effectNamed finds an effect of a service; names are all that the service knows.
func effectNamed(service, name string) (found *FaultEffect, names []string) {
	for _, e := range effects {
		if e.Service != "" && e.Service != service {
			continue
		}
		names = append(names, e.Name)
		if e.Name == name {
			found = e
		}
	}
	return found, names
}

// AllKeys are the keys that mean something to the effect.
func (e *FaultEffect) AllKeys() []string {
	if e.Param == "" {
		return e.Keys
	}
	return append(slices.Clone(e.Keys), e.Param)
}

// Param is the parameter that a fault gives its effect; "" if none.
func (s *Step) Param() string {
	if key := s.Effect.Param; key != "" && s.Args.Has(key) {
		return fmt.Sprint(s.Args.values[key]) // a count or a text
	}
	return ""
}

// Hits says whether the effect means something to a call whose verb matches a glob; "" is any.
func (e *FaultEffect) Hits(verb string) bool {
	return len(e.Verbs) == 0 || verb == "" || slices.ContainsFunc(e.Verbs, func(v string) bool { return sim.Glob(verb, v) })
}

// checkFault checks what the types of the arguments do not say.
func checkFault(v *vetter, s *Step) {
	a := s.Args
	service, verb, where := a.Text("service"), a.Text("verb"), s.arg("verb")
	if a.Has("call") {
		if a.Has("service") {
			v.fail(s.arg("service"), "", "a fault names a service or a call, not both")
			return
		}
		var ok bool
		where = s.arg("call")
		if service, verb, ok = splitCall(a.Text("call")); !ok {
			v.fail(where, `as in call="e1/dispatch hub.post b1/c1/s1:image/u2 #1"`, "bad name of a call")
			return
		}
		for _, key := range []string{"nth", "rate", "count", "for", "until", "on"} {
			if a.Has(key) {
				v.fail(s.arg(key), "", "%s means nothing beside call: the call is named already", key)
			}
		}
	} else if !a.Has("service") {
		v.fail(s.Stmt.Verb, "one of "+strings.Join(services, ", "), "a service is missing after fault")
		return
	}
	if a.Has("for") && a.Has("until") {
		v.fail(s.arg("until"), "", "a fault ends by for or by until, not by both")
	}
	v.notBeforeNow(a, s.arg("until"), "until")
	effect, names := effectNamed(service, a.Text("effect"))
	if effect == nil {
		w := s.arg("effect")
		v.fail(w, suggestOr(w.Raw, names, "one of "+strings.Join(names, ", ")), "unknown effect %s of %s", w.Raw, service)
		return
	}
	s.Effect = effect
	if !effect.Hits(verb) {
		v.fail(where, "it is of "+strings.Join(effect.Verbs, ", "), "%s means nothing to %s of %s", effect.Name, verb, service)
	}
	for _, key := range effectKeys {
		if a.Has(key) && !slices.Contains(effect.AllKeys(), key) {
			v.fail(s.arg(key), "", "%s means nothing to %s", key, effect.Name)
		}
	}
	if slices.Contains(effect.Keys, "delay") && !a.Has("delay") {
		v.fail(s.arg("effect"), "as in "+effect.Name+" delay=5s", "delay is missing: %s needs it", effect.Name)
	}
}

// splitCall takes service and verb from the name of a call, `process/task service.verb subject #n`.
func splitCall(call string) (service, verb string, ok bool) {
	fields := strings.Fields(call)
	if len(fields) < 3 || !strings.Contains(fields[0], "/") || !strings.HasPrefix(fields[len(fields)-1], "#") {
		return "", "", false
	}
	service, verb, ok = strings.Cut(fields[1], ".")
	return service, verb, ok && slices.Contains(services, service)
}

// arg is the word that gave an argument: the operand, or the value of the key.
func (s *Step) arg(name string) syntax.Word { return s.words[name] }
