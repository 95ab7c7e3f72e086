package properties_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/internal/page"
	"github.com/animastor/orchestra/properties"
)

// TestDocs fails when docs/properties.md does not say what the list says.
func TestDocs(t *testing.T) {
	page.Fresh(t, "../docs/properties.md", docs())
}

func docs() []byte {
	var b bytes.Buffer
	b.WriteString("<!-- generated; run go generate ./properties -->\n# Properties\n\n" +
		"What must hold in every run of every scenario, at every seed. A scenario switches one off with a reason:\n" +
		"`property slots off \"the slots are preloaded wrong on purpose\"`. A breach is reported with its virtual time, what it is\n" +
		"about, and the events that prove it.\n\n| id | property | learnt from |\n|---|---|---|\n")
	for _, id := range properties.IDs() {
		p, _ := properties.Doc(id)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.ID, p.Statement, p.Source)
	}
	return b.Bytes()
}

// TestOneLineFails: each property has a file of its own and fails from one line of it.
func TestOneLineFails(t *testing.T) {
	for _, id := range properties.IDs() {
		if id == "replay" {
			continue // of the runner
		}
		file := strings.ReplaceAll(id, "-", "_") + ".go"
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(source), "p.fail("), file)
	}
}

func TestDoc(t *testing.T) {
	require.Len(t, properties.IDs(), 24)
	_, ok := properties.Doc("luck")
	require.False(t, ok)
	require.PanicsWithValue(t, `properties: no property "luck"; there are `+strings.Join(properties.IDs(), ", "),
		func() { watching(t, "slots").set.Off("luck", "it is the runner's") })
}

func TestFewOfEach(t *testing.T) {
	b := watching(t, "slots")
	for i := range 9 {
		b.begin(s1, fmt.Sprint(i), 1, "slot")
	}
	require.Len(t, b.set.Violations(), 3)
	require.Equal(t, "slots: b1/c1/s1:image: dispatch 0 was begun without a slot\n     0.000000s e1/dispatch write b1/c1/s1 begin "+
		"animastor:asset-state:b1:c1:s1 animastor:dispatch-lease:b1:c1:s1:image animastor:dispatch:b1:c1:s1:image "+
		"animastor:dispatch-jobs:0 animastor:runtime:slots:image", b.set.Violations()[0].String())
}
