package house_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/house"
)

// root is the root of the module, seen from this package.
const root = "../.."

// TestImports enforces the table of design 2.
func TestImports(t *testing.T) { report(t, house.Imports(repository(t))) }

// TestStyle enforces the rules of style.
func TestStyle(t *testing.T) { report(t, house.Style(repository(t))) }

// TestReadmeCommands shows that CI runs what the README tells a reader to type.
func TestReadmeCommands(t *testing.T) {
	_, err := house.Commands(read(t, "README.md"))
	require.NoError(t, err, "README.md")
	require.Contains(t, read(t, ".ci/run"), "make --silent readme",
		".ci/run does not run the commands of the README")
}

// TestDefects: docs/defects.md has a row for every defect that the specification
// lists (runtime 9, orchestration 9), and the guards that it names exist.
func TestDefects(t *testing.T) {
	families := []house.Family{
		{"DF%d", 17}, {"DS%d", 15}, {"LS%d", 12}, {"KY%d", 13}, {"QU%d", 6}, {"CB%d", 14}, {"RB%d", 8},
		{"FN%d", 12}, {"SC%d", 17}, {"HB%d", 13}, {"WM%d", 7}, {"H-%02d", 85},
	}
	report(t, house.Defects("docs/defects.md", read(t, "docs/defects.md"), families, repository(t), os.DirFS(root)))
}

func repository(t *testing.T) *house.Tree {
	t.Helper()
	tree, err := house.Load(os.DirFS(root))
	require.NoError(t, err)
	require.NotEmpty(t, tree.Files)
	return tree
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(content)
}

func report(t *testing.T, problems []house.Problem) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// problemsOf applies a rule to a tree of the given files and returns its messages.
func problemsOf(t *testing.T, rule func(*house.Tree) []house.Problem, files map[string]string) []string {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, source := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(source)}
	}
	tree, err := house.Load(fsys)
	require.NoError(t, err)
	messages := []string{}
	for _, p := range rule(tree) {
		messages = append(messages, p.String())
	}
	return messages
}

func TestImportsFails(t *testing.T) {
	const theEngine = "engine may not import "
	tests := []struct{ name, file, imports, want string }{
		{"a port", "engine/store/a.go", house.Module + "ports", ""},
		{"inside a layer", "engine/store/a.go", house.Module + "engine/keys", ""},
		{"a client", "engine/store/a.go", "github.com/redis/go-redis/v9", ""},
		{"a fake in a test", "engine/store/a_test.go", house.Module + "fakes/redis", ""},
		{"upwards", "engine/store/a.go", house.Module + "sim",
			theEngine + house.Module + "sim: it may import ports (design 2)"},
		{"a port of its own", "ports/a.go", house.Module + "sim",
			"ports may not import " + house.Module + "sim: it imports no other layer (design 2)"},
		{"the kernel", "sim/a.go", house.Module + "ports",
			"sim may not import " + house.Module + "ports: it imports no other layer (design 2)"},
		{"the vocabulary", "properties/a.go", house.Module + "engine/keys", ""},
		{"more than the vocabulary", "properties/a.go", house.Module + "engine/store",
			"properties may not import " + house.Module + "engine/store: it may import fakes, sim, ports, engine/keys, engine/asset, engine/outcome (design 2)"},
		{"worlds draw scenarios", "properties/worlds/a.go", house.Module + "scenarios", ""},
		{"the language draws no worlds", "scenarios/a.go", house.Module + "properties/worlds",
			"scenarios may not import " + house.Module + "properties/worlds: it may import properties, engine, fakes, ports, sim (design 2)"},
		{"the environment", "engine/a.go", "os",
			theEngine + "os: take what you need from the world through ports or the configuration"},
		{"a test library", "fakes/a.go", "pgregory.net/rapid", "fakes may not import pgregory.net/rapid: it is for test files"},
		{"a test library of a tool", "internal/a/a.go", "github.com/stretchr/testify/require",
			"internal may not import github.com/stretchr/testify/require: it is for test files"},
		{"a lookalike", "simulator/a.go", "strings",
			"package simulator is in no layer: move it, or add the layer to the table (design 2)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := problemsOf(t, house.Imports, map[string]string{
				test.file: "package a\n\nimport \"" + test.imports + "\"\n",
			})
			if test.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Regexp(t, `^`+test.file+`:\d+: `, got[0])
			require.Contains(t, got[0], test.want)
		})
	}
}

func TestStyleFails(t *testing.T) {
	long := strings.Repeat("\tprintln()\n", 79)
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"a good package", map[string]string{
			"engine/a/doc.go": "// Package a is good.\npackage a\n",
			"engine/a/a.go": `package a

// T is a type.
type T[E any] struct{ e E }

// Get is a method.
func (t *T[E]) Get() E { return t.e }

type hidden struct{}

func (hidden) Exported() {}

func (t *T[E]) String() string { return "" }

// Colours.
const (
	Red = iota
	Green
)

var (
	Blue = 3 // the third
)

// F has 80 lines, which is allowed.
func F() {
` + long[:78*len("\tprintln()\n")] + "}\n",
			"engine/a/example_test.go": "package a_test\n",
		}, []string{}},
		{"a long function", map[string]string{
			"cmd/a/main.go": "// Command a is long.\npackage main\n\nfunc main() {\n" + long + "}\n",
		}, []string{"cmd/a/main.go:4: main has 81 lines, more than 80: give its parts names of their own"}},
		{"a long file of the engine", map[string]string{
			"engine/a.go":            "// Package engine is long.\npackage engine\n" + strings.Repeat("//\n", 499),
			"engine/example_test.go": "package engine\n",
		}, []string{"engine/a.go:1: the file has more than 500 lines: split it by concept"}},
		{"names without comments", map[string]string{
			"internal/a/a.go": `// Package a hides its names.
package a

type T struct{}

func (T) M() {}

func Error() {}

// Two types are not described by one comment.
type (
	U int
	V int // nor at the end of the line
)

const C = 1

var x, Y = 1, 2
`,
		}, []string{
			"internal/a/a.go:4: exported T", "internal/a/a.go:6: exported M", "internal/a/a.go:8: exported Error",
			"internal/a/a.go:12: exported U", "internal/a/a.go:13: exported V",
			"internal/a/a.go:16: exported C", "internal/a/a.go:18: exported Y",
		}},
		{"a package without a comment", map[string]string{
			"internal/a/a.go":      "package a\n",
			"internal/a/a_test.go": "// Package a is described in a test only.\npackage a\n",
		}, []string{"internal/a/a.go:1: package internal/a has no doc comment"}},
		{"a public package without an example", map[string]string{
			"sim/a.go":            "// Package sim shows no use.\npackage sim\n",
			"sim/z.go":            "package sim\n",
			"sim/internal/b/b.go": "// Package b is nobody's API.\npackage b\n",
			"sim/cmd/main.go":     "// Command main is no package to import.\npackage main\n",
		}, []string{"sim/a.go:1: package sim shows no use: add an example_test.go"}},
		{"testdata", map[string]string{"sim/testdata/a.go": "package a\n"}, []string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := problemsOf(t, house.Style, test.files)
			require.Len(t, got, len(test.want), "%q", got)
			for i, want := range test.want {
				require.Contains(t, got[i], want)
			}
		})
	}
}

func TestDefectsFails(t *testing.T) {
	fsys := fstest.MapFS{
		"scenarios/keys/colon.sim": {}, "properties/one_job.go": {Data: []byte("package properties")},
		"engine/a_test.go": {Data: []byte("package engine\n\nfunc TestA() {}")},
	}
	tree, err := house.Load(fsys)
	require.NoError(t, err)
	page := "| id | defect | guards | why |\n|---|---|---|---|\n" + strings.ReplaceAll(strings.Join([]string{
		"| K1 | good | [^keys/colon^](../scenarios/keys/colon.sim); property ^one-job^; ^TestA^ in ^engine^ | |",
		"| K2 | good | | Cannot arise: it does not compile. |",
		"| K3 | without | | |",
		"| K4 | not there | [^keys/a^](../scenarios/keys/a.sim); property ^two-jobs^; ^TestB^ in ^engine^; by hand | |",
		"| K4 | twice | | Why not. |",
		"| K9 | unheard of | | Why not. |",
		"| K5 | short | |",
	}, "\n"), "^", "`")
	messages := []string{}
	for _, p := range house.Defects("d.md", page, []house.Family{{"K%d", 5}}, tree, fsys) {
		messages = append(messages, p.String())
	}
	require.Equal(t, []string{
		"d.md:5: K3 has no guard: name one, or say why it cannot arise",
		"d.md:6: K4: there is no [`keys/a`](../scenarios/keys/a.sim)",
		"d.md:6: K4: there is no property `two-jobs`",
		"d.md:6: K4: there is no `TestB` in `engine`",
		"d.md:6: K4: there is no by hand",
		"d.md:7: K4 has another row, or is no defect of the specifications",
		"d.md:8: K9 has another row, or is no defect of the specifications",
		"d.md:9: the row has 3 cells, not 4: | id | defect | guards | why |",
		"d.md:1: K5 has no row",
	}, messages)
}

func TestCommands(t *testing.T) {
	page := strings.ReplaceAll(`
A reader types

'''sh
git clone somewhere
go run ./cmd/sim run scenarios/...   # the main job
make test
'''

and sees

'''text
go run ./broken
'''
`, "'''", "```")
	got, err := house.Commands(page)
	require.NoError(t, err)
	require.Equal(t, []house.Command{
		{Line: 6, Text: "go run ./cmd/sim run scenarios/...   # the main job"},
		{Line: 7, Text: "make test"},
	}, got)
}

func TestCommandsFails(t *testing.T) {
	_, err := house.Commands("go test ./...\n```text\nmake test\n```\n")
	require.ErrorContains(t, err, "no ```sh block has a command")
	_, err = house.Commands("\n```sh\nmake ci\n```\n")
	require.ErrorContains(t, err, `line 3: "make ci" would run itself`)
}

func TestDigests(t *testing.T) {
	got, err := house.Digests(strings.NewReader(
		`{"scenario":"b c","seed":2,"digest":"f0","wall_ms":3}` + "\n" + `{"scenario":"a","seed":18446744073709551615,"digest":"0f"}`))
	require.NoError(t, err)
	require.Equal(t, []string{`"a" 18446744073709551615 0f`, `"b c" 2 f0`}, got)
}

func TestDigestsFails(t *testing.T) {
	for input, want := range map[string]string{
		``:                                       "no runs",
		`{"scenario":"a","seed":1}`:              "run 1 lacks a scenario, a seed or a digest",
		`{"scenario":"a","digest":"0f"}`:         "run 1 lacks",
		`{"scenario":"a","seed":1,"digest":"0f"`: "run 1: unexpected EOF",
	} {
		_, err := house.Digests(strings.NewReader(input))
		require.ErrorContains(t, err, want, input)
	}
}
