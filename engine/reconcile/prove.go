package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

const (
	proveMax        = 250 // scenes whose artifacts one pass looks for; the next pass goes on behind them
	suspiciousAbove = 10  // so many scenes may be made again whatever part of all they are (design 5.4.6)
	agreeMin        = 3   // passes in a row that must find the same, if it is suspicious
)

// round is which scenes this pass looks at: those of the index, and the next ones of all
// that are known, in turns. A pass that could not tell looks at the same again.
func (r *Reconciler) round(active []ports.SceneID) (scenes []ports.SceneID, next ports.SceneID) {
	from, _ := slices.BinarySearchFunc(r.known, r.next, ports.SceneID.Compare)
	to := min(from+proveMax, len(r.known))
	if to < len(r.known) {
		next = r.known[to]
	}
	scenes = append(slices.Clone(active), r.known[from:to]...)
	slices.SortFunc(scenes, ports.SceneID.Compare)
	return slices.Compact(scenes), next
}

// prove asks whether the artifacts stand of what is ready. The first answer that cannot be
// read ends the asking, and what is left is unknown; one row that makes no sense leaves
// its scene alone unknown.
func (p *pass) prove(ctx context.Context) error {
	ready := map[ports.SceneID]bool{}
	gone := map[ports.SceneID]bool{}
	for _, v := range p.ready {
		if err := p.hold(ctx); err != nil {
			return err
		}
		presence, err := p.stands(ctx, v)
		if err == nil {
			p.report.Proved++
		}
		switch {
		case err == nil && presence == ports.Absent:
			p.gone, gone[v.Stage.SceneID] = append(p.gone, v), true
		case errors.Is(err, ports.ErrUndecodable):
			p.report.Errors++
			p.d.Observer.Observe(ports.Trouble{Scene: v.Stage.SceneID, Op: "prove", Err: err})
		case err != nil:
			p.abort(sourceOf(err), err)
			return nil
		}
		ready[v.Stage.SceneID] = true
	}
	if !p.exhume(ctx) {
		return nil
	}
	p.massLoss = len(gone) > suspiciousAbove && 2*len(gone) > len(ready) && !p.forced
	return nil
}

// sourceOf is the source that an error of a proof is of.
func sourceOf(err error) string {
	var content *contentError
	switch {
	case errors.Is(err, ports.ErrUnreadable):
		return "pg"
	case errors.As(err, &content):
		return "content"
	}
	return "artifacts"
}

type contentError struct{ error }

// Unwrap implements the errors package's convention.
func (e *contentError) Unwrap() error { return e.error }

// stands proves one stage. What the content does not want any more is left as it is.
func (p *pass) stands(ctx context.Context, v store.StageView) (ports.Presence, error) {
	id := v.Stage.SceneID
	if p.scene.SceneID != id {
		scene, err := p.d.Content.Scene(ctx, id)
		switch {
		case errors.Is(err, ports.ErrNoScene):
			scene = ports.Scene{SceneID: id}
		case err != nil:
			return ports.Unknown, &contentError{err}
		}
		p.scene = scene
	}
	st, _ := p.d.StageOf(v.Stage.Stage)
	if !p.scene.Layers[v.Stage.Stage] {
		return ports.Present, nil
	}
	return st.Prove(ctx, p.scene, v.Floor)
}

// exhume leaves out what a tombstone lies on: nothing of it is started again (H-57). A
// tombstone that cannot be read makes the pass incomplete; it is false then.
func (p *pass) exhume(ctx context.Context) bool {
	if p.d.Pointers == nil {
		return true
	}
	buried := map[string]bool{}
	for _, v := range slices.Concat(p.gone, p.orphans) {
		book := v.Stage.Book
		if _, asked := buried[book]; asked {
			continue
		}
		presence, err := p.d.Pointers.Buried(ctx, book)
		if err != nil {
			p.abort("pg", err)
			return false
		}
		buried[book] = presence == ports.Present
	}
	dead := func(v store.StageView) bool { return buried[v.Stage.Book] }
	p.gone, p.orphans = slices.DeleteFunc(p.gone, dead), slices.DeleteFunc(p.orphans, dead)
	return true
}

// agree decides whether a pass that would make that much again must wait: until as many
// passes in a row, of any replica, have found exactly the same. A pass that could not read
// agrees with nobody, nor does one that slept past its lock. A row that cannot be read, or
// kept, makes no pass believed.
func (p *pass) agree(ctx context.Context) error {
	row, err := p.d.Store.Suspicion(ctx)
	if err == nil {
		next := suspect(row, p.gone, p.massLoss && p.incomplete == nil)
		p.suspicious = next.Agreed > 0 && next.Agreed < agreeMin
		if next == row {
			return nil
		}
		if err := p.hold(ctx); err != nil {
			return err
		}
		err = p.d.Store.SetSuspicion(ctx, next)
	}
	if err != nil {
		p.suspicious = p.massLoss
		p.report.Errors++
		p.d.Observer.Observe(ports.Trouble{Op: "suspicion", Err: err})
	}
	return nil
}

// suspect is the row after a pass that found this gone; massLoss says whether it is part of one.
func suspect(row store.Suspicion, gone []store.StageView, massLoss bool) store.Suspicion {
	if !massLoss {
		return store.Suspicion{}
	}
	hash := sha256.New()
	for _, v := range gone {
		fmt.Fprintln(hash, v.Stage)
	}
	what := hex.EncodeToString(hash.Sum(nil))
	if what != row.What {
		row.Agreed = 0
	}
	return store.Suspicion{Agreed: row.Agreed + 1, What: what}
}

// regenerate puts back what is ready and whose artifacts do not stand.
func (p *pass) regenerate(ctx context.Context) error {
	for _, v := range p.gone {
		if p.incomplete != nil || p.suspicious {
			p.report.Withheld++
			continue
		}
		if err := p.hold(ctx); err != nil {
			return err
		}
		verdict, err := p.d.Store.Dirty(ctx, v)
		p.restored(ctx, v, verdict, err)
	}
	return nil
}

// restored notes what became of a stage that was to be put back: in the report, and in the
// journal of its scene, as well as it can.
func (p *pass) restored(ctx context.Context, v store.StageView, verdict store.Verdict, err error) {
	done := err == nil && verdict != store.Kept
	p.repaired(&p.report.Restored, done, v, "restore", err)
	if !done {
		return
	}
	p.d.Observer.Observe(ports.Restored{Stage: v.Stage, Verdict: string(verdict)})
	p.d.Note(ctx, store.Line{Kind: store.LineRepaired, Outcome: string(verdict), Stage: v.Stage})
}

// settled says whether a view is of a stage whose artifacts must stand.
func settled(v store.StageView) bool {
	return v.State == asset.Ready && v.Dispatch == "" && v.Intent.Active()
}
