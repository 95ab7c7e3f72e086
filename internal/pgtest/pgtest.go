package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Role is the user that NewDatabase makes the owner of databases: no superuser, so that rights
// can be taken from it.
const Role = "orchestra"

// Locked is a role that must give its password, Password.
const (
	Locked   = "locked"
	Password = "open~sesame"
)

const startTimeout = 30 * time.Second

// guardScript runs the server as its input says, and ends it with its input; signals meant for
// the tests must not end it before. An immediate shutdown (QUIT) is a crash that leaves no
// shared memory behind.
const guardScript = `trap '' INT TERM HUP
end() {
	if [ -n "$pid" ]; then
		kill -"$1" $pid
		wait $pid
		pid=
	fi
}
while read -r command; do
	case $command in
	start) "$1/postgres" -D "$2/data" >>"$2/log" 2>&1 & pid=$!;;
	stop) end QUIT;;
	esac
	echo done
done
end QUIT
rm -rf "$2"`

// settings are those of the server.
const settings = `
listen_addresses = ''
unix_socket_directories = '%s'
fsync = off
full_page_writes = off
autovacuum = off
shared_buffers = 16MB
max_connections = 60
log_min_messages = warning
`

// rules let everybody in but one.
const rules = "local all " + Locked + " scram-sha-256\nlocal all all trust\n"

// Server is a PostgreSQL of a test.
type Server struct {
	// Version is what it says of itself: "PostgreSQL 15.14".
	Version string

	dir   string
	guard *exec.Cmd
	tell  io.WriteCloser
	told  *bufio.Reader
	names int // databases that were made
}

// Start makes a database cluster with the initdb beside a postgres binary, and starts it. It
// takes about two seconds.
func Start(ctx context.Context, postgres string) (*Server, error) {
	path, err := filepath.EvalSymlinks(postgres) // Debian links to it; initdb looks beside itself
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w: install Debian's package postgresql, or name its postgres", err)
	}
	bin := filepath.Dir(path)
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	as, err := runner(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := initialize(ctx, bin, dir, as); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &Server{dir: dir, guard: exec.Command("sh", "-c", guardScript, "guard", bin, dir)}
	s.guard.SysProcAttr, s.guard.Dir = as, dir
	if err := s.connectGuard(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.Restart(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, sql := range []string{"CREATE ROLE " + Role + " LOGIN", "CREATE ROLE " + Locked + " LOGIN PASSWORD '" + Password + "'"} {
		if err := s.Admin(ctx, "postgres", sql); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func (s *Server) connectGuard() (err error) {
	if s.tell, err = s.guard.StdinPipe(); err != nil {
		return err
	}
	out, err := s.guard.StdoutPipe()
	if err != nil {
		return err
	}
	s.told = bufio.NewReader(out)
	return s.guard.Start()
}

// runner is who runs the server: the one who runs the test, or another one than root, who is
// given the directory. nil stands for the former.
func runner(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("pgtest: root needs another user to run PostgreSQL as: %w", err)
		}
	}
	uid, err1 := strconv.ParseUint(who.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(who.Gid, 10, 32)
	if err := errors.Join(err1, err2, os.Chown(dir, int(uid), int(gid))); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// initialize makes the cluster.
func initialize(ctx context.Context, bin, dir string, as *syscall.SysProcAttr) error {
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "--username=postgres", "--auth=trust", "--no-sync",
		"--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: initdb: %w\n%s", err, out)
	}
	configuration, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(configuration, settings, dir)
	return errors.Join(err, configuration.Close(), os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(rules), 0))
}

// command has the guard do something.
func (s *Server) command(command string) error {
	if _, err := io.WriteString(s.tell, command+"\n"); err != nil {
		return fmt.Errorf("pgtest: %s: %w", command, err)
	}
	if _, err := s.told.ReadString('\n'); err != nil {
		return fmt.Errorf("pgtest: %s: %w", command, err)
	}
	return nil
}

// Stop ends the server at once, as a crash would: connections are cut, what was not committed
// is lost. It returns when nobody can connect any more.
func (s *Server) Stop() error { return s.command("stop") }

// Restart starts the server, after it stopped it if it runs. It returns when it answers.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(); err != nil {
		return err
	}
	if err := s.command("start"); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, s.AdminDSN("postgres"))
		if err == nil {
			err = conn.QueryRow(ctx, "SELECT 'PostgreSQL ' || current_setting('server_version')").Scan(&s.Version)
			return errors.Join(err, conn.Close(ctx))
		}
		if time.Since(began) > startTimeout {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // it only explains the error
			return fmt.Errorf("pgtest: PostgreSQL does not answer: %w\n%s", err, log)
		}
	}
}

// Close ends the server and removes all of it.
func (s *Server) Close() error {
	return errors.Join(s.tell.Close(), s.guard.Wait())
}

// Dir is the directory of the server, with its socket.
func (s *Server) Dir() string { return s.dir }

// DSN connects to a database as a role.
func (s *Server) DSN(role, database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s", role, database, s.dir)
}

// AdminDSN connects to a database as one who may do everything.
func (s *Server) AdminDSN(database string) string { return s.DSN("postgres", database) }

// Admin carries statements out, as one who may do everything.
func (s *Server) Admin(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, s.AdminDSN(database))
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	for _, sql := range statements {
		if _, err = conn.Exec(ctx, sql); err != nil {
			err = fmt.Errorf("pgtest: %s: %w", sql, err)
			break
		}
	}
	return errors.Join(err, conn.Close(ctx))
}

// NewDatabase makes an empty database, and returns its name. Role owns it.
func (s *Server) NewDatabase(ctx context.Context) (string, error) {
	s.names++
	name := "test" + strconv.Itoa(s.names)
	return name, s.Admin(ctx, "postgres", "CREATE DATABASE "+name+" OWNER "+Role)
}
