package lang

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// Ext is the end of the name of a scenario file.
const Ext = ".sim"

// OS is the file system of the machine, with names as a shell takes them: relative
// to the working directory, absolute, or with `..`.
var OS fs.FS = osFS{}

type osFS struct{}

var _ fs.FS = osFS{}

func (osFS) Open(name string) (fs.File, error) { return os.Open(name) }

// Expand turns patterns, as in the go command, into the sorted paths of scenario
// files, each once: a file stands for itself, a directory for the *.sim files in
// it, and `dir/...` for those in the whole tree, without directories that are
// named testdata or begin with `.` or `_`. A pattern that yields nothing is an
// error. The error is a syntax.ErrorList of `path: message`.
func Expand(fsys fs.FS, patterns []string) ([]string, error) {
	var files []string
	var errs syntax.ErrorList
	for _, pattern := range patterns {
		found, err := expand(fsys, pattern)
		if err != nil {
			errs = append(errs, err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), errs.Err()
}

func expand(fsys fs.FS, pattern string) ([]string, *syntax.Error) {
	if pattern == "" {
		return nil, &syntax.Error{File: `""`, Msg: "the pattern is empty", Hint: "this directory is . and its tree ..."}
	}
	root, tree := strings.CutSuffix(pattern, "...")
	root = path.Clean(root)
	if tree && pattern != "..." && !strings.HasSuffix(pattern, "/...") || strings.Contains(root, "...") {
		return nil, &syntax.Error{File: pattern, Msg: "bad pattern", Hint: "... stands at the end, after a slash"}
	}
	info, err := fs.Stat(fsys, root)
	if err != nil {
		return nil, pathError(root, err)
	}
	if !info.IsDir() && !tree {
		if err := regular(root, info); err != nil {
			return nil, pathError(root, err)
		}
		return []string{root}, nil
	}
	var files []string
	err = fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (!tree || skipped(d.Name())):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(p, Ext):
			files = append(files, p)
			info, err := fs.Stat(fsys, p)
			if err != nil {
				return err
			}
			return regular(p, info)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, pathError(root, err)
	case len(files) == 0:
		return nil, &syntax.Error{File: pattern, Msg: "no scenarios here", Hint: "they are called *" + Ext}
	}
	return files, nil
}

// regular refuses what has no end: nobody may ever write into a pipe.
func regular(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")}
	}
	return nil
}

func skipped(dir string) bool {
	return dir == "testdata" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

// pathError takes the path out of the text of an error, where it would come twice.
func pathError(name string, err error) *syntax.Error {
	var perr *fs.PathError
	if errors.As(err, &perr) {
		return &syntax.Error{File: perr.Path, Msg: perr.Err.Error()}
	}
	return &syntax.Error{File: name, Msg: err.Error()}
}

// Read parses one file.
func Read(fsys fs.FS, name string) (*syntax.File, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, syntax.ErrorList{pathError(name, err)}
	}
	return syntax.Parse(name, src)
}

// Load parses and vets one file.
func Load(fsys fs.FS, name string) (*Program, error) {
	f, err := Read(fsys, name)
	if err != nil {
		return nil, err
	}
	return Vet(f)
}

// LoadAll parses and vets the files of patterns. The error is a syntax.ErrorList
// with everything that is wrong in any of them; there are no programs then.
func LoadAll(fsys fs.FS, patterns []string) ([]*Program, error) {
	names, err := Expand(fsys, patterns)
	var errs syntax.ErrorList
	errs = gather(errs, err)
	var programs []*Program
	for _, name := range names {
		p, err := Load(fsys, name)
		errs = gather(errs, err)
		programs = append(programs, p)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return programs, nil
}

func gather(errs syntax.ErrorList, err error) syntax.ErrorList {
	var list syntax.ErrorList
	if err != nil && !errors.As(err, &list) {
		panic("lang: an error that is no list: " + err.Error())
	}
	return append(errs, list...)
}
