// Package aside does what may hang for good, such as reading a file of a mount whose server
// is gone, beside its caller, who waits no longer than for its context.
//
// Invariants:
//   - A call returns when its context ends, whatever it waits for.
//   - At most so many calls as a Limit says are under way, hanging ones included. Beyond
//     that a call waits for its turn, and its context.
//
// Not for: undoing what was begun. It goes on after its caller has gone, so it must look at
// the context before what must not come late, and must not panic.
package aside

import "context"

// Limit is how many calls may be under way at once, each in a goroutine of its own.
type Limit chan struct{}

// NewLimit returns a limit of n calls.
func NewLimit(n int) Limit { return make(Limit, n) }

// Get returns what get does, or the error of a context that ends first.
func Get[T any](ctx context.Context, limit Limit, get func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	select {
	case limit <- struct{}{}:
	case <-ctx.Done():
		return answer{}.value, ctx.Err()
	}
	done := make(chan answer, 1) // which nobody may read
	go func() {
		defer func() { <-limit }()
		value, err := get()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return answer{}.value, ctx.Err()
	}
}

// Do is Get of nothing but an error.
func Do(ctx context.Context, limit Limit, do func() error) error {
	_, err := Get(ctx, limit, func() (struct{}, error) { return struct{}{}, do() })
	return err
}
