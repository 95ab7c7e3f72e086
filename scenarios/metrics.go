package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/wire"
	"github.com/animastor/orchestra/sim"
)

// seen is what a metric shows of one subject.
type seen struct {
	subject string
	value   lang.Value
}

// line says it as `show` does.
func (o seen) line(metric string) string {
	return strings.TrimSpace(metric+" "+o.subject) + " = " + o.value.String()
}

// expect checks a metric here, or waits for it to hold.
func (r *run) expect(s *lang.Step) {
	e := s.Expect
	r.until(r.w.Sim.Elapsed(), nil) // all events of this instant
	wrong := func() (bad []seen) {
		for _, o := range r.observe(e) {
			if !e.Want.Holds(o.value) {
				bad = append(bad, o)
			}
		}
		return bad
	}
	if s.Args.Has("within") {
		r.until(r.w.Sim.Elapsed()+s.Args.Duration("within"), func() bool { return len(wrong()) == 0 })
	}
	for _, o := range wrong() {
		r.fail(Failure{Pos: s.Stmt.Pos, What: "expect " + e.Metric.Name + " " + e.Want.String(), Subject: o.subject, Saw: o.value.String(), Events: r.about(o.subject)})
	}
}

// about are the last events of a subject, or the last of all.
func (r *run) about(subject string) []sim.Event {
	trace := r.w.Sim.Trace()
	var out []sim.Event
	for _, e := range trace.Last(trace.Len()) {
		if e.Kind != "call" && strings.HasPrefix(e.Subject, subject) {
			out = append(out, e)
		}
	}
	if len(out) == 0 || subject == "" {
		return append([]sim.Event(nil), trace.Last(eventsShown)...)
	}
	return out[max(0, len(out)-eventsShown):]
}

// observe reads a metric of every subject.
func (r *run) observe(e *lang.Expect) []seen {
	one := func(v lang.Value) []seen { return []seen{{e.Subject, v}} }
	if v, ok := summed(r.w.Recorder.Tally, e); ok {
		return one(v)
	}
	switch e.Metric.Name {
	case "requests":
		return one(count(r.calls(requestName, "hub", e.Subject)))
	case "calls":
		return one(count(r.calls(sim.CallName.String, "", e.Subject)))
	case "counter":
		return one(count(r.w.Counter(e.Subject)))
	case "circuit":
		return one(word(r.w.Circuit(e.Subject)))
	case "slots":
		return one(count(r.w.SlotsUsed(e.Subject)))
	}
	var out []seen
	for _, t := range e.Path.Targets {
		out = append(out, seen{e.Path.Subject(t), r.metric(e.Metric.Name, t)})
	}
	return out
}

// summed is a metric of no stage that is counted by what engines tell.
func summed(t *wire.Tally, e *lang.Expect) (v lang.Value, ok bool) {
	if field, ok := strings.CutPrefix(e.Metric.Name, "tick."); ok {
		return count(tickField(t.Tick(e.Subject), field)), true
	}
	switch e.Metric.Name {
	case "troubles":
		return count(t.Troubles(e.Subject)), true
	case "passes":
		return count(t.Passes(e.Subject)), true
	}
	return lang.Value{}, false
}

// counted is a metric of a stage or scene that is counted by what engines tell.
func counted(t *wire.Tally, name string, s ports.StageID) (v lang.Value, ok bool) {
	c := t.Of(s)
	switch name {
	case "attempts":
		v = count(c.Attempts)
	case "refusals":
		v = count(c.Refusals)
	case "sends":
		v = count(c.Sends)
	case "results":
		v = count(c.Results)
	case "finishes":
		v = count(c.Finishes)
	case "reason":
		v = word(orNone(c.Reason))
	case "bucket":
		v = word(orNone(c.Bucket))
	case "window":
		v = duration(c.Window)
	case "retryable":
		v = yesNo(c.Retryable)
	case "told":
		v = count(c.Told)
	case "repeats":
		v = count(c.Repeats)
	case "news":
		v = word(orNone(c.News))
	case "completions":
		v = count(t.Of(s.Of("")).Told)
	default:
		return v, false
	}
	return v, true
}

// metric reads a metric of one stage or scene.
func (r *run) metric(name string, s ports.StageID) lang.Value {
	if v, ok := counted(r.w.Recorder.Tally, name, s); ok {
		return v
	}
	switch name {
	case "placeholder":
		return yesNo(r.w.Placeholder(s))
	case "timed":
		return duration(r.w.Timed(s.SceneID))
	case "progress":
		return count(r.w.Progress(s.SceneID))
	case "undelivered":
		return count(r.w.Undelivered(s.SceneID))
	case "posts":
		return count(r.w.Hub.Counts(s).Posts)
	case "jobs":
		return count(r.w.LiveJobs(s))
	case "artifacts":
		return count(r.w.WholeArtifacts(s))
	case "finales":
		return count(r.w.Finales(s.Book))
	case "journal":
		return count(r.w.JournalLen(s.SceneID))
	case "state":
		return word(string(r.w.State(s)))
	case "age":
		return duration(r.w.DeferralAge(s))
	case "deferred":
		return yesNo(r.w.Deferred(s))
	case "leased":
		return yesNo(r.w.Leased(s))
	case "marks":
		return count(len(r.w.Pointers.MarksOf(s.SceneID)))
	case "indexed":
		return yesNo(r.w.Indexed(s.SceneID))
	case "generation":
		return count(int(r.w.Generation(s)))
	case "budget":
		return budget(r.w.Budget(s))
	}
	panic("scenarios: the metric " + name + " is registered and not read; add it to metric")
}

// calls counts calls whose spelling matches a glob.
func (r *run) calls(spell func(sim.CallName) string, service, glob string) (total int) {
	for _, c := range r.w.Sim.Calls() {
		if service == "" || c.Service == service {
			total += matching(c, c.N, glob, spell)
		}
	}
	return total
}

// requestName spells a call to the hub as what was asked of it.
func requestName(c sim.CallName) string { return c.Verb + " " + c.Subject }

// matching counts the calls of a name, the first to the last, whose spelling matches a glob.
func matching(c sim.CallName, last int, glob string, spell func(sim.CallName) string) (n int) {
	for c.N = 1; c.N <= last; c.N++ {
		if sim.Glob(cmp.Or(glob, "*"), spell(c)) {
			n++
		}
	}
	return n
}

func tickField(s ports.Summary, field string) int {
	return map[string]int{"active": s.Active, "processed": s.Processed, "dispatched": s.Dispatched, "deferred": s.Deferred,
		"throttled": s.Throttled, "skipped": s.Skipped, "completed": s.Completed, "running": s.Running, "errors": s.Errors}[field]
}

func count(n int) lang.Value   { return lang.Value{Kind: lang.KindCount, Count: int64(n)} }
func word(s string) lang.Value { return lang.Value{Kind: lang.KindWord, Word: s} }
func duration(d time.Duration) lang.Value {
	return lang.Value{Kind: lang.KindDuration, Duration: d}
}
func yesNo(b bool) lang.Value { return lang.Value{Kind: lang.KindYesNo, Yes: b} }

func budget(tokens int, full bool) lang.Value {
	v := count(tokens)
	if full {
		v.Word = "full"
	}
	return v
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// show prints a metric, the trace or Redis; a golden block must equal it.
func (r *run) show(s *lang.Step) {
	var lines []string
	switch {
	case s.Expect != nil:
		for _, o := range r.observe(s.Expect) {
			lines = append(lines, o.line(s.Expect.Metric.Name))
		}
	case s.Args.Text("what") == "trace":
		trace := r.w.Sim.Trace()
		for _, e := range trace.Last(trace.Len()) {
			if glob := s.Args.Text("glob"); glob == "" || sim.Glob(glob, e.String()) {
				lines = append(lines, strings.TrimSpace(e.String()))
			}
		}
	default:
		lines = wire.Dump(r.w.Redis.Peek(), s.Args.Text("glob"))
	}
	golden := s.Stmt.Golden
	switch {
	case golden == nil:
		r.res.Shown = append(r.res.Shown, lines...)
	case r.opts.Update:
		golden.Lines = lines
	case !slices.Contains(r.prog.Seeds, r.res.Seed): // another seed shows another run
	case strings.Join(golden.Lines, "\n") != strings.Join(lines, "\n"):
		r.fail(Failure{Pos: golden.Pos, What: "the golden block is not what is shown here; look at the difference, then --update", Saw: firstDifference(golden.Lines, lines)})
	}
}

func firstDifference(want, got []string) string {
	for i := range max(len(want), len(got)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(want) {
			a = strconv.Quote(want[i])
		}
		if i < len(got) {
			b = strconv.Quote(got[i])
		}
		if a != b {
			return fmt.Sprintf("line %d: want %s, got %s", i+1, a, b)
		}
	}
	return "no difference"
}
