// Package mediatest holds every ports.Media and ports.Placeholders to one behaviour: the
// fakes of a world and the directory of production run the same cases.
//
// Not for: what is in a file, and what of the disk can fail (package artifactdir).
package mediatest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/animastor/orchestra/ports"
)

// Tree is an artifact tree and what puts files together in it.
type Tree struct {
	ports.Media
	ports.Placeholders
	ports.Artifacts
	// Put uploads a file of a.Size bytes, whatever stands there; of 0 bytes it is an upload
	// that was not finished.
	Put func(ctx context.Context, a ports.Artifact) error
}

// Case is one rule. Run gets an empty tree, and returns what is wrong with it.
type Case struct {
	Name string
	Run  func(context.Context, Tree) error
}

// Cases are the rules.
func Cases() []Case {
	return []Case{
		{"a merge", merge}, {"a part is missing", missing}, {"a file of a higher generation stays", superseded},
		{"what was not measured is no time", unmeasured},
		{"silence stands in", silence}, {"late silence replaces nothing", late}, {"a merge takes the place of silence", replaced},
	}
}

const path = "b/c/s/audio.mp3"

var (
	one   = ports.Artifact{Path: "b/c/s/audio/0001.mp3", Generation: 1, Version: 1, Size: 7, Duration: 3 * time.Second, Trimmed: 2 * time.Second}
	two   = ports.Artifact{Path: "b/c/s/audio/0002.mp3", Generation: 2, Version: 1, Size: 5, Duration: 1500 * time.Millisecond, Trimmed: 1250 * time.Millisecond}
	parts = []string{one.Path, two.Path}
	whole = ports.Artifact{Path: path, Generation: 2, Version: 1, Size: 12, Composition: "1,2", Trimmed: 4250 * time.Millisecond}
)

// order asks for the whole of a generation.
func order(generation int64) ports.Merge {
	return ports.Merge{Whole: ports.Artifact{Path: path, Generation: generation, Version: 1, Composition: "1,2"}, Parts: parts}
}

func (t Tree) put(ctx context.Context, files ...ports.Artifact) error {
	var errs []error
	for _, file := range files {
		errs = append(errs, t.Put(ctx, file))
	}
	return errors.Join(errs...)
}

// holds says what is wrong with the file at the path of the whole. How much of the silence at
// its end is left is the merge's own business.
func (t Tree) holds(ctx context.Context, want ports.Artifact) error {
	got, presence, err := t.Stat(ctx, path)
	if err != nil {
		return err
	}
	left := got.Duration
	got.Duration, want.Duration = 0, 0
	if presence != ports.Present || got != want || left < got.Trimmed {
		return fmt.Errorf("%s stands there, %+v of %s, not %+v", presence, got, left, want)
	}
	return nil
}

// silent says what is wrong if no silence stands there.
func (t Tree) silent(ctx context.Context) error {
	got, presence, err := t.Stat(ctx, path)
	if err == nil && (presence != ports.Present || !got.Placeholder || got.Size == 0 || got.Generation != 0) {
		return fmt.Errorf("%s stands there, %+v, no silence", presence, got)
	}
	return err
}

// empty says what is wrong if a whole file stands there.
func (t Tree) empty(ctx context.Context) error {
	_, presence, err := t.Stat(ctx, path)
	if err == nil && presence != ports.Absent {
		return errors.New("a file stands there")
	}
	return err
}

// refuses says what is wrong if an error is not what it should be.
func refuses(err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("the error is %w, not %w", err, want)
	}
	return nil
}

// In the cases each argument of errors.Join is a step: Go takes them in their order.

func merge(ctx context.Context, t Tree) error {
	return errors.Join(
		t.put(ctx, one, two),
		t.Merge(ctx, order(2)), t.holds(ctx, whole),
		t.Merge(ctx, order(2)), t.holds(ctx, whole), // asked again it does the same again
	)
}

func missing(ctx context.Context, t Tree) error {
	half := two
	half.Size = 0
	none := order(2)
	none.Parts = nil
	return errors.Join(
		refuses(t.Merge(ctx, none), ports.ErrMissingPart),
		t.put(ctx, one),
		refuses(t.Merge(ctx, order(2)), ports.ErrMissingPart), t.empty(ctx),
		t.put(ctx, half),
		refuses(t.Merge(ctx, order(2)), ports.ErrMissingPart), t.empty(ctx),
		t.put(ctx, two), t.Merge(ctx, order(2)),
		t.put(ctx, half),
		refuses(t.Merge(ctx, order(3)), ports.ErrMissingPart), t.holds(ctx, whole),
	)
}

func superseded(ctx context.Context, t Tree) error {
	err := errors.Join(t.put(ctx, one, two), t.Merge(ctx, order(2)))
	if t.Merge(ctx, order(1)) == nil {
		err = errors.Join(err, errors.New("a merge of an older generation went well"))
	}
	newer := whole
	newer.Generation = 3
	return errors.Join(err, t.holds(ctx, whole), t.Merge(ctx, order(3)), t.holds(ctx, newer))
}

func unmeasured(ctx context.Context, t Tree) error {
	var errs []error
	for _, spoil := range []func(one, two *ports.Artifact){
		func(one, _ *ports.Artifact) { one.Duration, one.Trimmed = 0, 0 },
		func(_, two *ports.Artifact) { two.Duration, two.Trimmed = 0, 0 },
		func(_, two *ports.Artifact) { two.Trimmed = 0 },
	} {
		first, second, want := one, two, whole
		spoil(&first, &second)
		want.Trimmed = 0
		errs = append(errs, t.put(ctx, first, second), t.Merge(ctx, order(2)), t.holds(ctx, want))
	}
	return errors.Join(errs...)
}

func silence(ctx context.Context, t Tree) error {
	return errors.Join(
		t.Place(ctx, path), t.silent(ctx),
		t.Place(ctx, path), t.silent(ctx),
		t.put(ctx, ports.Artifact{Path: path}), t.empty(ctx), // an upload that was not finished
		t.Place(ctx, path), t.silent(ctx),
	)
}

func late(ctx context.Context, t Tree) error {
	real := whole
	real.Duration = 5 * time.Second
	return errors.Join(t.put(ctx, real), t.Place(ctx, path), t.holds(ctx, real))
}

func replaced(ctx context.Context, t Tree) error {
	return errors.Join(
		t.Place(ctx, path), t.put(ctx, one, two),
		t.Merge(ctx, order(2)), t.holds(ctx, whole),
		t.Place(ctx, path), t.holds(ctx, whole),
	)
}
