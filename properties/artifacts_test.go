package properties_test

import (
	"testing"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

func TestTrueReady(t *testing.T) {
	ready := func(missing string, changed time.Duration) func(*bench) {
		return func(b *bench) {
			b.missing, b.changed = missing, changed
			b.wait(time.Minute)
			b.tell("e1/callback", ports.Finish{Stage: s1, Dispatch: "d1", Outcome: "ready", State: "ready"})
		}
	}
	play(t, "true-ready", []scene{
		{"all stands", ready("", 0), ""},
		{"a picture is missing", ready("the picture of u1", 0), "it became ready without the picture of u1"},
		{"it was lost a moment ago", ready("the picture of u1", 50*time.Second), ""},
		{"it has failed", func(b *bench) {
			b.missing = "its file"
			b.wait(time.Minute)
			b.tell("e1/callback", ports.Finish{Stage: s1, Dispatch: "d1", Outcome: "failed", State: "failed"})
		}, ""},
	})
}

func TestUnknownIsNotAbsent(t *testing.T) {
	late := func(acts ...func(*bench)) func(*bench) {
		return func(b *bench) {
			b.wait(10 * time.Minute)
			for _, act := range acts {
				act(b)
			}
		}
	}
	lack := func(what string) func(*bench) { return func(b *bench) { b.missing = what } }
	putBack := func(b *bench) { b.tell("e1/reconcile", ports.Restored{Stage: s1, Verdict: "dirty"}) }
	begin := func(units ...string) func(*bench) {
		return func(b *bench) {
			a := ports.Attempt{Stage: s1, Dispatch: "d1", Generation: 1}
			for _, unit := range units {
				a.Jobs = append(a.Jobs, keys.Job(s1, unit, 1))
			}
			b.tell("e1/dispatch", a)
		}
	}
	finish := func(b *bench) { b.tell("e1/dispatch", ports.Finish{Stage: s1, Dispatch: "d1", Outcome: "partial"}) }
	mark := func(marks map[string]int64) func(*bench) { return func(b *bench) { b.marks = marks } }
	fault := func(detail string) func(*bench) {
		return func(b *bench) {
			b.world.Emit(sim.Event{Kind: "fault", Subject: "e1/dispatch pg.pointer b1/c1/s1 #1", Detail: detail})
		}
	}
	play(t, "unknown-is-not-absent", []scene{
		{"what is gone is put back", late(lack("its file"), putBack), ""},
		{"what stands is put back", late(putBack), "was put back although its artifacts stand"},
		{"its state was lost", late(func(b *bench) { b.tell("e1/reconcile", ports.Restored{Stage: s1, Verdict: "restored"}) }), ""},
		{"an outage is no excuse", late(fault("unreadable"), putBack), "was put back"},
		{"a lie is", late(fault("line 7: empty"), putBack), ""},
		{"not for good", late(fault("line 7: empty"), late(), putBack), "was put back"},
		{"a job for what is missing", late(begin("lacks")), ""},
		{"a job for what stands", late(begin("lacks", "stands")), "has a job for stands"},
		{"a mark that was settled", late(mark(map[string]int64{"u1": 7}), begin(), func(b *bench) { b.marks, b.settled = nil, 7 }, finish), ""},
		{"a mark that stays", late(mark(map[string]int64{"u1": 7}), begin(), finish), ""},
		{"a mark that vanished", late(mark(map[string]int64{"u1": 7}), begin(), func(b *bench) { b.marks, b.settled = nil, 6 }, finish), "lost the dirty mark of u1"},
	})
}
