package lang

import (
	"time"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// clock is the virtual time of the statements, as far as it is known before the
// run: `run` moves it on, after `settle` nobody knows it.
type clock struct {
	now     time.Duration
	known   bool
	ran     bool
	pending []pending // actions whose time has not come
	series  []series  // of `every`
}

type pending struct {
	word syntax.Word
	at   time.Duration
}

// series is an action that comes again and again, from a time that is known.
type series struct {
	step  *Step
	start time.Duration
}

// FiringsMax is how often an `every` may come: every 5 s for two months.
const FiringsMax = 1_000_000

// times reads the prefix of a statement.
func (v *vetter) times(s *Step) {
	at, every, until := s.Stmt.At, s.Stmt.Every, s.Stmt.Until
	if at.Raw == "" && every.Raw == "" {
		return
	}
	if s.Verb.Phase != Action {
		prefix := "at"
		if every.Raw != "" {
			prefix = "every"
		}
		v.add(&syntax.Error{Pos: s.Stmt.Pos, Msg: s.Verb.Name + " takes no " + prefix, Hint: "it is done at its place in the file"})
		return
	}
	read := func(w syntax.Word, into *time.Duration, parse func(*scope, syntax.Word) (any, *syntax.Error)) bool {
		if w.Raw == "" {
			return false
		}
		d, err := parse(nil, w)
		if err != nil {
			v.add(err)
			return false
		}
		*into = d.(time.Duration)
		return true
	}
	var d time.Duration
	if read(at, &d, parseDuration) {
		s.At = &d
		v.notBefore(at, d)
		v.pending = append(v.pending, pending{at, d})
	}
	if read(every, &s.Every, parsePeriod) && v.known {
		v.series = append(v.series, series{s, v.now + s.Every})
	}
	if read(until, &s.Until, parseDuration) {
		v.notBefore(until, s.Until)
		if s.Until == 0 {
			v.fail(until, "", "until needs a time above 0s")
		}
	}
}

// notBefore reports a time that has passed.
func (v *vetter) notBefore(w syntax.Word, d time.Duration) {
	if v.known && d < v.now {
		v.fail(w, "times are absolute, not relative", "%s has passed: it is %s here", w.Raw, v.now)
	}
}

// notBeforeNow does so for a key that is an absolute time.
func (v *vetter) notBeforeNow(a Args, w syntax.Word, key string) {
	if a.Has(key) {
		v.notBefore(w, a.Duration(key))
	}
}

func (v *vetter) run(s *Step) {
	v.ran = true
	v.now += s.Args.Duration("duration")
	if v.now > durationMax {
		v.fail(s.arg("duration"), "at most "+durationMax.String(), "the scenario runs too long")
		v.now = 0
		v.known = false
	}
}

func (v *vetter) settle() {
	v.ran = true
	v.known = false
}

// tooOften reports actions that come too often. Where the end is not known, the run counts.
func (v *vetter) tooOften() {
	for _, p := range v.series {
		end := v.now
		if p.step.Until > 0 {
			end = min(end, p.step.Until)
		}
		if n := int64((end-p.start)/p.step.Every) + 1; v.known && n > FiringsMax {
			v.fail(p.step.Stmt.Every, "end it with until, or let it come less often", "%s comes %d times, and at most %d are taken", p.step.Stmt.Every.Raw, n, FiringsMax)
		}
	}
}

// unreached reports actions after the end: they would never be done.
func (v *vetter) unreached() {
	for _, p := range v.pending {
		if v.known && p.at > v.now {
			v.fail(p.word, "run longer, or do it earlier", "%s never comes: the scenario ends at %s", p.word.Raw, v.now)
		}
	}
}
