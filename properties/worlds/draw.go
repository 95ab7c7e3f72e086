package worlds

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/scenarios/lang"
	"github.com/animastor/orchestra/scenarios/syntax"
)

// Shape bounds a world. Books, Chapters, Scenes, Units and Engines are at least 1.
type Shape struct {
	Books, Chapters, Scenes, Units int // at most: chapters of a book, scenes of a chapter, units (segments, groups) of a scene
	Engines, Workers               int // at most; workers of each stage
	Intents, Faults, Troubles      int // statements at most; a trouble is a crash, a pause, an eviction, …
	Minutes                        int // the run, at most, without the settling; at least 2
}

// Default is the shape of Seed: small enough for some ten worlds a second.
var Default = Shape{Books: 3, Chapters: 2, Scenes: 3, Units: 3, Engines: 3, Workers: 4, Intents: 8, Faults: 6, Troubles: 5, Minutes: 30}

// settleWithin is what a world may need once it is healed: every token of a retry
// budget spent on jobs that end by their progress deadline (15, 25 and 65 min), and some more.
const settleWithin = 12 * time.Hour

// Seed is the world of a number: drawn from Stream(n) in the Default shape, and to
// be run with the seed n.
func Seed(n uint64) *syntax.File { return draw(Stream(n), Default, n) }

// Draw draws a scenario. It is in canonical form and vets; its seed is drawn, too.
func Draw(src Source, s Shape) *syntax.File { return draw(src, s, uint64(1+src.Intn(1_000_000))) }

// Program vets a drawn scenario.
func Program(f *syntax.File) *lang.Program {
	p, err := lang.Vet(f)
	if err != nil {
		panic("worlds: a drawn scenario does not vet: " + err.Error() + "\n" + string(syntax.Format(f)))
	}
	return p
}

// drawer is a scenario in the making.
type drawer struct {
	Source
	shape   Shape
	text    strings.Builder
	books   []book
	kinds   []string // stages that some book has
	engines int
	end     int // of the run, in seconds
}

func draw(src Source, s Shape, seed uint64) *syntax.File {
	d := &drawer{Source: src, shape: s, end: 60 * between(src, 2, s.Minutes)}
	name := fmt.Sprintf("world %d", seed)
	d.line("scenario %q seed=%d", name, seed)
	d.setUp()
	d.Repeat(s.Faults, d.fault)
	d.line("request  %s", d.path(bookLevel, chapterLevel, sceneLevel, stageLevel))
	d.Repeat(s.Intents, d.intent)
	d.Repeat(s.Troubles, d.trouble)
	d.finale()
	return d.file(name)
}

// file is what was drawn, as a scenario of that name.
func (d *drawer) file(name string) *syntax.File {
	f, err := syntax.Parse(strings.ReplaceAll(name, " ", "-")+lang.Ext, []byte(d.text.String()))
	if err != nil {
		panic("worlds: a drawn scenario does not parse: " + err.Error() + "\n" + d.text.String())
	}
	f, err = syntax.Parse(f.Name, syntax.Format(f))
	if err != nil {
		panic("worlds: a formatted scenario does not parse: " + err.Error())
	}
	return f
}

// line writes one statement.
func (d *drawer) line(format string, args ...any) {
	fmt.Fprintf(&d.text, format+"\n", args...)
}

// at writes one statement at some time of the run.
func (d *drawer) at(format string, args ...any) {
	if t := d.Intn(d.end); t > 0 {
		format = "at " + seconds(t) + " " + format
	}
	d.line(format, args...)
}

func seconds(n int) string { return strconv.Itoa(n) + "s" }

// setUp writes what stands before anything happens.
func (d *drawer) setUp() {
	d.drawBooks()
	for _, kind := range d.kinds {
		d.line("workers  %s=%d job=%s", kind, d.Intn(d.shape.Workers+1), d.jobTime())
	}
	d.engines = between(d, 1, d.shape.Engines)
	d.line("engines  %d", d.engines)
	if rarely(d, 4) {
		d.line("hub      %s", d.hubWays())
	}
	if rarely(d, 2) {
		d.line("config   %s", d.setting())
	}
	if rarely(d, 2) {
		d.line("config   versioned=yes")
	}
	if rarely(d, 2) {
		d.line("latency  %s", pick(d, "redis=1ms..200ms", "content=1ms..3s", "content=100ms..3s artifacts=1ms..3s", "media=1s..40s", "hub=10ms..2s", "callback=1s..30s", "redis=1ms..50ms hub=100ms..8s", "none"))
	}
}

func (d *drawer) jobTime() string { return pick(d, "20s..60s", "1s..5s", "5s..20s", "30s..5m") }

func (d *drawer) hubWays() string {
	return pick(d, "capacity=1", "capacity=4", "scope=absent", "scope=foreign", "fences=no")
}

func (d *drawer) setting() string {
	kind := d.kind()
	return strings.ReplaceAll(pick(d, "slots.KIND=1", "slots.KIND=2", "slots.KIND=1 tick=2s", "tick=15s", "budget.KIND=2 refill.KIND=1m", "lease.KIND=10m",
		"window=1", "window=2", "window=2 slots.KIND=1"), "KIND", kind)
}

// kind draws one of the stages of the world.
func (d *drawer) kind() string { return pick(d, d.kinds...) }

// intent writes something that a user or an operator asks for.
func (d *drawer) intent() {
	verb := pick(d, "request", "regenerate", "reset", "cancel", "delete", "clear deferrals", "edit", "request", "regenerate")
	levels := []int{bookLevel, chapterLevel, sceneLevel, stageLevel}
	switch verb {
	case "clear deferrals":
		levels = []int{bookLevel, sceneLevel}
	case "edit":
		levels = []int{sceneLevel}
	}
	path := d.path(levels...)
	switch {
	case verb == "request" && rarely(d, 4):
		path += " force=yes"
	case verb == "edit" && rarely(d, 3):
		path += fmt.Sprintf(" %s", pick(d, "segments=0", "segments=1", "segments=2", "groups=1", "groups=2", "units=u1", "units=u1"))
	}
	if rarely(d, 10) {
		d.line("every %s until %s %s %s", pick(d, "90s", "20s", "5s"), seconds(between(d, 1, d.end)), verb, path)
		return
	}
	d.at("%s %s", verb, path)
}

// finale heals the world, replaces its workers (one that hangs would hang for
// good), and says what must be true of any world at rest.
func (d *drawer) finale() {
	d.line("run      %s", seconds(d.end))
	d.line("")
	for _, kind := range d.kinds {
		d.line("workers  %s=0", kind)
		d.line("workers  %s=%d job=%s", kind, between(d, 1, max(1, d.shape.Workers)), d.jobTime())
	}
	d.line("settle   within=%s", settleWithin)
	d.line("expect   state   *:* != generating")
	d.line("expect   leased  *:* = no")
	for _, kind := range d.kinds {
		d.line("expect   slots   %s = 0", kind)
	}
	d.line("expect   indexed * = no within=3m")
}
