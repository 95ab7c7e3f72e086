package simpure

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// ban forbids names of one package.
type ban struct {
	path    string
	names   []string // forbidden; a trailing * stands for any rest
	except  []string // permitted although names covers them
	methods bool     // the names are methods
	remedy  string
}

const (
	useClock   = "use the Runtime's Now and Sleep"
	useStream  = "draw from a random stream of the world, or the Runtime's Token"
	useSorted  = "sort the keys first"
	useContext = "use the Runtime's WithCancel or WithTimeout"
	useConfig  = "take it from the configuration given at construction"
	useOneTask = "tasks run one at a time: a plain field will do"
)

// bans is what the simulated layers may not name. sync.Once and its like are
// permitted: they make nobody wait when tasks run one at a time.
var bans = []ban{
	{path: "time", names: words("Now Since Until Sleep After NewTimer NewTicker AfterFunc Tick"), remedy: useClock},
	{path: "time", names: words("Local"), remedy: "the machine's time zone differs: use UTC"},
	{path: "math/rand", names: words("*"), except: words("New NewSource NewZipf Rand Source Source64 Zipf"), remedy: useStream},
	{path: "math/rand/v2", names: words("*"), except: words("New NewPCG NewChaCha8 NewZipf Rand Source PCG ChaCha8 Zipf"), remedy: useStream},
	{path: "crypto/rand", names: words("*"), remedy: useStream},
	{path: "hash/maphash", names: words("*"), remedy: "its seed differs in every process: use a fixed hash"},
	{path: "reflect", names: words("MapKeys MapRange"), methods: true, remedy: useSorted},
	{path: "sync", names: words("*"), except: words("Once OnceFunc OnceValue OnceValues"), remedy: useOneTask},
	{path: "context", names: words("WithCancel* WithDeadline* WithTimeout* AfterFunc"), remedy: useContext},
	{path: "runtime", names: words("GOMAXPROCS Gosched NumCPU NumGoroutine"), remedy: "a run may not depend on the machine"},
	{path: "os", names: words("*"), except: words("ErrDeadlineExceeded ErrClosed ErrNotExist ErrExist"), remedy: useConfig},
	{path: "os/exec", names: words("*"), remedy: useConfig},
	{path: "os/signal", names: words("*"), remedy: useConfig},
	{path: "net", names: words("Dial* Listen* Lookup* Pipe"), remedy: "take a connection or a dialler from outside"},
	{path: "net/http", names: words("DefaultClient DefaultTransport Get Head Post* ListenAndServe* Serve*"), remedy: "take a client from outside"},
}

func words(s string) []string { return strings.Fields(s) }

func (b *ban) covers(obj types.Object) bool {
	if b.path != obj.Pkg().Path() || slices.Contains(b.except, obj.Name()) {
		return false
	}
	isPackageLevel := obj.Parent() == obj.Pkg().Scope()
	if isPackageLevel == b.methods {
		return false
	}
	return slices.ContainsFunc(b.names, func(name string) bool {
		prefix, open := strings.CutSuffix(name, "*")
		return name == obj.Name() || open && strings.HasPrefix(obj.Name(), prefix)
	})
}

// inspectUse judges the use of a name of another package.
func inspectUse(info *types.Info, cur inspector.Cursor, id *ast.Ident) (finding, bool) {
	obj := info.Uses[id]
	if obj == nil || obj.Pkg() == nil {
		return finding{}, false
	}
	if isUnsortedIterator(info, cur, obj) {
		return finding{pos: id.Pos(), order: true,
			message: fmt.Sprintf("maps.%s yields in random order: pass it straight to slices.Sorted", obj.Name())}, true
	}
	for _, b := range bans {
		if b.covers(obj) {
			return found(id, fmt.Sprintf("%s.%s: %s", obj.Pkg().Name(), obj.Name(), b.remedy))
		}
	}
	return finding{}, false
}
