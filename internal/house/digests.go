package house

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Digests reads the runs that `sim run --format json` printed and returns one line
// `scenario seed digest` for each, sorted, so that the lines of two sweeps can be
// compared. It is an error if there are no runs, or if one lacks a field.
func Digests(r io.Reader) ([]string, error) {
	var lines []string
	decoder := json.NewDecoder(r)
	for {
		var run struct {
			Scenario string
			Seed     json.Number
			Digest   string
		}
		err := decoder.Decode(&run)
		switch {
		case errors.Is(err, io.EOF) && len(lines) == 0:
			return nil, errors.New("no runs")
		case errors.Is(err, io.EOF):
			slices.Sort(lines)
			return lines, nil
		case err != nil:
			return nil, fmt.Errorf("run %d: %w", len(lines)+1, err)
		case run.Scenario == "" || run.Seed == "" || run.Digest == "":
			return nil, fmt.Errorf("run %d lacks a scenario, a seed or a digest", len(lines)+1)
		}
		lines = append(lines, fmt.Sprintf("%q %s %s", run.Scenario, run.Seed, run.Digest))
	}
}
