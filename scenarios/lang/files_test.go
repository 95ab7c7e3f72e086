package lang_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/scenarios/lang"
)

func TestExpand(t *testing.T) {
	fsys := fstest.MapFS{}
	fsys["_p/pipe.sim"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	for _, name := range []string{"s/a.sim", "s/x/b.sim", "s/x/c.txt", "s/testdata/d.sim", "s/.git/e.sim", "s/_old/f.sim", "none/g.txt"} {
		fsys[name] = &fstest.MapFile{}
	}
	for _, c := range []struct {
		patterns []string
		want     []string
		err      string
	}{
		{[]string{"s/..."}, []string{"s/a.sim", "s/x/b.sim"}, ""},
		{[]string{"..."}, []string{"s/a.sim", "s/x/b.sim"}, ""},
		{[]string{"s"}, []string{"s/a.sim"}, ""},
		{[]string{"s/x/", "./s/...", "s/a.sim"}, []string{"s/a.sim", "s/x/b.sim"}, ""},
		{[]string{"s/testdata"}, []string{"s/testdata/d.sim"}, ""},
		{[]string{"s/x/c.txt"}, []string{"s/x/c.txt"}, ""},
		{[]string{"none/..."}, nil, "none/...: no scenarios here (they are called *.sim)"},
		{[]string{"none", "gone"}, nil, "gone: file does not exist\nnone: no scenarios here (they are called *.sim)"},
		{[]string{""}, nil, `"": the pattern is empty (this directory is . and its tree ...)`},
		{[]string{"_p/pipe.sim"}, nil, "_p/pipe.sim: not a regular file"},
		{[]string{"_p/..."}, nil, "_p/pipe.sim: not a regular file"},
		{[]string{"s..."}, nil, "s...: bad pattern (... stands at the end, after a slash)"},
		{[]string{"s/.../b.sim"}, nil, "s/.../b.sim: bad pattern (... stands at the end, after a slash)"},
	} {
		got, err := lang.Expand(fsys, c.patterns)
		if c.err != "" {
			require.EqualError(t, err, c.err)
			continue
		}
		require.NoError(t, err, c.patterns)
		require.Equal(t, c.want, got, c.patterns)
	}
}

func TestOS(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.sim")
	require.NoError(t, os.WriteFile(name, []byte("scenario x\n"), 0o600))
	got, err := lang.Expand(lang.OS, []string{dir + "/..."})
	require.NoError(t, err)
	require.Equal(t, []string{name}, got)
	p, err := lang.Load(lang.OS, name)
	require.NoError(t, err)
	require.Equal(t, "x", p.Name)
	_, err = lang.Load(lang.OS, dir+"/gone.sim")
	require.EqualError(t, err, dir+"/gone.sim: no such file or directory")
	_, err = lang.Expand(lang.OS, []string{"../syntax"})
	require.EqualError(t, err, "../syntax: no scenarios here (they are called *.sim)")
}
