package waiting

import (
	"context"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type state struct {
	mu    sync.Mutex     // want `sync.Mutex: tasks run one at a time`
	wg    sync.WaitGroup // want `sync.WaitGroup`
	cond  *sync.Cond     // want `sync.Cond`
	once  sync.Once
	count atomic.Int64
	conn  net.Conn
	done  <-chan struct{}
}

func tasks(c chan int) {
	go tasks(c) // want `a goroutine runs at the scheduler's whim: start a task with the Runtime's Go or Group`
	select {    // want `select chooses at random`
	case v := <-c:
		println(v)
	case c <- 1:
		println(<-c) // want `channel receive`
	}
	c <- 1             // want `channel send`
	<-c                // want `channel receive`
	for v := range c { // want `range over a channel`
		println(v)
	}
	close(c)
	_ = make(chan int) // want `a channel hands over outside the kernel`
	_ = make([]int, 0)
	runtime.Gosched() // want `runtime.Gosched`
	defer func() {
		_ = recover() // want `recover could swallow the kernel's crash sentinel: use the Runtime's Isolate`
	}()
}

func contexts(ctx context.Context) context.Context {
	context.AfterFunc(ctx, func() {})                      // want `context.AfterFunc: use the Runtime's`
	ctx, _ = context.WithTimeoutCause(ctx, time.Hour, nil) // want `context.WithTimeoutCause`
	ctx, _ = context.WithDeadline(ctx, time.Time{})        // want `context.WithDeadline`
	ctx, cancel := context.WithCancel(ctx)                 // want `context.WithCancel`
	cancel()
	return context.WithValue(context.WithoutCancel(ctx), 1, 2)
}

func outside(c *http.Client) error {
	_ = os.Getenv("HOME")     // want `os.Getenv: take it from the configuration given at construction`
	_, _ = net.Dial("", "")   // want `net.Dial`
	_, _ = net.Listen("", "") // want `net.Listen`
	_, _ = http.Get("")       // want `http.Get: take a client from outside`
	_, _ = c.Get("")
	return os.ErrDeadlineExceeded
}
