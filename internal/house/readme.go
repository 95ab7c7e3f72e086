package house

import (
	"fmt"
	"strings"
)

// Command is a line of a Markdown page that a reader is told to type.
type Command struct {
	Line int // of the page
	Text string
}

// Commands returns the lines of a page's ```sh blocks that begin with `go ` or
// `make `, which CI runs one by one in the root of the module. Output, commands
// that are meant to fail, and what must not be run belong in blocks of another
// kind (```text). It is an error if there are none, or if a command would run CI
// within CI.
func Commands(page string) ([]Command, error) {
	var commands []Command
	block := "" // the word after the opening fence, while in a block
	for i, text := range strings.Split(page, "\n") {
		fence, isFence := strings.CutPrefix(text, "```")
		switch {
		case isFence && block != "":
			block = ""
		case isFence:
			block = strings.TrimSpace(fence) + " "
		case block != "sh " || !strings.HasPrefix(text, "go ") && !strings.HasPrefix(text, "make "):
		case strings.HasPrefix(text, "make ci") || strings.HasPrefix(text, "make readme"):
			return nil, fmt.Errorf("line %d: %q would run itself: put it into a ```text block", i+1, text)
		default:
			commands = append(commands, Command{i + 1, text})
		}
	}
	if len(commands) == 0 {
		return nil, fmt.Errorf("no ```sh block has a command that begins with `go ` or `make `")
	}
	return commands, nil
}
