package sim

import (
	"slices"
	"time"
)

// Rule is one rule of the fault plan. Rules are asked in the order in which they
// were injected; the first that fires decides.
type Rule struct {
	ID string // names the rule in its draws and in Fired

	Match  func(CallName) bool // which calls it is about
	Effect string              // crash, down, hang, late, lost, pause, refuse, slow, or one of Call.Effects
	Param  string              // for the fake: a status, a count
	Delay  time.Duration       // of slow, late and pause
	After  bool                // crash, pause: after the request was carried out, not before

	NthMin, NthMax int           // only the n-th matching calls, from 1; 0: any
	Rate           float64       // probability; 0: always
	Count          int           // fires at most so often; 0: no limit
	From, Until    time.Duration // virtual time; Until 0: for good
}

// Fired is one effect that a rule had on a call.
type Fired struct {
	Number int // in the run, from 1
	Rule   string
	Call   CallName
	At     time.Duration
	Effect string
	Param  string
	Delay  time.Duration
	After  bool
}

func (f *Fired) String() string {
	s := f.Effect
	if f.Param != "" {
		s += " " + f.Param
	}
	if f.Delay != 0 {
		s += " delay=" + f.Delay.String()
	}
	if f.After {
		s += " after"
	}
	return s
}

type plan struct {
	rules []*rule
	fired []*Fired
}

type rule struct {
	Rule
	seen, fired int
	healed      bool
}

// Inject adds a rule to the fault plan.
func (w *World) Inject(r Rule) {
	if r.Match == nil || r.Effect == "" {
		panic("sim: a fault rule needs Match and Effect")
	}
	w.plan.rules = append(w.plan.rules, &rule{Rule: r})
}

// Heal ends every rule for which which returns true; nil ends all.
func (w *World) Heal(which func(Rule) bool) {
	for _, r := range w.plan.rules {
		if which == nil || which(r.Rule) {
			r.healed = true
		}
	}
}

// Fired lists the effects that the plan had so far, in order. A run in which a
// fault hit nothing proves nothing: see Unfired.
func (w *World) Fired() []*Fired { return w.plan.fired }

// Unfired lists the rules that never fired.
func (w *World) Unfired() []Rule {
	var out []Rule
	for _, r := range w.plan.rules {
		if r.fired == 0 {
			out = append(out, r.Rule)
		}
	}
	return out
}

func (p *plan) match(w *World, n CallName) *Fired {
	for _, r := range p.rules {
		if r.fires(w, n) {
			f := &Fired{Number: len(p.fired) + 1, Rule: r.ID, Call: n, At: time.Duration(w.now),
				Effect: r.Effect, Param: r.Param, Delay: r.Delay, After: r.After}
			p.fired = append(p.fired, f)
			return f
		}
	}
	return nil
}

func (r *rule) fires(w *World, n CallName) bool {
	now := time.Duration(w.now)
	if r.healed || now < r.From || r.Until > 0 && now >= r.Until || !r.Match(n) {
		return false
	}
	r.seen++
	switch {
	case r.NthMin > 0 && r.seen < r.NthMin,
		r.NthMax > 0 && r.seen > r.NthMax,
		r.Count > 0 && r.fired >= r.Count,
		r.Rate > 0 && unit(w.Hash("fault", r.ID, n.String())) >= r.Rate:
		return false
	}
	r.fired++
	return true
}

// Glob says whether s matches a pattern in which `*` stands for any text.
func Glob(pattern, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && pattern[i] == s[j]:
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
