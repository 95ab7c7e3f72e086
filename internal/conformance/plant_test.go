package conformance

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/animastor/orchestra/internal/contract"
)

// witness is a test whose failure is what is wanted.
type witness struct {
	*testing.T
	failed bool
	said   string
}

func (w *witness) Errorf(format string, args ...any) {
	w.failed = true
	w.said += fmt.Sprintf(format, args...) + "\n"
}
func (w *witness) Logf(string, ...any) {}
func (w *witness) Log(...any)          {}
func (w *witness) Fail()               { w.failed = true }
func (w *witness) FailNow()            { w.failed = true; panic(w) }
func (w *witness) Failed() bool        { return w.failed }
func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	w.FailNow()
}

// failure runs a property that must fail, and returns what it said.
func failure(t *testing.T, property func(*rapid.T)) string {
	w := &witness{T: t}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(w) {
				panic(r)
			}
		}()
		rapid.Check(w, property)
	}()
	require.True(t, w.failed, "the planted difference was not found")
	return w.said
}

// TestPlantedDifference: a fake that rounds TTLs the wrong way is found, and named by a
// smallest case.
func TestPlantedDifference(t *testing.T) {
	needServer(t)
	defer func(before string) { *plantName = before }(*plantName)
	*plantName = "ttl"

	for name, property := range map[string]func(*rapid.T){"commands": commandsProperty, "scripts": func(t *rapid.T) { scriptsProperty(t) }} {
		t.Run(name, func(t *testing.T) {
			said := failure(t, property)
			require.Contains(t, said, "redis and the fake, with twins differ")
			require.Regexp(t, `pexpiretime .*\n +redis: @\d+\n +fake:  @-?\d+\n`, said)
			t.Log(said)
		})
	}
}

// TestPlantedScopeEcho: a hub whose answer to a clear names no scope is found over both
// transports, by the suite and by the document, and named.
func TestPlantedScopeEcho(t *testing.T) {
	defer func(before string) { *plantName = before }(*plantName)
	*plantName = "scope-echo"
	for name, run := range map[string]func(require.TestingT, *contract.Contract){"world": hubInWorld, "loopback": hubOnLoopback} {
		t.Run(name, func(t *testing.T) {
			c, err := contract.Load(hubContract)
			require.NoError(t, err)
			w := &witness{T: t}
			func() {
				defer func() {
					if r := recover(); r != nil && r != any(w) {
						panic(r)
					}
				}()
				run(w, c)
			}()
			require.True(t, w.failed, "the planted difference was not found")
			require.Contains(t, w.said, "the scope echo is missing: clear 200 names no dispatch_id")
			require.Len(t, c.Problems(), 1)
			require.Regexp(t, `^clear 200: answer: .*scope.*minProperties`, c.Problems()[0])
		})
	}
}
