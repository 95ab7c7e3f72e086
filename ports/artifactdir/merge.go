package artifactdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/animastor/orchestra/ports"
)

// Merger makes one file of several in a tree. The bytes of the parts one after the other
// are a whole MP3 of MP3s, and no MP4 of MP4s: for those name a command.
type Merger struct {
	Tree *Tree
	// Command is a program that is given the file to write and then the parts, in order
	// (a short script around ffmpeg); "": the bytes are concatenated. With the context of
	// the merge it is killed, and whatever it has started.
	Command string
}

var _ ports.Media = (*Merger)(nil)

// Merge implements ports.Media.
func (m *Merger) Merge(ctx context.Context, order ports.Merge) error {
	whole := order.Whole
	parts, files, err := m.parts(ctx, order.Parts)
	if err == nil {
		whole.Duration, whole.Trimmed = ports.Joined(parts)
		err = m.Tree.put(ctx, whole, func(w io.Writer) error { return m.join(ctx, w, whole.Path, files) }, func(old ports.Artifact, _ ports.Presence, err error) error {
			if err == nil && old.Generation > whole.Generation { // one that cannot be read is replaced
				return ErrSuperseded
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("merge %s: %w", whole.Path, err)
	}
	return nil
}

// parts are the parts and their files, which must all stand.
func (m *Merger) parts(ctx context.Context, paths []string) (parts []ports.Artifact, files []string, err error) {
	if len(paths) == 0 {
		return nil, nil, ports.ErrMissingPart
	}
	for _, path := range paths {
		part, presence, err := m.Tree.Stat(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		if presence != ports.Present {
			return nil, nil, fmt.Errorf("%w: %s", ports.ErrMissingPart, path)
		}
		file, err := m.Tree.file(path)
		if err != nil {
			return nil, nil, err
		}
		parts, files = append(parts, part), append(files, file)
	}
	return parts, files, nil
}

func (m *Merger) join(ctx context.Context, w io.Writer, path string, parts []string) error {
	if m.Command != "" {
		return m.command(ctx, w, path, parts)
	}
	for _, part := range parts {
		if err := appendFile(ctx, w, part); err != nil {
			return err
		}
	}
	return nil
}

func appendFile(ctx context.Context, w io.Writer, part string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := os.Open(part)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ports.ErrMissingPart, part)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}

// command lets the program write a file in a directory of its own, with the extension that
// tells it the format.
func (m *Merger) command(ctx context.Context, w io.Writer, path string, parts []string) (err error) {
	dir, err := os.MkdirTemp("", "orchestra-merge")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	out := filepath.Join(dir, "whole"+filepath.Ext(path))
	cmd := exec.CommandContext(ctx, m.Command, append([]string{out}, parts...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // what a script runs, too
	cmd.WaitDelay = time.Second                                                          // for who has left the group
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", m.Command, err, lastLine(said))
	}
	return appendFile(ctx, w, out)
}

func lastLine(said []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return lines[len(lines)-1]
}
