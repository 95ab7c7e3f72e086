package simpure

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

const module = "github.com/animastor/orchestra/"

var layers = "engine,fakes,sim"

// Analyzer reports code of the simulated layers that could make two runs of one
// seed differ.
var Analyzer = &analysis.Analyzer{
	Name:     "simpure",
	Doc:      "reports what could make two runs of one seed differ: clocks, chance, map order, goroutines, waiting",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func init() {
	Analyzer.Flags.StringVar(&layers, "layers", layers,
		"comma-separated folders of the module that are checked")
}

// finding is one impure thing. order is true when only the order of a map is in
// question, which //sim:unordered may excuse.
type finding struct {
	pos     token.Pos
	order   bool
	message string
}

func run(pass *analysis.Pass) (any, error) {
	if !checked(pass.Pkg.Path()) {
		return nil, nil
	}
	directives, err := readDirectives(pass)
	if err != nil {
		return nil, err
	}
	root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	for cur := range root.Preorder(nodes...) {
		f, found := inspectNode(pass.TypesInfo, cur)
		if !found || isTest(pass.Fset, f.pos) || directives.permit(pass.Fset, f) {
			continue
		}
		pass.Report(analysis.Diagnostic{Pos: f.pos, Message: f.message})
	}
	directives.reportUseless(pass)
	return nil, nil
}

// checked says whether a package lies in one of the layers.
func checked(path string) bool {
	inModule, ok := strings.CutPrefix(path, module)
	if !ok || strings.HasSuffix(path, ".test") { // the main package that go test writes
		return false
	}
	for layer := range strings.SplitSeq(layers, ",") {
		if inModule == layer || strings.HasPrefix(inModule, layer+"/") {
			return true
		}
	}
	return false
}

func isTest(fset *token.FileSet, pos token.Pos) bool {
	return strings.HasSuffix(fset.File(pos).Name(), "_test.go")
}

// nodes are the kinds of syntax that inspectNode knows.
var nodes = []ast.Node{
	(*ast.CallExpr)(nil), (*ast.GoStmt)(nil), (*ast.Ident)(nil), (*ast.RangeStmt)(nil),
	(*ast.SelectStmt)(nil), (*ast.SendStmt)(nil), (*ast.UnaryExpr)(nil),
}

const (
	useTasks  = "start a task with the Runtime's Go or Group"
	useNoChan = "wait with the Runtime's Sleep or Group.Wait, pass values by calls"
)

// inspectNode judges one node of the syntax tree.
func inspectNode(info *types.Info, cur inspector.Cursor) (finding, bool) {
	switch n := cur.Node().(type) {
	case *ast.GoStmt:
		return found(n, "a goroutine runs at the scheduler's whim: "+useTasks)
	case *ast.SelectStmt:
		return found(n, "select chooses at random: "+useNoChan)
	case *ast.SendStmt:
		if !isCommClause(cur) {
			return found(n, "a channel send waits outside the kernel: "+useNoChan)
		}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && !isCommClause(cur) {
			return found(n, "a channel receive waits outside the kernel: "+useNoChan)
		}
	case *ast.RangeStmt:
		return inspectRange(info, cur, n)
	case *ast.CallExpr:
		return inspectBuiltin(info, n)
	case *ast.Ident:
		return inspectUse(info, cur, n)
	}
	return finding{}, false
}

func found(n ast.Node, message string) (finding, bool) {
	return finding{pos: n.Pos(), message: message}, true
}

// isCommClause says whether a send or receive is the head of a select case; the
// select has been reported then.
func isCommClause(cur inspector.Cursor) bool {
	for ; cur.Node() != nil; cur = cur.Parent() {
		if cur.ParentEdgeKind() == edge.CommClause_Comm {
			return true
		}
		if _, isStmt := cur.Node().(ast.Stmt); isStmt {
			return false
		}
	}
	return false // in the initializer of a package
}

// inspectBuiltin judges make(chan T) and recover. Closing is not reported: whoever
// may close a channel has made it.
func inspectBuiltin(info *types.Info, call *ast.CallExpr) (finding, bool) {
	name, isBuiltin := builtinName(info, call)
	switch {
	case !isBuiltin:
	case name == "make" && isChan(info.TypeOf(call)):
		return found(call, "a channel hands over outside the kernel: "+useNoChan)
	case name == "recover":
		return found(call, "recover could swallow the kernel's crash sentinel: use the Runtime's Isolate")
	}
	return finding{}, false
}

func builtinName(info *types.Info, call *ast.CallExpr) (string, bool) {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return "", false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	if !ok {
		return "", false
	}
	return b.Name(), true
}

func isChan(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}
