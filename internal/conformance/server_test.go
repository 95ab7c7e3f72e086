package conformance

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/pgtest"
)

var (
	serverPath   = flag.String("redis-server", "", "path of redis-server; without it what needs it is skipped")
	postgresPath = flag.String("postgres", "", "path of postgres, with initdb beside it; without it what needs it is skipped")
	plantName    = flag.String("plant", "", "a difference to plant: see plants and storePlants")
)

// real is the server of this run; nil without -redis-server.
var real *server

// postgres is the PostgreSQL of this run; nil without -postgres.
var postgres *pgtest.Server

// TestMain starts the servers, and fixes rapid's seed so that a run can be repeated.
func TestMain(m *testing.M) {
	defaults := map[string]string{"rapid.seed": "1", "rapid.checks": "250", "rapid.nofailfile": "true",
		"rapid.shrinktime": "0s"} // see smallest
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	known := slices.Concat(slices.Collect(maps.Keys(plants)), slices.Collect(maps.Keys(storePlants)))
	if *plantName != "" && !slices.Contains(known, *plantName) {
		panic(fmt.Sprintf("-plant: there is no %q, only %q", *plantName, slices.Sorted(slices.Values(known))))
	}
	os.Exit(withServers(m.Run))
}

// withServers starts the servers that the flags name, and ends them after the tests.
func withServers(run func() int) (code int) {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		return 1
	}
	var err error
	if *serverPath != "" {
		if real, err = startServer(*serverPath); err != nil {
			return fail(err)
		}
		defer real.stop()
		fmt.Printf("conformance: %s, -rapid.seed=%s\n", real.version, flag.Lookup("rapid.seed").Value)
	}
	if *postgresPath != "" {
		if postgres, err = pgtest.Start(ctx, *postgresPath); err != nil {
			return fail(err)
		}
		defer func() {
			if err := postgres.Close(); err != nil {
				code = fail(err)
			}
		}()
		fmt.Printf("conformance: %s, -rapid.seed=%s\n", postgres.Version, flag.Lookup("rapid.seed").Value)
	}
	return run()
}

// needPostgres skips a test of a run without a PostgreSQL.
func needPostgres(t *testing.T) {
	t.Helper()
	if postgres == nil {
		t.Skip("it needs a PostgreSQL: run `make conformance`")
	}
}

// needServer skips a test of a run without a server.
func needServer(t *testing.T) {
	t.Helper()
	if real == nil {
		t.Skip("it needs a redis-server: run `make conformance`")
	}
}

// server is a throw-away redis-server: on a socket in a directory of its own, without
// persistence. It ends with this process, however that ends.
type server struct {
	client  *goredis.Client
	version string
	dir     string
	guard   *exec.Cmd
	alive   io.Closer // the guard reads the other end
}

// guardScript runs the server until its own input ends; signals meant for the tests must
// not end it before.
const guardScript = `trap '' INT TERM HUP
"$1" --port 0 --unixsocket "$2/socket" --dir "$2" --save '' --appendonly no --daemonize no >"$2/log" 2>&1 &
cat >/dev/null
kill -9 $!
wait
rm -rf "$2"`

func startServer(path string) (*server, error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, guard: exec.Command("sh", "-c", guardScript, "guard", path, dir)}
	if s.alive, err = s.guard.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.guard.Start(); err != nil {
		return nil, err
	}
	s.client = goredis.NewClient(&goredis.Options{
		Network: "unix", Addr: filepath.Join(dir, "socket"), Protocol: 2, DisableIdentity: true, MaxRetries: -1, PipelinePoolSize: -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	for tries := 0; ; tries++ {
		if _, err := os.Stat(filepath.Join(dir, "socket")); err != nil && tries < 500 {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		info, err := s.client.InfoMap(context.Background(), "server").Result()
		if err == nil {
			s.version = "redis " + info["Server"]["redis_version"]
			return s, nil
		}
		if tries == 500 {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			s.stop()
			return nil, fmt.Errorf("%s does not answer: %w\n%s", path, err, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// stop kills the server and removes its directory.
func (s *server) stop() {
	_ = s.client.Close()
	_ = s.alive.Close()
	_ = s.guard.Wait()
}

// TestNothingIsLeft of a server that was stopped.
func TestNothingIsLeft(t *testing.T) {
	needServer(t)
	s, err := startServer(*serverPath)
	require.NoError(t, err)
	require.DirExists(t, s.dir)
	s.stop()
	require.NoDirExists(t, s.dir)
	require.True(t, s.guard.ProcessState.Success(), s.guard.ProcessState)
}
