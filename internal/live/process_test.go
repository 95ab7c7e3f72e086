package live

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReserve: no port is given twice, whether the first is still kept or not, and none that
// somebody else listens at.
func TestReserve(t *testing.T) {
	seen := map[string]bool{}
	for i := range 50 {
		l, err := reserve()
		require.NoError(t, err)
		address := l.Addr().String()
		require.False(t, seen[address], address)
		seen[address] = true
		_, err = net.Listen("tcp", address)
		require.Error(t, err, "it is kept")
		if i%2 == 0 {
			require.NoError(t, l.Close())
		} else {
			defer func() { require.NoError(t, l.Close()) }()
		}
	}
}

// TestSomebodyElseListens: a process that cannot listen is not taken for the one that does.
func TestSomebodyElseListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	p, err := launch("second", filepath.Join(t.TempDir(), "log"), nil, "sh", "-c", "sleep 0.05; echo bind: address already in use; exit 1")
	require.NoError(t, err)
	defer p.Kill()
	require.ErrorContains(t, listening(l.Addr().String(), p), "second ended: bind: address already in use")
}

func TestFindPostgres(t *testing.T) {
	_, err := FindPostgres("./gone")
	require.ErrorIs(t, err, ErrNoPostgres)
	require.ErrorContains(t, err, "install Debian's package postgresql")
	path, err := FindPostgres("sh")
	require.NoError(t, err)
	require.Equal(t, "sh", filepath.Base(path), "as it is named")
}
