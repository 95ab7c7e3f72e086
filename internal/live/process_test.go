package live

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAddresses: no two stacks have one home, and no port is given where somebody listens.
func TestAddresses(t *testing.T) {
	home := newHome()
	require.NotEqual(t, home, newHome())
	list, err := freeAddresses(home, 3)
	require.NoError(t, err)
	require.Len(t, list, 3)
	l, err := net.Listen("tcp", list[1])
	require.NoError(t, err)
	others, err := freeAddresses(home, 3)
	require.NoError(t, err)
	require.NotContains(t, others, list[1])
	require.Subset(t, others, []string{list[0], list[2]})
	require.NoError(t, l.Close())
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
