package main

import (
	"context"
	"errors"
	"io/fs"
	"net/http"

	"github.com/animastor/orchestra/engine"
	"github.com/animastor/orchestra/ports"
)

// Control is for who has the key of the hub: there is no other in a system of this size.

// target is the body of a control request, as engine.Target.
type target struct {
	Book    string   `json:"book"`
	Chapter string   `json:"chapter,omitempty"`
	Scene   string   `json:"scene,omitempty"`
	Stage   string   `json:"stage,omitempty"`
	Force   bool     `json:"force,omitempty"`
	Units   []string `json:"units,omitempty"` // of an edit
}

func (t target) engine() engine.Target {
	return engine.Target{Book: t.Book, Chapter: t.Chapter, Scene: t.Scene, Stage: t.Stage, Force: t.Force}
}

// report is the answer to it, as engine.Report.
type report struct {
	Stages   int      `json:"stages"`
	Replaced []string `json:"replaced"`
	Cleared  int      `json:"cleared"`
}

// control applies an explicit intent.
func (s *routes) control(r *http.Request) answer {
	var t target
	e := s.replica.engine
	do, ok := map[string]func(context.Context, engine.Target) (engine.Report, error){
		"request": e.Request, "regenerate": e.Regenerate, "reset": e.Reset, "cancel": e.Cancel, "delete": e.Delete,
		"edit": func(ctx context.Context, of engine.Target) (engine.Report, error) { return e.Edit(ctx, of, t.Units...) },
	}[r.PathValue("op")]
	if !ok {
		return no(http.StatusNotFound, "unknown_op", nil)
	}
	if bad, ok := readExactly(r, &t); !ok {
		return bad
	}
	if len(t.Units) > 0 && r.PathValue("op") != "edit" {
		return no(http.StatusBadRequest, "bad_request", errors.New("units are of an edit"))
	}
	// A sweep at the hub that has to be repeated goes on after the answer.
	did, err := do(s.running, t.engine())
	if err != nil {
		return refusal(err)
	}
	return answer{http.StatusOK, report{did.Stages, append([]string{}, did.Replaced...), did.Swept.Cleared}}
}

// refusal says no for an error of the engine.
func refusal(err error) answer {
	switch {
	case errors.Is(err, ports.ErrInvalid):
		return no(http.StatusBadRequest, "bad_request", err)
	case errors.Is(err, fs.ErrNotExist):
		return no(http.StatusNotFound, "unknown_book", err)
	case errors.Is(err, engine.ErrNothingEnabled), errors.Is(err, ports.ErrNoScene):
		return no(http.StatusNotFound, "nothing_enabled", err)
	}
	return no(http.StatusServiceUnavailable, "failed", err)
}

// sceneTimes is when the pictures of a scene are shown, and of which content version that is.
type sceneTimes struct {
	Version int64      `json:"version"`
	Times   []unitTime `json:"times"`
}

type unitTime struct {
	Unit    string `json:"unit"`
	StartMS int64  `json:"start_ms"` // from the beginning of the scene's audio
	EndMS   int64  `json:"end_ms"`
}

var (
	errNoStore = errors.New("times are kept in PostgreSQL, and this replica has none")
	errNoTimes = errors.New("nobody has measured the audio of such a scene, or it has no pictures")
)

// times reads when the pictures of a scene are shown.
func (s *routes) times(r *http.Request) answer {
	if s.replica.pg == nil {
		return no(http.StatusNotFound, "no_times", errNoStore)
	}
	q := r.URL.Query()
	version, list, err := s.replica.pg.Times(r.Context(), ports.SceneID{Book: q.Get("book"), Chapter: q.Get("chapter"), Scene: q.Get("scene")})
	switch {
	case errors.Is(err, ports.ErrNoRow):
		return no(http.StatusNotFound, "no_times", errNoTimes)
	case err != nil:
		return refusal(err)
	}
	answered := sceneTimes{Version: version}
	for _, t := range list {
		answered.Times = append(answered.Times, unitTime{t.Unit, t.Start.Milliseconds(), t.End.Milliseconds()})
	}
	return answer{http.StatusOK, answered}
}

// cleared is how many deferrals were open.
type cleared struct {
	Cleared int `json:"cleared"`
}

// clearDeferrals ends the backoff windows of a book or of one scene.
func (s *routes) clearDeferrals(r *http.Request) answer {
	var of struct {
		Book    string `json:"book"`
		Chapter string `json:"chapter"`
		Scene   string `json:"scene"`
	}
	if bad, ok := readExactly(r, &of); !ok {
		return bad
	}
	var n int
	var err error
	if of.Chapter == "" && of.Scene == "" {
		n, err = s.replica.engine.ClearDeferralsForBook(s.running, of.Book)
	} else {
		n, err = s.replica.engine.ClearDeferralsForScene(s.running, ports.SceneID{Book: of.Book, Chapter: of.Chapter, Scene: of.Scene})
	}
	if err != nil {
		return refusal(err)
	}
	return answer{http.StatusOK, cleared{n}}
}

// passOrder is the body of a request for a pass.
type passOrder struct {
	Force bool `json:"force,omitempty"` // it also does what it would find suspicious
}

// passReport is what a pass did, as ports.Reconciled.
type passReport struct {
	Scenes   int `json:"scenes"`
	Live     int `json:"live"`
	Proved   int `json:"proved"`
	Fed      int `json:"fed"`
	Adopted  int `json:"adopted"`
	Lost     int `json:"lost"`
	Released int `json:"released"`
	Purged   int `json:"purged"`
	Restored int `json:"restored"`
	Moot     int `json:"moot"`
	Withheld int `json:"withheld"`
	Errors   int `json:"errors"`
}

// reconcile makes a pass now. One that takes long goes on after the answer.
func (s *routes) reconcile(r *http.Request) answer {
	var order passOrder
	if bad, ok := readExactly(r, &order); !ok {
		return bad
	}
	pass := s.replica.engine.Reconcile
	if order.Force {
		pass = s.replica.engine.ForceReconcile
	}
	return s.beside("pass", func(ctx context.Context) answer {
		did, err := pass(ctx)
		switch {
		case errors.Is(err, engine.ErrPassSkipped):
			return no(http.StatusConflict, "skipped", err)
		case errors.Is(err, engine.ErrLockLost):
			return no(http.StatusConflict, "lock_lost", err)
		case errors.Is(err, engine.ErrPassSuspicious):
			return no(http.StatusConflict, "suspicious", err)
		case errors.Is(err, engine.ErrPassIncomplete):
			return no(http.StatusServiceUnavailable, "incomplete", err)
		case err != nil:
			return refusal(err)
		}
		return answer{http.StatusOK, passReport(did)}
	}, "the pass is under way; the log of the replica will say what it did")
}
