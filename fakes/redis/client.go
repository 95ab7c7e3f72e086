package redis

import (
	"context"
	"fmt"
	"net"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/animastor/orchestra/sim"
)

// Client is a new go-redis client of a process, for one incarnation of it: make
// another after a restart. Call it before the incarnation's tasks start: it opens
// the first connection, which go-redis does on a goroutine of its own.
//
// A context's deadline is the deadline of the call, in virtual time; one of the wall
// clock, and that of the client's WithTimeout, fails the world. What the fault
// plan makes of a call is an error as package net reports it: errors.Is finds
// syscall.ECONNREFUSED (nothing was done), syscall.ECONNRESET and
// os.ErrDeadlineExceeded (it may have been done), and the kernel's own errors.
func (s *Server) Client(p *sim.Process) *goredis.Client {
	c := &client{server: s}
	// The aim of these settings: no goroutine, timer or retry of go-redis' own.
	rdb := goredis.NewClient(&goredis.Options{
		Addr:                     Service,
		ClientName:               "",
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return c.dial(), nil },
		Protocol:                 2,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		ContextTimeoutEnabled:    true,
		ReadTimeout:              -1,
		WriteTimeout:             -1,
		DialTimeout:              -1,
		DialerRetries:            1,
		MaxRetries:               -1,
		PoolSize:                 1024, // see inFlightMax
		PipelinePoolSize:         -1,
		MinIdleConns:             0,
		ConnMaxIdleTime:          -1,
	})
	if err := rdb.Ping(context.Background()).Err(); err != nil {
		panic(fmt.Sprintf("fakes/redis: cannot warm up the client of %s: %v", p.Incarnation(), err))
	}
	return rdb
}
