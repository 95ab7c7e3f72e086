// Package live runs the whole service for real on one machine, as processes: a Redis that
// keeps what it is told, replicas of `orchestra serve`, beside a PostgreSQL if they are given
// one, and `orchestra hub` with its workers. It is itself the host that the replicas tell of
// results.
//
//	make live
//
// Everything stands in a directory of its own and ends with the process that started it.
//
// Not for: production, or anything that a simulation can show: a live run takes minutes and
// shows one schedule.
package live

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Key and Password are the secrets of a stack: no log may hold them.
const (
	Key      = "l1ve+key"
	Password = "l1ve~password"
)

// Options are the settings of a Stack.
type Options struct {
	Dir         string   // where everything stands; it exists
	Orchestra   string   // path of the program
	RedisServer string   // path of redis-server
	DSN         string   // of a PostgreSQL; "": none
	Books       string   // directory of manifests
	Replicas    int      // of the engine
	Idle        bool     // the hub begins without workers: SetWorkers brings them
	Serve, Hub  []string // further flags
}

// Stack is the service.
type Stack struct {
	client    *redis.Client
	host      *host
	o         Options
	redisAt   string
	hubAt     string
	engineAt  []string
	processes map[string]*process // redis, hub, e1, e2, …
	all       []*process
}

// Start starts everything and waits until it serves. Close ends it, also after an error.
func Start(o Options) (*Stack, error) {
	s, err := Prepare(o)
	if err == nil {
		err = s.Serve()
	}
	return s, err
}

// Prepare starts all but the replicas: Serve does that. Close ends it, also after an error.
func Prepare(o Options) (*Stack, error) {
	s := &Stack{o: o, processes: map[string]*process{}}
	addresses, err := freeAddresses(newHome(), 3+o.Replicas)
	if err != nil {
		return s, err
	}
	s.redisAt, s.hubAt, s.engineAt = addresses[0], addresses[1], addresses[3:]
	if s.host, err = openHost(addresses[2]); err != nil {
		return s, err
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, "redis"), 0o755); err != nil {
		return s, err
	}
	if err := s.StartRedis(); err != nil {
		return s, err
	}
	if err := s.migrate(); err != nil {
		return s, err
	}
	s.client = redis.NewClient(&redis.Options{Addr: s.redisAt, Password: Password})
	if err := s.startHub(); err != nil || o.Idle {
		return s, err
	}
	return s, s.awaitWorkers("", 1)
}

// Serve starts the replicas.
func (s *Stack) Serve() error {
	for i := range s.o.Replicas {
		if err := s.StartReplica(i + 1); err != nil {
			return err
		}
	}
	return nil
}

// Client is a client of the stack's Redis, which Close closes.
func (s *Stack) Client() redis.UniversalClient { return s.client }

// DSN is that of the stack's PostgreSQL; "" if it has none.
func (s *Stack) DSN() string { return s.o.DSN }

// Tree is the directory of the artifacts.
func (s *Stack) Tree() string { return filepath.Join(s.o.Dir, "artifacts") }

// Books is the directory of the manifests.
func (s *Stack) Books() string { return s.o.Books }

// Log is the file of what a process says: redis, hub, e1, e2, …
func (s *Stack) Log(name string) string { return filepath.Join(s.o.Dir, name+".log") }

// Replica is the name of a replica, from 1.
func Replica(number int) string { return fmt.Sprintf("e%d", number) }

// EngineURL is where a replica serves.
func (s *Stack) EngineURL(number int) string { return "http://" + s.engineAt[number-1] }

// HubURL is where the hub serves.
func (s *Stack) HubURL() string { return "http://" + s.hubAt }

func (s *Stack) start(name, address, program string, args ...string) error {
	environment := []string{
		"ORCHESTRA_HUB_KEY=" + Key, "ORCHESTRA_HUB_URL=" + s.HubURL(), "ORCHESTRA_ARTIFACTS=" + s.Tree(), "ORCHESTRA_BOOKS=" + s.o.Books,
		"ORCHESTRA_REDIS_URL=redis://:" + Password + "@" + s.redisAt, "ORCHESTRA_PG_DSN=" + s.o.DSN,
		"ORCHESTRA_EVENTS_URL=http://" + s.host.at,
	}
	p, err := launch(name, s.Log(name), environment, program, args...)
	if p != nil && p.pid > 0 {
		s.processes[name] = p
		s.all = append(s.all, p)
	}
	if err != nil {
		return err
	}
	return listening(address, p)
}

// StartRedis starts Redis, with all that it held before.
func (s *Stack) StartRedis() error {
	home, port, err := net.SplitHostPort(s.redisAt)
	if err != nil {
		return err
	}
	return s.start("redis", s.redisAt, s.o.RedisServer, "--port", port, "--bind", home, "--requirepass", Password,
		"--dir", filepath.Join(s.o.Dir, "redis"), "--appendonly", "yes", "--appendfsync", "always", "--save", "")
}

// migrate makes the tables, if there is a PostgreSQL.
func (s *Stack) migrate() error {
	if s.o.DSN == "" {
		return nil
	}
	cmd := exec.Command(s.o.Orchestra, "migrate")
	cmd.Env = append(os.Environ(), "ORCHESTRA_PG_DSN="+s.o.DSN)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("orchestra migrate: %w: %s", err, out)
	}
	return nil
}

func (s *Stack) startHub() error {
	engines := make([]string, s.o.Replicas)
	for i := range engines {
		engines[i] = s.EngineURL(i + 1)
	}
	args := []string{"hub", "--listen=" + s.hubAt, "--engines=" + strings.Join(engines, ",")}
	if s.o.Idle {
		args = append(args, "--workers=audio=0,image=0,video=0")
	}
	return s.start("hub", s.hubAt, s.o.Orchestra, append(args, s.o.Hub...)...)
}

// StartReplica starts a replica, from 1, where it was before.
func (s *Stack) StartReplica(number int) error {
	at := s.engineAt[number-1]
	return s.start(Replica(number), at, s.o.Orchestra, append([]string{"serve", "--listen=" + at}, s.o.Serve...)...)
}

// Kill ends a process on the spot, as kill -9 does.
func (s *Stack) Kill(name string) { s.processes[name].Kill() }

// Stop asks a process to end, and returns its exit status.
func (s *Stack) Stop(name string) (int, error) { return s.processes[name].Stop(30 * time.Second) }

// Ask runs a client command of the program, such as `request` with `b1`, against the last
// replica.
func (s *Stack) Ask(ctx context.Context, verb string, args ...string) error {
	_, err := s.Command(ctx, s.o.Replicas, append([]string{verb}, args...)...)
	return err
}

// Command runs a client command of the program against a replica.
func (s *Stack) Command(ctx context.Context, replica int, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.o.Orchestra, args...)
	cmd.Env = append(os.Environ(), "ORCHESTRA_HUB_KEY="+Key, "ORCHESTRA_ENGINE="+s.EngineURL(replica))
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("orchestra %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// Logs is all that the processes have written, by file.
func (s *Stack) Logs() map[string]string {
	logs := map[string]string{}
	for _, p := range s.all {
		logs[filepath.Base(p.log)] = p.said()
	}
	return logs
}

// Close ends every process.
func (s *Stack) Close() error {
	for _, p := range s.all {
		p.Kill()
	}
	if s.host != nil {
		_ = s.host.server.Close() // nobody talks to it any more
	}
	if s.client == nil {
		return nil
	}
	return s.client.Close()
}
