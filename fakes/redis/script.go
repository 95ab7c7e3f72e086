package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

const noScript = "NOSCRIPT No matching script. Please use EVAL."

var evalCommand, evalshaCommand = commands["eval"], commands["evalsha"]

// verdict is what a script answered, if that is short: a number, a string, or the
// first string of a list.
func verdict(reply []byte) string {
	text := string(reply[:min(len(reply), 80)])
	if text[0] == '*' {
		_, text, _ = strings.Cut(text, "\r\n")
	}
	if strings.HasPrefix(text, "$") {
		_, text, _ = strings.Cut(text, "\r\n")
	} else {
		text = strings.TrimLeft(text, ":+")
	}
	if text, _, _ = strings.Cut(text, "\r\n"); text == "" || len(text) > 40 {
		return "ok"
	}
	return text
}

// scriptArgs splits `EVAL script numkeys key… arg…`.
func scriptArgs(args []string) (keys, argv []string, ok bool) {
	if len(args) < 3 {
		return nil, nil, false
	}
	n, err := strconv.Atoi(args[2])
	if err != nil || n < 0 || 3+n > len(args) {
		return nil, nil, false
	}
	return args[3 : 3+n : 3+n], args[3+n:], true
}

// script finds the script of an EVAL or EVALSHA; nil: one that the server was not
// given.
func (s *Server) script(cmd *command, args []string) *Script {
	if len(args) < 2 {
		return nil
	}
	if cmd.name == "eval" {
		return s.bySource[args[1]]
	}
	return s.bySHA[args[1]]
}

// eval runs EVAL or EVALSHA and appends its reply.
func (s *Server) eval(cmd *command, args []string, out []byte) []byte {
	keys, argv, ok := scriptArgs(args)
	if !ok {
		return appendError(out, "ERR value is not an integer or out of range")
	}
	script := s.script(cmd, args)
	if script == nil {
		script = s.stranger(cmd, args[1])
	}
	if cmd.name == "eval" {
		s.loaded[script.SHA] = true
	} else if !s.loaded[script.SHA] {
		return appendError(out, noScript)
	}
	if keys == nil {
		keys = []string{}
	}
	s.view = DB{s: s, keys: keys}
	if script.Twin == nil || s.lua {
		return append(out, s.evalLua(script, keys, args[2:])...)
	}
	reply, err := script.Twin(&s.view, keys, argv)
	if s.view.err != nil {
		err = s.view.err
	}
	if err != nil {
		return appendError(out, err.Error())
	}
	return appendReply(out, reply)
}

// stranger is a script that the server was not given: it is known by EVAL alone.
func (s *Server) stranger(cmd *command, source string) *Script {
	if cmd.name == "evalsha" {
		return &Script{Name: cmd.name, SHA: source}
	}
	return s.learn(Script{Name: cmd.name, SHA: sha(source), Source: source})
}

func (s *Server) learn(script Script) *Script {
	s.bySource[script.Source], s.bySHA[script.SHA] = &script, &script
	return &script
}

func sha(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}

// scriptCommand answers SCRIPT LOAD and SCRIPT EXISTS.
func (s *Server) scriptCommand(args []string, out []byte) []byte {
	switch {
	case len(args) == 3 && strings.EqualFold(args[1], "load"):
		script := s.bySource[args[2]]
		if script == nil {
			script = s.stranger(commands["eval"], args[2])
		}
		s.loaded[script.SHA] = true
		return appendBulk(out, script.SHA)
	case len(args) > 2 && strings.EqualFold(args[1], "exists"):
		out = appendHeader(out, '*', int64(len(args)-2))
		for _, sha := range args[2:] {
			n := int64(0)
			if s.loaded[sha] {
				n = 1
			}
			out = appendHeader(out, ':', n)
		}
		return out
	}
	return appendError(out, "ERR SCRIPT is simulated for LOAD and EXISTS only; to forget scripts use the fault noscript")
}

// evalLua runs the script itself, in miniredis. rest is numkeys, keys and arguments.
func (s *Server) evalLua(script *Script, keys, rest []string) []byte {
	s.prepare(keys)
	s.inScript = true
	reply := s.ask(append([]string{"EVAL", script.Source}, rest...)...)
	s.inScript = false
	s.settle(keys)
	switch {
	case s.view.err != nil:
		return appendError(nil, s.view.err.Error())
	case reply[0] == '-':
		return appendError(nil, luaNoise.ReplaceAllString(string(reply[1:len(reply)-2]), ""))
	}
	return reply
}

// luaNoise is what miniredis puts around the message of an error that ended a script.
var luaNoise = regexp.MustCompile(`^ERR Error compiling script \(new function\): (\S*:\d+: )?|\s+stack traceback:.*$`)

// hook sees each command that a script calls. It holds them to the rules of all
// commands: known to the table, on declared keys, sorted, noted as writes.
func (s *Server) hook(peer *server.Peer, name string, args ...string) bool {
	if !s.inScript || name == "EVAL" {
		return false
	}
	request := append([]string{name}, args...)
	cmd, refusal := lookup(request)
	if cmd == nil {
		peer.WriteError(refusal)
		return true
	}
	for _, k := range cmd.keys(request) {
		if !s.view.may(k) {
			peer.WriteError(s.view.err.Error())
			return true
		}
	}
	if err := s.forbid(cmd.effect != reads, cmd.grows); err != nil {
		s.view.fail(err)
		peer.WriteError(err.Error())
		return true
	}
	s.inScript = false // what perform asks is not asked by the script
	reply := s.perform(cmd, request, func(args ...string) []byte { return s.dispatch(peer.Ctx, args) })
	s.inScript = true
	peer.WriteRaw(string(reply))
	return true
}
