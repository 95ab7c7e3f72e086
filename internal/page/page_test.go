package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/page"
)

// TestFresh runs itself on a page that PAGE names: a fresh one passes, a stale one fails and
// says where, and -update mends it.
func TestFresh(t *testing.T) {
	want := []byte("# A page\n\nof two lines\n")
	if path := os.Getenv("PAGE"); path != "" {
		page.Fresh(t, path, want)
		return
	}
	path := filepath.Join(t.TempDir(), "page.md")
	run := func(args ...string) (string, error) {
		cmd := exec.Command(os.Args[0], append([]string{"-test.run=TestFresh"}, args...)...)
		cmd.Env = append(os.Environ(), "PAGE="+path)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, stale := range []string{"# A page\n\nof one line\n", "# A page\n", string(want) + "more\n"} {
		require.NoError(t, os.WriteFile(path, []byte(stale), 0o644))
		out, err := run()
		require.Error(t, err)
		require.Contains(t, out, "is stale")
		_, err = run("-update")
		require.NoError(t, err)
		out, err = run()
		require.NoError(t, err, out)
	}
}
