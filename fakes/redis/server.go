package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/animastor/orchestra/sim"
)

// Service is the service that calls of this fake name.
const Service = "redis"

// Twin is a script in Go. It gets the script's KEYS and ARGV, and replies with a
// []string, a string, an int64 or nil. An error becomes the error reply.
type Twin func(db *DB, keys, args []string) (any, error)

// Script is a Lua script that the server knows by name.
type Script struct {
	Name   string // the verb of its calls: begin, finish, …
	SHA    string // of the source, in hexadecimal: what EVALSHA names
	Source string
	Twin   Twin // nil: the script itself runs
}

// Options are the settings of a Server.
type Options struct {
	// Scripts are loaded from the start.
	Scripts []Script
	// Lua runs the scripts themselves instead of their twins.
	Lua bool
	// Subject decodes what a command is about, for the name of its call; nil:
	// calls have no subject. For a pipeline verb is its name and keys are those of
	// all its commands.
	Subject func(verb string, keys []string) string
	// Undo is how many calls that wrote a Failover can lose at most.
	Undo int
}

// Server is one Redis server of a world.
type Server struct {
	w        *sim.World
	options  Options
	mini     *miniredis.Miniredis
	db       *miniredis.RedisDB
	nowMs    int64
	expiry   // of keys
	lua      bool
	bySHA    map[string]*Script
	bySource map[string]*Script
	loaded   map[string]bool // by SHA

	peer *server.Peer // answers into out
	out  bytes.Buffer

	view     DB   // of the script that runs
	inScript bool // miniredis runs a script

	trouble string // the effect oom or readonly, on the call under way
	began   bool   // the script under way has written

	watchers []func(WriteInfo)
	written  []string           // by the call that is carried out
	undo     []map[string]value // what the last calls that wrote have overwritten, the newest last
}

// WriteInfo tells of a call that changed the database.
type WriteInfo struct {
	Task    string   // incarnation/task of the caller
	Verb    string   // of the call: set, begin, pipeline, …
	Subject string   // of the call
	Keys    []string // created, deleted or written to; sorted
}

// New makes an empty server with its scripts loaded.
func New(w *sim.World, o Options) *Server {
	s := &Server{w: w, options: o, lua: o.Lua, mini: miniredis.NewMiniRedis(),
		expiry: expiry{deadlines: map[string]int64{}},
		bySHA:  map[string]*Script{}, bySource: map[string]*Script{}, loaded: map[string]bool{}}
	// Without a listener, miniredis makes its command table at the first Dial.
	conn, err := s.mini.Dial()
	if err != nil {
		panic(fmt.Sprintf("fakes/redis: miniredis does not start: %v", err))
	}
	_ = conn.Close()        // an in-memory pipe
	s.mini.Server().Close() // waits for the pipe's goroutines; commands are dispatched without them
	s.db = s.mini.DB(0)
	s.peer = server.NewPeer(bufio.NewWriter(&s.out))
	s.mini.Server().SetPreHook(s.hook)
	for _, script := range o.Scripts {
		s.loaded[s.learn(script).SHA] = true
	}
	s.advance()
	return s
}

// DB is a view of the whole database for setting a world up: what it does is no
// call, takes no time and is not watched.
func (s *Server) DB() *DB {
	s.advance()
	return &DB{s: s}
}

// Keys are the names of all keys, sorted.
func (s *Server) Keys() []string { return s.Peek().Keys() }

// Evict deletes a key as a server short of memory does, and says whether it was
// there.
func (s *Server) Evict(key string) bool {
	s.advance()
	s.keep(key)
	there := s.remove(key)
	outcome := "evicted"
	if !there {
		outcome = "no such key"
	}
	s.w.Emit(sim.Event{Kind: "evict", Subject: key, Outcome: outcome})
	return there
}

// OnWrite calls fn after each call that changed the database, at the instant at
// which it was carried out and before it is in the trace. A key counts as written
// if a command that sets something named it (SET, HSET, ZADD, PEXPIRE and so on),
// even to what was there, or if one that adds or removes something did (SADD,
// DEL, HDEL, ZREM and so on). Expiry and Evict are no writes. fn must not write.
func (s *Server) OnWrite(fn func(WriteInfo)) { s.watchers = append(s.watchers, fn) }

func (s *Server) watched() bool { return len(s.watchers) > 0 || s.options.Undo > 0 }

// wrote notes that the call under way wrote a key.
func (s *Server) wrote(k string) {
	if s.watched() && !slices.Contains(s.written, k) {
		s.written = append(s.written, k)
	}
}

// report tells the watchers what a call wrote.
func (s *Server) report(task, verb, subject string) {
	if len(s.written) == 0 {
		return
	}
	slices.Sort(s.written)
	info := WriteInfo{Task: task, Verb: verb, Subject: subject, Keys: s.written}
	s.written = nil
	for _, fn := range s.watchers {
		fn(info)
	}
}

// serve runs one request and appends its reply.
func (s *Server) serve(cmd *command, args []string, out []byte) []byte {
	s.began = false
	switch cmd.name {
	case "eval", "evalsha":
		return s.eval(cmd, args, out)
	case "script":
		return s.scriptCommand(args, out)
	case "scan":
		return s.scan(args, out)
	}
	return append(out, s.plain(cmd, args)...)
}

// plain runs a command that is no script and no SCAN; the reply is good until the
// next one.
func (s *Server) plain(cmd *command, args []string) []byte {
	keys := cmd.keys(args)
	if err := s.forbid(cmd.effect != reads, cmd.grows); err != nil {
		return appendError(nil, err.Error())
	}
	if cmd.name == "set" && len(args) > 3 && (hasOption(args[3:], "PXAT") || hasOption(args[3:], "EXAT")) {
		return appendError(nil, "ERR SET with a time of expiry is not simulated: give it a time to live, by PX")
	}
	s.prepare(keys)
	reply := s.perform(cmd, args, s.ask)
	if cmd.effect != reads {
		s.settle(keys)
	}
	return reply
}

// forbid is the error of a command that the trouble of the call does not let through.
// Redis lets a script go on that has begun to write before it needs memory.
func (s *Server) forbid(writes, grows bool) error {
	switch {
	case s.trouble == "readonly" && writes:
		return ErrReadOnly
	case s.trouble == "oom" && grows && !s.began:
		return ErrOOM
	}
	s.began = s.began || writes
	return nil
}

// run is plain for DB.Do.
func (s *Server) run(args []string, may func(string) bool) (any, error) {
	cmd, refusal := lookup(args)
	switch {
	case cmd == nil:
		return nil, fmt.Errorf("%s", refusal)
	case cmd.name == "eval" || cmd.name == "evalsha" || cmd.name == "script" || cmd.name == "scan":
		return nil, fmt.Errorf("ERR %s is not for scripts", cmd.name)
	}
	for _, k := range cmd.keys(args) {
		if !may(k) {
			return nil, nil
		}
	}
	reply, _, err := parseReply(string(s.plain(cmd, args)))
	return reply, err
}

// ask lets miniredis carry out one command. The answer is good until the next one.
func (s *Server) ask(args ...string) []byte {
	s.out.Reset()
	s.mini.Server().Dispatch(s.peer, args)
	s.peer.Flush()
	reply := s.out.Bytes()
	if reply[0] == '-' { // miniredis answers XLEN of a key of another type twice
		reply = reply[:bytes.IndexByte(reply, '\n')+1]
	}
	return reply
}

// dispatch is ask for a command within a script, whose context it gets.
func (s *Server) dispatch(ctx any, args []string) []byte {
	var out bytes.Buffer
	peer := server.NewPeer(bufio.NewWriter(&out))
	peer.Ctx = ctx
	s.mini.Server().Dispatch(peer, args)
	peer.Flush()
	return out.Bytes()
}

// number is the answer of a command that counts.
func (s *Server) number(name string, args ...string) int64 {
	reply := s.ask(append([]string{name}, args...)...)
	n, _ := strconv.ParseInt(string(reply[1:len(reply)-2]), 10, 64) // 0 for what is no number
	return n
}
