package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/animastor/orchestra/ports"
)

// Sweep is what to clear at the hub: dispatches by id, or, if there are none, a
// book (design 5.4.10; audit 121 N1).
type Sweep struct {
	Dispatches []string
	Book       string
}

func (s Sweep) none() bool { return len(s.Dispatches) == 0 && s.Book == "" }

// Swept counts the requests of a sweep.
type Swept struct {
	Requested, Cleared, Failed int
}

// Clear purges the hub: ids given, one request for each id and the book is not
// looked at; a book and no ids, exactly one request; neither, no request. A
// request counts as cleared only if the hub echoes the scope that was asked for
// (HB1). It never fails the caller; left is what is to be cleared yet.
func (d *Dispatcher) Clear(ctx context.Context, s Sweep) (swept Swept, left Sweep) {
	for _, id := range dedupe(s.Dispatches) {
		swept.Requested++
		if cleared, _ := d.Purge(ctx, id); cleared {
			swept.Cleared++
		} else {
			swept.Failed++
			left.Dispatches = append(left.Dispatches, id)
		}
	}
	if swept.Requested > 0 || s.Book == "" {
		return swept, left
	}
	swept.Requested = 1
	c, err := d.Hub.ClearBook(ctx, s.Book)
	if d.observeSwept(ports.Swept{Book: s.Book, Err: confirmed(c, err, c.Scope.BookID, s.Book)}) {
		swept.Cleared = 1
	} else {
		swept.Failed, left.Book = 1, s.Book
	}
	return swept, left
}

// ClearUntilDone purges the hub and goes on, in a task of its own, with what failed:
// a hub that is away for a minute must not keep the jobs of a cancelled dispatch.
func (d *Dispatcher) ClearUntilDone(ctx context.Context, s Sweep) Swept {
	swept, left := d.Clear(ctx, s)
	if left.none() {
		return swept
	}
	d.Runtime.Go(ctx, "sweep", func(ctx context.Context) {
		for wait := 5 * time.Second; !left.none() && wait <= 10*time.Minute && d.Runtime.Sleep(ctx, wait) == nil; wait *= 2 {
			d.isolate(ports.SceneID{Book: s.Book}, "sweep", func() { _, left = d.Clear(ctx, left) })
		}
	})
	return swept
}

// Purge clears the jobs of a dispatch that has ended, and notes that they are gone. It
// returns false if the hub did not confirm it, and the error with which it could not be
// asked; then a pass will try again.
func (d *Dispatcher) Purge(ctx context.Context, dispatch string) (bool, error) {
	cleared, err := d.clear(ctx, dispatch)
	if cleared {
		if err := d.Store.Purged(ctx, dispatch); err != nil {
			d.trouble(ports.SceneID{}, "note a purge", err) // it is purged once more
		}
	}
	return cleared, err
}

// purge clears the jobs of a dispatch that is about to end, and says whether the hub
// confirmed it.
func (d *Dispatcher) purge(ctx context.Context, dispatch string) bool {
	cleared, _ := d.clear(ctx, dispatch)
	return cleared
}

func (d *Dispatcher) clear(ctx context.Context, dispatch string) (bool, error) {
	c, err := d.Hub.ClearDispatch(ctx, dispatch)
	return d.observeSwept(ports.Swept{Dispatch: dispatch, Err: confirmed(c, err, c.Scope.DispatchID, dispatch)}), err
}

// observeSwept tells the observer of one request to clear, and says whether it was carried out.
func (d *Dispatcher) observeSwept(e ports.Swept) (cleared bool) {
	e.Requested = 1
	if e.Err == nil {
		e.Cleared = 1
	} else {
		e.Failed = 1
	}
	d.Observer.Observe(e)
	return e.Err == nil
}

var errUnconfirmed = errors.New("dispatch: the hub does not say that it cleared what was asked for")

// confirmed is nil if the hub has cleared what was asked for, and says so.
func confirmed(c ports.Cleared, err error, echoed *string, asked string) error {
	if err == nil && (!c.OK || echoed == nil || *echoed != asked) {
		return errUnconfirmed
	}
	return err
}

func dedupe(ids []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, id := range ids {
		if id != "" && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
