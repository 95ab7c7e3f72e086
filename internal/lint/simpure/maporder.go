package simpure

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// inspectRange judges a range over a map or a channel.
func inspectRange(info *types.Info, cur inspector.Cursor, loop *ast.RangeStmt) (finding, bool) {
	over := info.TypeOf(loop.X).Underlying()
	if isChan(over) {
		return found(loop, "a range over a channel waits outside the kernel: "+useNoChan)
	}
	if _, isMap := over.(*types.Map); !isMap || isBlank(loop.Key) && isBlank(loop.Value) || sortsNext(info, cur, loop) {
		return finding{}, false
	}
	return finding{pos: loop.Pos(), order: true,
		message: "a range over a map has a random order: " + useSorted + ", or say //sim:unordered and why"}, true
}

func isBlank(e ast.Expr) bool {
	if e == nil {
		return true
	}
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// sortsNext says whether the loop only appends to a slice that the statement
// after it sorts.
func sortsNext(info *types.Info, cur inspector.Cursor, loop *ast.RangeStmt) bool {
	slice, ok := appendsTo(info, loop.Body)
	if !ok {
		return false
	}
	next, ok := cur.NextSibling()
	if !ok {
		return false
	}
	stmt, ok := next.Node().(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := stmt.X.(*ast.CallExpr)
	return ok && isSort(info, call) && types.ExprString(call.Args[0]) == slice
}

// appendsTo returns the slice of a body that is nothing but `s = append(s, ...)`,
// perhaps under an if, without a call whose effects could show the order.
func appendsTo(info *types.Info, body *ast.BlockStmt) (string, bool) {
	if len(body.List) != 1 {
		return "", false
	}
	switch s := body.List[0].(type) {
	case *ast.IfStmt:
		if s.Init != nil || s.Else != nil || !isPure(info, s.Cond) {
			return "", false
		}
		return appendsTo(info, s.Body)
	case *ast.AssignStmt:
		if s.Tok != token.ASSIGN || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return "", false
		}
		call, ok := s.Rhs[0].(*ast.CallExpr)
		if !ok {
			return "", false
		}
		name, _ := builtinName(info, call)
		slice := types.ExprString(s.Lhs[0])
		ok = name == "append" && types.ExprString(call.Args[0]) == slice &&
			!slices.ContainsFunc(call.Args[1:], func(e ast.Expr) bool { return !isPure(info, e) })
		return slice, ok
	}
	return "", false
}

// purePackages have functions that see only their arguments.
var purePackages = []string{"bytes", "path", "strconv", "strings"}

// isPure says whether evaluating e has no effect: it calls only conversions,
// builtins and functions of purePackages.
func isPure(info *types.Info, e ast.Expr) bool {
	pure := true
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || info.Types[call.Fun].IsType() || info.Types[call.Fun].IsBuiltin() {
			return true
		}
		obj := callee(info, call)
		pure = pure && obj != nil && obj.Pkg() != nil && slices.Contains(purePackages, obj.Pkg().Path())
		return true
	})
	return pure
}

// isSort says whether a call is one of package sort or a slices.Sort*.
func isSort(info *types.Info, call *ast.CallExpr) bool {
	obj := callee(info, call)
	if obj == nil || obj.Pkg() == nil || len(call.Args) == 0 {
		return false
	}
	switch obj.Pkg().Path() {
	case "sort":
		return slices.Contains(words("Strings Ints Float64s Slice SliceStable"), obj.Name())
	case "slices":
		return slices.Contains(words("Sort SortFunc SortStableFunc"), obj.Name())
	}
	return false
}

// isUnsortedIterator says whether obj is an iterator of package maps that does not
// go straight into slices.Sorted or one of its kin.
func isUnsortedIterator(info *types.Info, cur inspector.Cursor, obj types.Object) bool {
	if obj.Pkg().Path() != "maps" || !slices.Contains(words("All Keys Values"), obj.Name()) {
		return false
	}
	fun := cur.Parent() // maps.Keys
	call := fun.Parent()
	if call.ParentEdgeKind() != edge.CallExpr_Args {
		return true
	}
	outer := callee(info, call.Parent().Node().(*ast.CallExpr))
	return outer == nil || outer.Pkg() == nil || outer.Pkg().Path() != "slices" ||
		!slices.Contains(words("Sorted SortedFunc SortedStableFunc"), outer.Name())
}

// callee is the function that a call names, or nil.
func callee(info *types.Info, call *ast.CallExpr) types.Object {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return info.Uses[fun]
	case *ast.SelectorExpr:
		return info.Uses[fun.Sel]
	}
	return nil
}
