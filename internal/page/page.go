// Package page keeps the generated pages of docs/ fresh: a test fails when one is stale, and
// the flag -update of that test writes it again.
//
// Not for: what stands on a page, which is written beside the tables that it shows.
package page

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the generated page again")

// Fresh fails t if the page at path, from the directory of the test, is not want.
func Fresh(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	is, be := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range be {
		if i >= len(is) || !bytes.Equal(is[i], be[i]) {
			t.Fatalf("%s is stale from line %d on; run this test with -update, and look at the difference\nwant %s", path, i+1, be[i])
		}
	}
	t.Fatalf("%s is stale: it goes on behind its end; run this test with -update", path)
}
