package ports

import (
	"context"
	"time"
)

// Runtime is everything that the engine may know of time, concurrency and
// chance. In a simulation it is one process of a world; in production it is
// System. The engine waits in no other way.
type Runtime interface {
	// Now is the process's clock. Safety never depends on it: what must be
	// ordered between processes is ordered by Redis' own time.
	Now() time.Time
	// Sleep waits for d, or until ctx ends; then it returns ctx's error.
	Sleep(ctx context.Context, d time.Duration) error
	// Go starts a task. name is low-cardinality ("dispatch", "renew"); the task's
	// context ends with ctx.
	Go(ctx context.Context, name string, fn func(context.Context))
	// Group is a set of tasks that can be waited for.
	Group() Group
	// WithCancel derives a context that cancel ends.
	WithCancel(ctx context.Context) (context.Context, context.CancelFunc)
	// WithTimeout derives a context that ends after d.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	// Token is 128 random bits, as 32 hexadecimal digits.
	Token() string
	// Isolate runs fn and turns a panic of it into an error (*PanicError). It is
	// the only place of the engine where a panic stops.
	Isolate(fn func() error) error
}

// Group is a set of tasks started together.
type Group interface {
	// Go starts a task of the group.
	Go(ctx context.Context, name string, fn func(context.Context))
	// Wait returns nil when every task of the group has ended, or ctx's error if
	// ctx ends first; the tasks then go on.
	Wait(ctx context.Context) error
}
