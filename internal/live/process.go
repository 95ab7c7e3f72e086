package live

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// guardScript runs a program until its own input ends, as it does when the process that
// started it dies, however that dies. It says the program's pid, and waits for it.
const guardScript = `trap '' INT TERM HUP
log=$1; shift
exec 3<&0 # what runs in the background is given another input
"$@" >>"$log" 2>&1 3<&- & pid=$!
echo $pid
(cat <&3 >/dev/null; kill -9 $pid 2>/dev/null) &
wait $pid`

// process is a program that runs in the background.
type process struct {
	name  string
	log   string // file of what it says
	pid   int
	guard *exec.Cmd
	alive io.Closer // the guard reads the other end
	ended chan struct{}
}

// launch starts a program with more of an environment than this process has.
func launch(name, log string, environment []string, program string, args ...string) (*process, error) {
	p := &process{name: name, log: log, guard: exec.Command("sh", append([]string{"-c", guardScript, "guard", log, program}, args...)...), ended: make(chan struct{})}
	p.guard.Env = append(os.Environ(), environment...)
	input, err := p.guard.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := p.guard.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.guard.Start(); err != nil {
		return nil, err
	}
	p.alive = input
	line, err := bufio.NewReader(output).ReadString('\n')
	if err == nil {
		p.pid, err = strconv.Atoi(strings.TrimSpace(line))
	}
	go func() {
		_ = p.guard.Wait() // ProcessState says how it ended
		close(p.ended)
	}()
	return p, err
}

// Kill ends the process on the spot.
func (p *process) Kill() {
	_ = p.alive.Close()
	<-p.ended
}

// Stop asks the process to end, and returns its exit status.
func (p *process) Stop(atMost time.Duration) (int, error) {
	if err := syscall.Kill(p.pid, syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	select {
	case <-p.ended:
		_ = p.alive.Close() // for the guard's reader
		return p.guard.ProcessState.ExitCode(), nil
	case <-time.After(atMost):
		p.Kill()
		return 0, fmt.Errorf("%s did not stop in %s", p.name, atMost)
	}
}

// said is all that the process has written.
func (p *process) said() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// listening waits until a process listens at an address. Somebody else may listen there, and
// take what is meant for it: a process that cannot listen ends soon, and that is waited for.
func listening(address string, p *process) error {
	for range 500 {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			err = conn.Close()
		}
		soon := 20 * time.Millisecond
		if err == nil {
			soon = 150 * time.Millisecond
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended: %s", p.name, p.said())
		case <-time.After(soon):
		}
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s does not listen at %s: %s", p.name, address, p.said())
}

// homes counts the stacks of this process.
var homes atomic.Int64

// newHome is an address of loopback, 127.0.0.0/8, that no other stack has, of this process or
// another: what is free there stays free until the stack takes it.
func newHome() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 1+pid/256%254, pid%256, 1+homes.Add(1)%254)
}

// Ports are below those that a system gives to connections.
const (
	portMin = 20_000
	portMax = 32_000
)

// freeAddresses are ports of a home where nobody answers, be it at all addresses at once. To
// listen there for a moment would not do: a process that begins just then holds on to it.
func freeAddresses(home string, n int) (list []string, err error) {
	for port := portMin; port < portMax && len(list) < n; port++ {
		address := net.JoinHostPort(home, strconv.Itoa(port))
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			list = append(list, address)
		} else if err := conn.Close(); err != nil {
			return nil, err
		}
	}
	if len(list) < n {
		return nil, fmt.Errorf("live: %s has no %d ports that are free", home, n)
	}
	return list, nil
}
