package lang

import (
	"slices"
	"strings"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// FaultEffect is what `fault` can make of a call: an effect of every service
// (Service is empty) or of one, which then hides that of the same name.
type FaultEffect struct {
	Service, Name, Doc string
	Keys               []string // those of effectKeys that mean something to it; delay is needed then
}

// services are what a fault can hit: the first part of `service.verb` in the name of a call.
var services = []string{"redis", "hub", "callback", "worker", "content", "artifacts", "media", "consumer", "pg"}

var (
	delay   = []string{"delay"}
	moment  = []string{"when"}
	delayed = []string{"delay", "when"}
)

var effects = []*FaultEffect{
	{"", "refuse", "The call is not carried out, and the caller learns it.", nil},
	{"", "lost", "The call is carried out and its answer lost.", nil},
	{"", "slow", "The call takes `delay` longer, half of it before it is carried out.", delay},
	{"", "late", "The call is carried out in time and answered `delay` late.", delay},
	{"", "hang", "The call is not carried out and never answered: the caller runs into its deadline.", nil},
	{"", "down", "As refuse, said of a service that is away for its time (`for`, `until`, or until it is healed).", nil},
	{"", "crash", "The caller crashes, before the call is carried out or (`when=after`) after it.", moment},
	{"", "pause", "The caller stands still for `delay`, before the call or (`when=after`) after it.", delayed},

	{"redis", "noscript", "Redis has forgotten the script (NOSCRIPT).", nil},
	{"redis", "evict", "`key`, or the first key of the command, is evicted before it runs.", []string{"key"}},
	{"redis", "cut", "The `first` commands of a pipeline (half of them) are carried out, then the connection breaks.", []string{"first"}},
	{"redis", "oom", "Memory is short: a command that may need some is refused, and a script whose first write is one.", nil},
	{"redis", "readonly", "Redis is a replica: commands and scripts that write are refused.", nil},
	{"redis", "outage", "Redis is away: connections are refused, for its time.", nil},

	{"hub", "reject", "The hub answers `status` (400) and does nothing.", []string{"status"}},
	{"hub", "error", "The hub answers 500 and does nothing.", nil},
	{"hub", "busy", "The hub answers 503 `no_worker_available` and does nothing.", nil},
	{"hub", "stale", "The hub carries the call out and answers as the last time.", nil},
	{"hub", "garbage", "The hub carries the call out and answers with a body that cannot be read.", nil},
	{"hub", "restart", "The hub restarts with an empty queue before it carries the call out.", nil},

	{"callback", "drop", "The callback never arrives; the hub takes it for delivered.", nil},
	{"callback", "duplicate", "The callback arrives, and once more within 30 s.", nil},
	{"callback", "reorder", "The callback arrives within 60 s, behind the next ones.", nil},
	{"callback", "delay", "The callback arrives `delay` late, behind the next ones.", delay},

	{"worker", "crawl", "The rest of the job takes 50 times longer.", nil},
	{"worker", "oom", "The job fails: out of memory.", nil},
	{"worker", "fail", "The job fails with `code`, or `invalid_workflow`.", []string{"code"}},
	{"worker", "half", "The upload stops half-way, and the worker reports success.", nil},
	{"worker", "wrong", "The worker reports the result of another unit.", nil},
	{"worker", "duplicate", "The worker reports twice.", nil},

	{"content", "missing", "The scene is not there.", nil},
	{"content", "unreadable", "The content cannot be read.", nil},
	{"artifacts", "missing", "The file is not there.", nil},
	{"artifacts", "unreadable", "The file cannot be asked for.", nil},
	{"pg", "unreadable", "The store cannot be read.", nil},
	{"pg", "undecodable", "One row of the answer makes no sense.", nil},
	{"pg", "partial", "The second half of the page is missing.", nil},
	{"pg", "empty", "The store answers as an empty one.", nil},
	{"pg", "stale", "The store answers as before the last write of the scene.", nil},
	{"media", "missing", "The merge answers that a part is missing.", nil},
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

// checkFault checks what the types of the arguments do not say.
func checkFault(v *vetter, s *Step) {
	a := s.Args
	service := a.Text("service")
	if a.Has("call") {
		if a.Has("service") {
			v.fail(s.arg("service"), "", "a fault names a service or a call, not both")
			return
		}
		var ok bool
		if service, ok = serviceOf(a.Text("call")); !ok {
			v.fail(s.arg("call"), `as in call="e1/dispatch hub.post b1/c1/s1:image/u2 #1"`, "bad name of a call")
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
	for _, key := range effectKeys {
		if a.Has(key) && !slices.Contains(effect.Keys, key) {
			v.fail(s.arg(key), "", "%s means nothing to %s", key, effect.Name)
		}
	}
	if slices.Contains(effect.Keys, "delay") && !a.Has("delay") {
		v.fail(s.arg("effect"), "as in "+effect.Name+" delay=5s", "delay is missing: %s needs it", effect.Name)
	}
}

// serviceOf takes the service from the name of a call, `process/task service.verb subject #n`.
func serviceOf(call string) (string, bool) {
	fields := strings.Fields(call)
	if len(fields) < 3 || !strings.Contains(fields[0], "/") || !strings.HasPrefix(fields[len(fields)-1], "#") {
		return "", false
	}
	service, _, ok := strings.Cut(fields[1], ".")
	return service, ok && slices.Contains(services, service)
}

// arg is the word that gave an argument: the operand, or the value of the key.
func (s *Step) arg(name string) syntax.Word { return s.words[name] }
