package conformance

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/pgtest"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/pointerstest"
)

// TestStoreCases: the rules of the store, on the fake and on PostgreSQL.
func TestStoreCases(t *testing.T) {
	d := newDatabase(t)
	for _, c := range pointerstest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			inWorld(t, func(ctx context.Context, rt ports.Runtime, s ports.Pointers) {
				require.NoError(t, c.Run(ctx, rt, s), "the fake")
			})
			d.empty(t)
			require.NoError(t, c.Run(ctx, ports.NewSystem(), d.store), "postgresql")
		})
	}
}

// TestStoreMethods: an outage is asked for with every method.
func TestStoreMethods(t *testing.T) {
	var names []string
	methods := reflect.TypeFor[ports.Pointers]()
	for i := range methods.NumMethod() {
		names = append(names, methods.Method(i).Name)
	}
	require.ElementsMatch(t, names, pointerstest.Methods(), "add the new method to pointerstest/outage.go")
}

// TestPostgresIsRemoved: nothing is left of a server that was closed.
func TestPostgresIsRemoved(t *testing.T) {
	needPostgres(t)
	s, err := pgtest.Start(ctx, *postgresPath)
	require.NoError(t, err)
	pid, err := os.ReadFile(filepath.Join(s.Dir(), "data", "postmaster.pid"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(pid), "\n")
	process := filepath.Join("/proc", first)
	require.DirExists(t, process)
	require.NoError(t, s.Close())
	require.NoDirExists(t, s.Dir())
	require.NoDirExists(t, process)
}
