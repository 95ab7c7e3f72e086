package simpure_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/animastor/orchestra/internal/lint/simpure"
)

const module = "github.com/animastor/orchestra/"

// TestAnalyzer compares the reports with the `// want` comments of testdata: a
// report too many fails it, and so does one too few.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), simpure.Analyzer,
		module+"engine/clock", module+"engine/order", module+"engine/waiting", module+"engine/directive",
		module+"ports", module+"enginebench")
}

// TestLayersFlag shows that the flag widens the check to another layer.
func TestLayersFlag(t *testing.T) {
	flag := simpure.Analyzer.Flags.Lookup("layers")
	before := flag.Value.String()
	defer func() { require.NoError(t, flag.Value.Set(before)) }()
	require.NoError(t, flag.Value.Set("engine,properties"))
	analysistest.Run(t, analysistest.TestData(), simpure.Analyzer, module+"properties")
}
