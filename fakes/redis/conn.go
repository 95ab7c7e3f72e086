package redis

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/animastor/orchestra/sim"
)

// Effects are the effects that a fault rule may have on a call of this service,
// beside the kernel's:
//
//	cut      the first Param commands of a pipeline (default: half of them) are
//	         carried out, then the connection breaks; none is answered
//	evict    the key Param (default: the first one that the call names) is evicted
//	         before the call is carried out
//	noscript the server forgets its scripts before the call is carried out
//	oom      memory is short: commands that may need some are refused, and scripts
//	         whose first write is such a command
//	readonly the server is a replica: commands that write are refused, also in scripts
var Effects = sim.Effects{"cut": nil, "evict": nil, "noscript": nil, "oom": nil, "readonly": nil}

// inFlightMax is how many calls of one client may wait at once. go-redis has 1,024
// connections; one call more would stall in real time.
const inFlightMax = 1000

// conn is one connection of a client. It collects what is written and carries it
// out, as one call of the running task, at the first read after it.
type conn struct {
	client   *client
	in       []byte
	out      []byte // answers not yet read
	deadline time.Time
	dead     error // why the connection is broken, if it is

	call     sim.Call
	task     string
	requests []request
	outcome  string
}

var _ net.Conn = (*conn)(nil)

// request is one command of a call.
type request struct {
	cmd  *command
	args []string
}

// client is what the connections of one go-redis client share.
type client struct {
	server   *Server
	inFlight int
	stalled  bool
}

// dial makes a connection. go-redis runs it on a goroutine of its own, so it
// touches nothing of the world; a server that refuses does so at the first read.
func (c *client) dial() net.Conn {
	cn := &conn{client: c}
	cn.call = sim.Call{Service: Service, Effects: Effects, Do: cn.carryOut, Outcome: cn.describe}
	return cn
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	if c.dead != nil {
		return 0, c.dead
	}
	c.in = append(c.in, b...)
	return len(b), nil
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if len(c.in) > 0 && c.dead == nil {
		c.exchange()
	}
	switch {
	case c.dead != nil:
		return 0, c.dead
	case len(c.out) == 0:
		return 0, io.EOF // nothing was asked
	}
	n := copy(b, c.out)
	c.out = c.out[n:]
	return n, nil
}

// exchange carries out what was written.
func (c *conn) exchange() {
	text := string(c.in)
	c.in, c.out = c.in[:0], c.out[:0]
	parsed, err := parseRequests(text)
	if err != nil {
		c.dead = err
		return
	}
	if c.handshake(parsed) || c.refuse(parsed) {
		return
	}
	if c.client.inFlight >= inFlightMax {
		c.dead = c.client.stall()
		return
	}
	c.name()
	c.client.inFlight++
	_, err = c.client.server.w.Do(&c.call)
	c.client.inFlight--
	if err != nil {
		c.dead = netError(err)
	}
}

// handshake answers what go-redis says on a new connection, outside of the world.
func (c *conn) handshake(parsed [][]string) bool {
	if len(parsed) != 1 {
		return false
	}
	switch parsed[0][0] {
	case "hello":
		c.out = appendStrings(c.out, []string{"server", "redis"})
		return true
	case "ping":
		if c.client.server.w.Running() == "" { // Server.Client warms the client up
			c.out = append(c.out, "+PONG\r\n"...)
			return true
		}
	}
	return false
}

// refuse answers a call that holds a command that cannot be simulated: every
// command of it, so that nothing is half done.
func (c *conn) refuse(parsed [][]string) bool {
	c.requests = c.requests[:0]
	refused := ""
	for _, args := range parsed {
		cmd, refusal := lookup(args)
		if cmd == nil && refused == "" {
			refused = refusal
		}
		c.requests = append(c.requests, request{cmd, args})
	}
	if refused == "" {
		return false
	}
	if parsed[0][0] == "multi" {
		parsed = parsed[:1] // go-redis stops reading there
	}
	for range parsed {
		c.out = appendError(c.out, refused)
	}
	return true
}

// name fills in the call.
func (c *conn) name() {
	s := c.client.server
	verb := s.verb(c.requests[0])
	for _, r := range c.requests[1:] {
		if s.verb(r) != verb {
			verb = "pipeline"
			break
		}
	}
	if c.deadline.Location() != time.UTC { // of a timeout of go-redis' own
		s.w.WallClock(Service + "." + verb)
	}
	c.task = s.w.Running()
	c.call.Verb, c.call.Subject, c.call.Detail, c.call.Deadline = verb, "", "", c.deadline
	if len(c.requests) > 1 {
		c.call.Detail = "x" + strconv.Itoa(len(c.requests))
	}
	if s.options.Subject != nil {
		var keys []string
		for i, r := range c.requests {
			if i == 0 {
				keys = r.cmd.keys(r.args)
				keys = keys[:len(keys):len(keys)]
			} else {
				keys = append(keys, r.cmd.keys(r.args)...)
			}
		}
		c.call.Subject = s.options.Subject(verb, keys)
	}
}

// verb is the name of a command, or of the script that it runs.
func (s *Server) verb(r request) string {
	if r.cmd == evalCommand || r.cmd == evalshaCommand {
		if script := s.script(r.cmd, r.args); script != nil {
			return script.Name
		}
	}
	return r.cmd.name
}

// carryOut is the Do of the call: it runs when the request arrives.
func (c *conn) carryOut(fx *sim.Fired) (any, error) {
	s := c.client.server
	s.advance()
	s.written = nil // by DB, past all calls
	n := len(c.requests)
	if fx != nil {
		n = c.suffer(fx)
	}
	s.beginCall()
	for i, r := range c.requests[:n] {
		if r.cmd.effect != reads || r.cmd == evalCommand || r.cmd == evalshaCommand {
			s.keep(r.cmd.keys(r.args)...)
		}
		before := len(c.out)
		c.out = s.serve(r.cmd, r.args, c.out)
		c.note(i, r, c.out[before:])
	}
	s.trouble = ""
	s.endCall()
	s.report(c.task, c.call.Verb, c.call.Subject)
	if n < len(c.requests) {
		return nil, sim.ErrReset
	}
	return nil, nil
}

// suffer applies an effect and returns how many requests are carried out.
func (c *conn) suffer(fx *sim.Fired) int {
	s, n := c.client.server, len(c.requests)
	switch fx.Effect {
	case "cut":
		k, err := strconv.Atoi(fx.Param)
		if err != nil {
			k = n / 2
		}
		return min(max(k, 0), n-1)
	case "noscript":
		clear(s.loaded)
	case "oom", "readonly":
		s.trouble = fx.Effect
	case "evict":
		key := fx.Param
		for i := 0; key == "" && i < n; i++ {
			if keys := c.requests[i].cmd.keys(c.requests[i].args); len(keys) > 0 {
				key = keys[0]
			}
		}
		s.Evict(key)
	}
	return n
}

// note keeps what the trace says of the answer: the first error, or what a single
// command answered if that is short and telling.
func (c *conn) note(i int, r request, reply []byte) {
	if i == 0 {
		c.outcome = "ok"
	}
	switch {
	case reply[0] == '-' && c.outcome == "ok":
		c.outcome = string(reply[1 : len(reply)-2])
	case len(c.requests) > 1:
	case string(reply) == nilBulk:
		c.outcome = "nil"
	case r.cmd == evalCommand || r.cmd == evalshaCommand:
		c.outcome = verdict(reply)
	}
}

func (c *conn) describe(_ any, err error) string {
	if err != nil {
		return err.Error()
	}
	return c.outcome
}

// stall is the answer to one call too many.
func (c *client) stall() error {
	if !c.stalled {
		c.stalled = true
		c.server.w.Fail("redis", fmt.Sprintf("more than %d calls of one client are in flight: does the server hang while tasks go on asking?", inFlightMax))
	}
	return netError(sim.ErrRefused)
}

// cause is an error of the kernel that is the operating system's too.
type cause struct{ kernel, system error }

func (e *cause) Error() string   { return e.kernel.Error() }
func (e *cause) Unwrap() []error { return []error{e.kernel, e.system} }
func (e *cause) Timeout() bool   { return e.system == os.ErrDeadlineExceeded }

// netError is an error of the kernel as package net would report it.
func netError(err error) error {
	switch {
	case errors.Is(err, sim.ErrRefused):
		return &net.OpError{Op: "dial", Net: "sim", Err: &cause{err, syscall.ECONNREFUSED}}
	case errors.Is(err, sim.ErrReset):
		return &net.OpError{Op: "read", Net: "sim", Err: &cause{err, syscall.ECONNRESET}}
	case errors.Is(err, sim.ErrDeadline):
		return &net.OpError{Op: "read", Net: "sim", Err: &cause{err, os.ErrDeadlineExceeded}}
	}
	return err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.dead = net.ErrClosed
	return nil
}

// SetReadDeadline implements net.Conn: t is virtual, and becomes the deadline of
// the next call.
func (c *conn) SetReadDeadline(t time.Time) error { c.deadline = t; return nil }

// SetWriteDeadline implements net.Conn. A write only collects.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return addr{} }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return addr{} }

type addr struct{}

var _ net.Addr = addr{}

func (addr) Network() string { return "sim" }
func (addr) String() string  { return Service }
