package redis

import (
	"github.com/alicebob/miniredis/v2"

	"github.com/animastor/orchestra/sim"
)

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
}

// Server is one Redis server of a world.
type Server struct {
	w     *sim.World
	db    *miniredis.RedisDB
	nowMs int64
}
