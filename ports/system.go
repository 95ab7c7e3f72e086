package ports

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// System is the production Runtime: the real clock, goroutines, crypto/rand. It
// has no fields to set, so that it cannot be stubbed.
type System struct {
	tasks sync.WaitGroup
}

var _ Runtime = (*System)(nil)

// NewSystem returns the production runtime.
func NewSystem() *System { return &System{} }

// Now implements Runtime.
func (*System) Now() time.Time { return time.Now() }

// Sleep implements Runtime.
func (*System) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Go implements Runtime.
func (s *System) Go(ctx context.Context, _ string, fn func(context.Context)) {
	s.tasks.Go(func() { fn(ctx) })
}

// Group implements Runtime.
func (s *System) Group() Group { return &systemGroup{system: s} }

// Wait returns nil when every task has ended, those of groups included, or ctx's error if
// ctx ends first. Nobody but a task may start one meanwhile: it is for the end of a
// process, after the contexts of the tasks have ended.
func (s *System) Wait(ctx context.Context) error { return waitFor(ctx, &s.tasks) }

// WithCancel implements Runtime.
func (*System) WithCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// WithTimeout implements Runtime.
func (*System) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// Token implements Runtime.
func (*System) Token() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// Isolate implements Runtime.
func (*System) Isolate(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())}
		}
	}()
	return fn()
}

// PanicError is a panic that Isolate stopped.
type PanicError struct {
	Value string // the panic value, printed
	Stack string // where it came from; never part of a trace
}

func (e *PanicError) Error() string { return "panic: " + e.Value }

type systemGroup struct {
	system *System
	wg     sync.WaitGroup
}

var _ Group = (*systemGroup)(nil)

func (g *systemGroup) Go(ctx context.Context, name string, fn func(context.Context)) {
	g.wg.Add(1)
	g.system.Go(ctx, name, func(ctx context.Context) {
		defer g.wg.Done()
		fn(ctx)
	})
}

func (g *systemGroup) Wait(ctx context.Context) error { return waitFor(ctx, &g.wg) }

func waitFor(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
