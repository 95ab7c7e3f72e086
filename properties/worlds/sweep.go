package worlds

import (
	"fmt"
	"strings"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// sweepFor is how long the faults of a sweep last, in seconds.
const sweepFor = 30 * 60

// Sweep is the world of a number that a whole book lives in: three chapters of five
// scenes with every layer, two replicas, six workers, and for 30 minutes faults of every
// service; then it is healed. It is to be run with the seed n.
func Sweep(n uint64) *syntax.File {
	const salt = 0x5eeb // its own worlds, and not those of Seed
	d := &drawer{Source: Stream(n ^ salt<<48), shape: Shape{Units: 3, Workers: 2, Troubles: 6}, engines: 2, end: sweepFor}
	d.kinds = []string{"audio", "image", "video"}
	d.books = []book{{id: "b1", chapters: []string{"c1", "c2", "c3"}, scenes: []string{"s1", "s2", "s3", "s4", "s5"}, stages: d.kinds}}
	name := fmt.Sprintf("sweep %d", n)
	d.line("scenario %q seed=%d", name, n)
	d.line("book     b1 chapters=3 scenes=5 stages=%s units=3 segments=3 groups=2", strings.Join(d.kinds, ","))
	for _, kind := range d.kinds {
		d.line("workers  %s=%d job=%s", kind, d.shape.Workers, pick(d, "20s..60s", "5s..20s", "30s..2m"))
	}
	d.line("engines  %d", d.engines)
	if n%2 == 1 {
		d.line("config   versioned=yes")
	}
	for _, s := range services {
		for range between(d, 1, 3) {
			d.faultOf(s)
		}
	}
	d.line("request  b1")
	for range between(d, 1, d.shape.Troubles) {
		d.trouble()
	}
	d.finale()
	return d.file(name)
}
