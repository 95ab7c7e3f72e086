package house_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/house"
	"github.com/animastor/orchestra/properties"
)

// root is the root of the module, seen from this package.
const root = "../.."

// TestImports enforces the table of design 2.
func TestImports(t *testing.T) { report(t, house.Imports(repository(t))) }

// TestStyle enforces the rules of style.
func TestStyle(t *testing.T) { report(t, house.Style(repository(t))) }

// TestReadmeCommands shows that CI runs what the README tells a reader to type, and that
// the scenarios, the tests and the conformance of the fakes are among it.
func TestReadmeCommands(t *testing.T) {
	commands, err := house.Commands(read(t, "README.md"))
	require.NoError(t, err, "README.md")
	require.Contains(t, read(t, ".ci/run"), "make --silent readme",
		".ci/run does not run the commands of the README")
	var texts []string
	for _, c := range commands {
		texts = append(texts, c.Text)
	}
	require.Subset(t, texts, []string{"go run ./cmd/sim run scenarios/...", "go test ./...", "make conformance"},
		"the README has lost a command that CI rests on")
}

// TestDefects: docs/defects.md has a row for every defect that the specification
// lists (runtime 9, orchestration 9) and for every incident of its history (section 10
// of both), and the guards that it names exist and run.
func TestDefects(t *testing.T) {
	ids := append(house.IDs(
		house.Family{Format: "DF%d", Last: 17}, house.Family{Format: "DS%d", Last: 15}, house.Family{Format: "LS%d", Last: 12},
		house.Family{Format: "KY%d", Last: 13}, house.Family{Format: "QU%d", Last: 6}, house.Family{Format: "CB%d", Last: 14},
		house.Family{Format: "RB%d", Last: 8}, house.Family{Format: "FN%d", Last: 12}, house.Family{Format: "SC%d", Last: 17},
		house.Family{Format: "HB%d", Last: 13}, house.Family{Format: "WM%d", Last: 7}, house.Family{Format: "H-%02d", Last: 85},
	), history...)
	tree := repository(t)
	guards := house.Guards{Root: os.DirFS(root), Properties: properties.IDs(), Tests: tree.Tests()}
	report(t, house.Defects("docs/defects.md", read(t, "docs/defects.md"), ids, guards))

	// What those guards rest on: a test runs every scenario with every property, and CI runs
	// the tests that skip themselves without a server (see TestReadmeCommands as well).
	require.Contains(t, read(t, "scenarios/example_test.go"), `{ scenarios.Run(t, os.DirFS(".."), "scenarios/...") }`)
	require.Contains(t, read(t, ".ci/run"), "make live")
	report(t, house.Servers(tree, []string{"internal/conformance", "internal/live"}))
}

// TestMutants: docs/guards.md says of every scenario with which defect it was seen to fail.
func TestMutants(t *testing.T) {
	report(t, house.Mutants("docs/guards.md", read(t, "docs/guards.md"), os.DirFS(root)))
}

// TestNames: the names of the code that pages of docs/ quote exist.
func TestNames(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	tree := repository(t)
	for _, page := range pages {
		name := "docs/" + filepath.Base(page)
		report(t, house.Names(name, read(t, name), tree))
	}
}

// history are the incidents, audits and stages that section 10 of the specifications names.
var history = []string{
	"audit 6929ba5: ghosts",
	"audit 6929ba5: markers",
	"incident 2026-08-26",
	"half-open permit leak",
	"audit d9d67a3: build",
	"audit d9d67a3: stop all",
	"audit d9d67a3: resurrection",
	"audit c8b79f6, incident 2026-08-28",
	"bare lease deletes",
	"B5",
	"B7",
	"B8",
	"B10",
	"Д.1, T2, T2.8, T5, T6",
	"Д.2",
	"Д.3, M3",
	"T1",
	"version-gate deadlock",
	"T4",
	"T6.5",
	"T8, M5, M4 (Н.9), T7, T7.6",
	"W1, R7",
	"premature merge",
	"first chunk too fast",
	"zero segments",
	"phase guard removed, A2",
	"last-chunk tail",
	"moved group boundaries",
	"placeholder race",
	"pending after cancel-then-generate",
	"endless result replay",
	"F1, F2, R3",
	"R4.1, R4.2",
	"worklist rebuild, gap 1",
	"worklist rebuild, gap 2",
	"worklist rebuild, follow-up",
	"S1, S1.4",
	"stage 50",
	"stage 115 D3",
	"stage 116",
	"audit 117 M1",
	"audit 117 M2",
	"audit 117 M3",
	"audit 117 M4",
	"audit 117 M5",
	"audit 117 M9",
	"B3 (stage 118)",
	"B4 (stage 118)",
	"audit 121 N1",
	"audit 121 N2",
	"audit 128 F5",
	"stage 143a B1",
	"stage 143a B2",
	"stage 143a N1",
	"stage 143a N2",
	"selective regeneration",
	"Б6, S1.3",
	"PW-2",
	"PW-4",
	"SH-1, D3 (sharing)",
	"S-2, S-5, O-2 to O-10",
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
			"scenarios may not import " + house.Module + "properties/worlds: it may import properties, engine, fakes, ports, sim, internal/race (design 2)"},
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
		"scenarios/keys/colon.sim": {},
		"engine/a_test.go": {Data: []byte(`package engine

func TestA(t *testing.T)     {}
func TestSkips(t *testing.T) { t.Skip("not today") }
func ExampleA() {
	println() // it prints
	// Output:
}
func ExampleSilent() { println() }
`)},
		"engine/b_test.go": {Data: []byte("//go:build never\n\npackage engine\n\nfunc TestB(t *testing.T) {}\n")},
	}
	tree, err := house.Load(fsys)
	require.NoError(t, err)
	guards := house.Guards{Root: fsys, Properties: []string{"one-job"}, Tests: tree.Tests()}
	page := "| id | defect | guards | why |\n|---|---|---|---|\n" + strings.ReplaceAll(strings.Join([]string{
		"| K1 | good | [^keys/colon^](../scenarios/keys/colon.sim); property ^one-job^; ^TestA^ in ^engine^; ^ExampleA^ in ^engine^ | |",
		"| K2 | good | | Cannot arise: it does not compile. |",
		"| K3 | without | | |",
		"| K4 | not there | [^keys/a^](../scenarios/keys/a.sim); property ^two-jobs^; ^TestC^ in ^engine^; by hand | |",
		"| K4 | twice | | Why not. |",
		"| K9 | unheard of | | Why not. |",
		"| K5 | short | |",
		"| by name | not run | ^TestB^ in ^engine^; ^TestSkips^ in ^engine^; ^ExampleSilent^ in ^engine^ | |",
	}, "\n"), "^", "`")
	messages := []string{}
	for _, p := range house.Defects("d.md", page, append(house.IDs(house.Family{Format: "K%d", Last: 5}), "by name"), guards) {
		messages = append(messages, p.String())
	}
	require.Equal(t, []string{
		"d.md:5: K3 has no guard: name one, or say why it cannot arise",
		"d.md:6: K4: there is no [`keys/a`](../scenarios/keys/a.sim), or nothing runs it",
		"d.md:6: K4: there is no property `two-jobs`, or nothing runs it",
		"d.md:6: K4: there is no `TestC` in `engine`, or nothing runs it",
		"d.md:6: K4: there is no by hand, or nothing runs it",
		"d.md:7: K4 has another row, or is no defect of the specifications",
		"d.md:8: K9 has another row, or is no defect of the specifications",
		"d.md:9: the row has 3 cells, not 4: | id | defect | guards | why |",
		"d.md:10: by name: there is no `TestB` in `engine`, or nothing runs it",
		"d.md:10: by name: there is no `TestSkips` in `engine`, or nothing runs it",
		"d.md:10: by name: there is no `ExampleSilent` in `engine`, or nothing runs it",
		"d.md:1: K5 has no row",
	}, messages)
}

func TestServersFails(t *testing.T) {
	files := map[string]string{
		"engine/a_test.go":        "package engine\n\nfunc server(t *testing.T) {\n\tif true {\n\t\tt.Skip(\"it needs a server\")\n\t}\n}\n",
		"internal/live/a_test.go": "package live\n\nfunc server(t *testing.T) { t.SkipNow() }\n",
	}
	require.Equal(t, []string{"engine/a_test.go:5: the test skips itself, and CI does not know how to run it: guards of engine may never run"},
		problemsOf(t, func(tree *house.Tree) []house.Problem { return house.Servers(tree, []string{"internal/live"}) }, files))
}

func TestMutantsFails(t *testing.T) {
	fsys := fstest.MapFS{"scenarios/keys/a.sim": {}, "scenarios/keys/b.sim": {}, "scenarios/syntax/testdata/c.sim": {}, "scenarios/a_test.go": {}}
	page := strings.ReplaceAll(strings.Join([]string{
		"| [^keys/a^](../scenarios/keys/a.sim) | a defect | it is put back | state = ready |",
		"| [^keys/a^](../scenarios/keys/a.sim) | twice | it is put back | state = ready |",
		"| [^a_test.go^](../scenarios/a_test.go) | a test | | state = ready |",
		"| [^keys/d^](../scenarios/keys/d.sim) | gone | it is put back |",
	}, "\n"), "^", "`")
	messages := []string{}
	for _, p := range house.Mutants("g.md", page, fsys) {
		messages = append(messages, p.String())
	}
	require.Equal(t, []string{
		"g.md:2: scenarios/keys/a.sim has another row, or is not there",
		"g.md:3: scenarios/a_test.go has an empty cell: a guard that was not seen to fail proves nothing",
		"g.md:4: scenarios/keys/d.sim has another row, or is not there",
		"g.md:4: the row has 3 cells, not 4: | scenario | origin | the defect put back | what failed |",
		"g.md:1: scenarios/keys/b.sim has no row: say with which defect put back it was seen to fail",
	}, messages)
}

func TestNamesFails(t *testing.T) {
	files := map[string]string{"engine/a.go": "package engine\n\ntype T struct{ F int }\n\ntype I interface{ M() }\n\nfunc (*T) G() {}\n\nvar V, W = 1, 2\n"}
	page := strings.ReplaceAll("^engine.T^, ^engine.T.F^, ^engine.T.G^, ^engine.I.M^, ^engine.G^, ^engine.W^, ^time.Now^\n^engine.U^ and ^engine.T.M^\n", "^", "`")
	require.Equal(t, []string{"d.md:2: there is no engine.U: was it renamed?", "d.md:2: there is no engine.T.M: was it renamed?"},
		problemsOf(t, func(tree *house.Tree) []house.Problem { return house.Names("d.md", page, tree) }, files))
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
