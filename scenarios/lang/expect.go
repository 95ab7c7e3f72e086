package lang

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// Expect is what `expect METRIC [SUBJECT] [OP VALUE]` and `show METRIC [SUBJECT]`
// speak of.
type Expect struct {
	Metric  *Metric
	Path    Path   // the subject of a metric of stages or scenes: one observation for each target
	Subject string // the subject of any other metric: a glob, a process, a stage type; may be empty
	Want    Want   // of expect only
}

// Want is the condition of an `expect`.
type Want struct {
	Op       string // = != < <= > >=
	Count    CountRange
	Duration DurationRange
	Word     string // of a word metric, or beside a count; empty otherwise
	Yes      bool
	raw      string
}

// Value is what a metric shows of one subject: the field that belongs to Kind.
type Value struct {
	Kind     Kind
	Count    int64
	Duration time.Duration
	Word     string // of a word; of a count, the word that stands for it (budget: full, with Count the limit)
	Yes      bool
}

func (w Want) String() string { return w.Op + " " + w.raw }

func (v Value) String() string {
	switch {
	case v.Word != "":
		return v.Word
	case v.Kind == KindCount:
		return strconv.FormatInt(v.Count, 10)
	case v.Kind == KindDuration:
		return v.Duration.String()
	case v.Kind == KindYesNo && v.Yes:
		return "yes"
	case v.Kind == KindYesNo:
		return "no"
	}
	return ""
}

// Holds says whether an observed value meets the condition.
func (w Want) Holds(v Value) bool {
	switch {
	case w.Word != "" || v.Kind == KindWord:
		return (w.Word == v.Word) == (w.Op == "=")
	case v.Kind == KindYesNo:
		return (w.Yes == v.Yes) == (w.Op == "=")
	case v.Kind == KindDuration:
		return compare(w.Op, v.Duration, w.Duration.Min, w.Duration.Max)
	}
	return compare(w.Op, v.Count, w.Count.Min, w.Count.Max)
}

// compare compares with a range for = and !=, and with a value (lo == hi) else.
func compare[T cmp.Ordered](op string, v, lo, hi T) bool {
	switch op {
	case "=":
		return lo <= v && v <= hi
	case "!=":
		return v < lo || hi < v
	case "<":
		return v < lo
	case "<=":
		return v <= lo
	case ">":
		return v > lo
	}
	return v >= lo
}

// bindExpect binds `METRIC [SUBJECT] [OP VALUE]`.
func bindExpect(v *vetter, s *Step, operands []syntax.Word) {
	before := operands
	var after []syntax.Word
	if i := slices.IndexFunc(operands, syntax.Word.Operator); i >= 0 {
		before, after = operands[:i], operands[i:]
	}
	if len(before) == 0 {
		v.fail(s.Stmt.Verb, "sim help expect lists the metrics", "a metric is missing after expect")
		return
	}
	e := v.metric(before)
	if e == nil {
		return
	}
	s.Expect = e
	e.Want = Want{Op: "=", raw: "yes", Yes: true}
	if len(after) == 0 {
		if e.Metric.Kind != KindYesNo {
			v.fail(before[0], "as in expect "+e.Metric.Name+" "+e.Metric.Example, "%s is a %s: an operator and a value are missing", e.Metric.Name, e.Metric.Kind)
		}
		return
	}
	v.want(e, after)
}

// metric reads a metric and its subject.
func (v *vetter) metric(operands []syntax.Word) *Expect {
	name := operands[0]
	m := MetricNamed(name.Raw)
	if m == nil {
		v.fail(name, suggestOr(name.Raw, metricNames(), "sim help expect lists them"), "unknown metric %s", name.Raw)
		return nil
	}
	e := &Expect{Metric: m}
	rest := operands[1:]
	if len(rest) == 0 {
		if !m.Subject.Optional {
			v.fail(name, "as in "+m.Name+" "+m.Example, "a subject is missing after %s: %s", m.Name, m.Subject.Type.Name)
			return nil
		}
		return e
	}
	if len(rest) > 1 {
		v.leftOver(rest[1:], "put the operator before the value, as in "+m.Name+" "+m.Example)
		return nil
	}
	value, err := m.Subject.Type.parse(&v.scope, rest[0])
	if err != nil {
		v.add(err)
		return nil
	}
	if path, ok := value.(Path); ok {
		e.Path = path
	} else {
		e.Subject = value.(string)
	}
	return e
}

// want reads `OP VALUE`.
func (v *vetter) want(e *Expect, words []syntax.Word) {
	op := words[0]
	if len(words) == 1 {
		v.fail(op, "", "a value is missing after %s", op.Raw)
		return
	}
	if len(words) > 2 {
		v.leftOver(words[2:], "")
		return
	}
	w, m := words[1], e.Metric
	e.Want = Want{Op: op.Raw, raw: w.Raw}
	if parsed, err := m.wantType(w).parse(&v.scope, w); err != nil {
		v.add(err)
		return
	} else {
		switch t := parsed.(type) {
		case CountRange:
			e.Want.Count = t
		case DurationRange:
			e.Want.Duration = t
		case string:
			e.Want.Word = t
		case bool:
			e.Want.Yes = t
		}
	}
	ordered := op.Raw != "=" && op.Raw != "!="
	if (m.Kind == KindWord || m.Kind == KindYesNo || e.Want.Word != "") && ordered {
		v.fail(op, "use = or !=", "%s cannot be compared by %s", w.Raw, op.Raw)
	}
	if ordered && strings.Contains(w.Raw, "..") {
		v.fail(w, "use = or !=, or one value", "a range cannot be compared by %s", op.Raw)
	}
}

// wantType is the type of the value that a metric is compared with.
func (m *Metric) wantType(w syntax.Word) Type {
	switch {
	case m.Kind == KindWord, slices.Contains(m.Words, w.Raw):
		return words(m.Words...)
	case m.Kind == KindYesNo:
		return typeYesNo
	case m.Kind == KindDuration:
		return typeDurationRange
	}
	return typeCountRange
}
