package wire

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// observer writes the engine's events into the trace.
type observer struct{ w *sim.World }

var _ ports.Observer = observer{}

// Observe implements ports.Observer.
func (o observer) Observe(e ports.Event) {
	subject, detail, outcome := describe(e)
	o.w.Emit(sim.Event{Kind: e.Kind(), Subject: subject, Detail: detail, Outcome: outcome, Data: e})
}

// describe is an event as the trace spells it. Dispatch ids are cut to their first
// digits: enough to follow one with the eye.
func describe(e ports.Event) (subject, detail, outcome string) {
	switch e := e.(type) {
	case ports.Intent:
		return e.Stage.String(), e.Op + " generation=" + num(e.Generation) + replaced(e.Replaced), e.State
	case ports.Attempt:
		return e.Stage.String(), short(e.Dispatch) + " generation=" + num(e.Generation) + " fence=" + num(e.Fence) + " jobs=" + num(int64(len(e.Jobs))), map[bool]string{true: "probe"}[e.Probe]
	case ports.Refusal:
		return e.Stage.String(), e.Stored, e.Reason
	case ports.JobOutcome:
		unit := e.Job
		if i := strings.LastIndexByte(unit, ':'); i >= 0 {
			unit = unit[:i]
		}
		detail = short(e.Dispatch) + " " + unit[strings.LastIndexByte(unit, ':')+1:]
		if e.Final {
			detail += " final"
		}
		return e.Stage.String(), detail, e.Outcome
	case ports.Result:
		return e.Stage.String(), short(e.Dispatch), e.Verdict
	case ports.Finish:
		return e.Stage.String(), ending(e), e.State
	case ports.Renewal:
		return e.Stage.String(), short(e.Dispatch), e.Verdict
	case ports.Retired:
		return e.Scene.String(), "", ""
	case ports.Swept:
		subject = short(e.Dispatch)
		if e.Book != "" {
			subject = ports.Quote(e.Book)
		}
		return subject, "requested=" + num(int64(e.Requested)), "cleared=" + num(int64(e.Cleared))
	case ports.Journaled:
		return e.Scene.String(), strings.Join(e.Events, ","), ""
	case ports.Delivered:
		return e.Event.Subject(), short(e.Event.Dispatch), e.Event.Kind
	case ports.Tick:
		s := e.Summary
		if e.Skipped {
			return "#" + num(e.Number), "", "skipped"
		}
		return "#" + num(e.Number), fmt.Sprintf("active=%d processed=%d dispatched=%d deferred=%d throttled=%d skipped=%d completed=%d running=%d errors=%d",
			s.Active, s.Processed, s.Dispatched, s.Deferred, s.Throttled, s.Skipped, s.Completed, s.Running, s.Errors), ""
	case ports.Pass:
		if e.Skipped {
			return "#" + num(e.Number), "", "skipped"
		}
		detail, outcome = ofPass(e)
		return "#" + num(e.Number), detail, outcome
	case ports.Restored:
		return e.Stage.String(), "", e.Verdict
	case ports.Slid:
		return ports.Quote(e.Book), short(e.Scope) + " claimed=" + scenes(e.Claimed) + " settled=" + scenes(e.Settled), ""
	case ports.Concluded:
		return ports.Quote(e.Book), short(e.Scope) + " ready=" + num(int64(e.Ready)) + " failed=" + num(int64(e.Failed)), ""
	case ports.Trouble:
		if e.Scene != (ports.SceneID{}) {
			subject = e.Scene.String()
		}
		return subject, e.Op, e.Err.Error()
	case ports.Started:
		return "", "first tick after " + e.Delay.String(), ""
	}
	panic(fmt.Sprintf("wire: the trace cannot spell a %T", e))
}

func ofPass(e ports.Pass) (detail, outcome string) {
	r := e.Report
	if e.Suspicious {
		outcome = "suspicious"
	}
	if e.Cause != "" {
		outcome = "incomplete: " + e.Cause
	}
	return fmt.Sprintf("scenes=%d live=%d proved=%d fed=%d adopted=%d lost=%d released=%d purged=%d restored=%d moot=%d withheld=%d errors=%d",
		r.Scenes, r.Live, r.Proved, r.Fed, r.Adopted, r.Lost, r.Released, r.Purged, r.Restored, r.Moot, r.Withheld, r.Errors), outcome
}

// scenes lists scenes of a book, without the book.
func scenes(list []ports.SceneID) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = ports.Quote(s.Chapter) + "/" + ports.Quote(s.Scene)
	}
	return strings.Join(names, ",")
}

// ending spells how a dispatch ended.
func ending(e ports.Finish) string {
	text := short(e.Dispatch) + " " + e.Outcome
	if e.Reason != "" {
		text += " " + e.Reason
	}
	if e.Deferred {
		text += " window=" + num(e.WindowSeconds) + "s"
	}
	if e.Evidence != "" || e.Circuit != "closed" {
		text += " " + e.Evidence + " circuit=" + e.Circuit
	}
	return text + " sent=" + num(int64(e.Sent)) + " idle=" + num(e.Idle) + " budget=" + num(e.Budget)
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

func replaced(dispatch string) string {
	if dispatch == "" {
		return ""
	}
	return " replaces=" + short(dispatch)
}

func short(dispatch string) string {
	const digits = len("dispatch-") + 8
	if len(dispatch) > digits {
		return dispatch[:digits]
	}
	return dispatch
}
