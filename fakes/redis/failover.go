package redis

import (
	"maps"
	"slices"
	"strconv"

	"github.com/animastor/orchestra/sim"
)

// Failover is the Data of the event of a failover.
type Failover struct {
	Lost int      // calls
	Keys []string // that are as they were before them; sorted
}

// value is what a key held: the commands that make it anew, none if it was not there.
type value struct {
	commands [][]string
	deadline int64 // in ms since 1970; 0: none
}

// Failover puts a replica in the server's place to which the last lose calls that wrote
// have not come (fewer, if Options.Undo remembers fewer). Their keys are as they were
// before those calls, with their old deadlines; what befell a key past all calls since
// then is undone with them. A new server knows no scripts. Nothing else changes: no
// connection breaks, and a call that is still on its way reaches the new server.
func (s *Server) Failover(lose int) {
	s.advance()
	first := max(0, len(s.undo)-lose)
	old := map[string]value{}
	for _, call := range slices.Backward(s.undo[first:]) {
		maps.Copy(old, call) // an earlier call knows the older value
	}
	lost := Failover{len(s.undo) - first, slices.Sorted(maps.Keys(old))}
	s.undo = s.undo[:first]
	for _, k := range lost.Keys {
		s.put(k, old[k])
	}
	clear(s.loaded)
	s.w.Emit(sim.Event{Kind: "failover", Subject: Service, Detail: "lose=" + strconv.Itoa(lose), Outcome: strconv.Itoa(lost.Lost) + " calls lost", Data: lost})
}

// keep notes what keys hold, for a failover that loses the call under way or an earlier
// one.
func (s *Server) keep(keys ...string) {
	if len(s.undo) == 0 {
		return
	}
	call := s.undo[len(s.undo)-1]
	for _, k := range keys {
		if _, kept := call[k]; !kept {
			call[k] = s.value(k)
		}
	}
}

// beginCall makes room for what the call under way will overwrite.
func (s *Server) beginCall() {
	if s.options.Undo == 0 {
		return
	}
	if len(s.undo) == s.options.Undo {
		s.undo = slices.Delete(s.undo, 0, 1)
	}
	s.undo = append(s.undo, map[string]value{})
}

// endCall forgets the call under way if it wrote nothing.
func (s *Server) endCall() {
	if len(s.undo) > 0 && len(s.written) == 0 {
		s.undo = s.undo[:len(s.undo)-1]
	}
}

// value is what a key holds now.
func (s *Server) value(k string) value {
	v := value{deadline: s.deadlines[k]}
	args := []string{"", k}
	switch s.db.Type(k) {
	case "":
		return value{}
	case "string":
		text, _ := s.db.Get(k)
		args = append(args, text)
		args[0] = "SET"
	case "hash":
		args[0] = "HSET"
		fields, _ := s.db.HKeys(k)
		for _, f := range fields {
			args = append(args, f, s.db.HGet(k, f))
		}
	case "list":
		list, _ := s.db.List(k)
		args = append(args, list...)
		args[0] = "RPUSH"
	case "set":
		members, _ := s.db.Members(k)
		args = append(args, members...)
		args[0] = "SADD"
	case "zset":
		args[0] = "ZADD"
		for _, m := range s.Peek().ZRange(k) {
			args = append(args, strconv.FormatFloat(m.Score, 'f', -1, 64), m.Name)
		}
	case "stream":
		entries, _ := s.db.Stream(k)
		for _, e := range entries {
			v.commands = append(v.commands, append([]string{"XADD", k, e.ID}, e.Values...))
		}
		return v
	}
	v.commands = [][]string{args}
	return v
}

// put makes a key what it was, unless its time is over.
func (s *Server) put(k string, v value) {
	s.remove(k)
	if v.deadline != 0 && v.deadline < s.nowMs {
		return
	}
	for _, command := range v.commands {
		s.ask(command...)
	}
	if v.deadline != 0 {
		s.expireAt(k, v.deadline)
	}
}
