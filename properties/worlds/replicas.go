package worlds

import (
	"fmt"

	"github.com/animastor/orchestra/scenarios/syntax"
)

// Replicas is another world of a number: two replicas with work enough for both, and
// nothing in their way but their own deaths, pauses and clocks, and what befalls Redis.
// It is to be run with the seed n.
func Replicas(n uint64) *syntax.File {
	shape := Shape{Books: 3, Chapters: 2, Scenes: 4, Units: 3, Engines: 2, Workers: 4, Intents: 5, Faults: 6, Troubles: 8, Minutes: 30}
	d := &drawer{Source: Stream(^n), shape: shape, engines: 2}
	d.end = 60 * between(d, 5, shape.Minutes)
	name := fmt.Sprintf("replicas %d", n)
	d.line("scenario %q seed=%d", name, n)
	d.drawBooks()
	for _, kind := range d.kinds {
		d.line("workers  %s=%d job=%s", kind, between(d, 1, shape.Workers), d.jobTime())
	}
	d.line("engines  2")
	if rarely(d, 3) {
		d.line("config   %s", d.setting())
	}
	for range between(d, 2, shape.Faults) {
		d.callFault()
	}
	d.line("request  *")
	d.Repeat(shape.Intents, d.intent)
	for range between(d, 2, shape.Troubles) {
		d.upset()
	}
	d.finale()
	return d.file(name)
}

// callFault writes a fault of a replica at some of its calls, or of Redis for a while.
func (d *drawer) callFault() {
	from := d.Intn(d.end)
	at := ""
	if from > 0 {
		at = "at " + seconds(from) + " "
	}
	away := "for=" + seconds(pick(d, 5, 30, 100, 300))
	first := between(d, 1, 12)
	end := "for=" + seconds(min(1200, d.end-from)) // what stops a process ends with the run
	verb := pick(d, services[0].verbs...)
	switch d.Intn(8) {
	case 0, 1:
		d.line("%sfault redis %s crash when=%s nth=%d on=%s %s", at, verb, pick(d, "before", "after"), first, d.engine(), end)
	case 2:
		d.line("%sfault hub %s crash when=%s nth=%d on=%s %s", at, pick(d, "post", "clear", "dispatch"), pick(d, "before", "after"), first, d.engine(), end)
	case 3:
		d.line("%sfault redis %s pause delay=%s when=%s nth=%d on=%s %s", at, verb, pick(d, "15s", "100s", "4m", "25m"), pick(d, "before", "after"), first, d.engine(), end)
	case 4:
		d.line("%sfault redis %s lost rate=%s for=10m", at, verb, pick(d, "5%", "20%", "50%"))
	case 5:
		d.line("%sfault redis %s %s nth=%d..%d", at, verb, pick(d, "lost", "noscript", "cut", "refuse", "hang"), first, first+d.Intn(3))
	case 6:
		d.line("%sfault redis %s %s", at, pick(d, "oom", "readonly", "down"), away)
	case 7:
		d.line("%sfault redis * %s delay=%s rate=20%% for=5m", at, pick(d, "late", "slow"), pick(d, "1s", "15s"))
	}
}

// derived are the families of a stage that the engine makes anew, or can do without.
var derived = []string{"dispatch-lease", "dispatch", "dispatch-jobs", "deferred"}

// upset writes something that befalls a replica, or what Redis holds.
func (d *drawer) upset() {
	life := pick(d, "1s", "20s", "100s", "5m")
	switch d.Intn(9) {
	case 0:
		d.at("crash %s for=%s", d.engine(), life)
	case 1:
		d.at("pause %s for=%s", d.engine(), life)
	case 2:
		d.at("clock %s offset=%s", d.engine(), pick(d, "1s", "-30s", "2m", "-20m", "20m"))
	case 3, 4:
		d.at("failover lose=%d", pick(d, 0, 1, 2, 3, 5, 8, 13))
	case 5, 6:
		d.at("evict redis %s %s", pick(d, derived...), d.path(stageLevel))
	case 7:
		d.at("evict %q", "animastor:runtime:slots:"+d.kind())
	case 8:
		d.at("evict %q", pick(d, "animastor:runtime:scheduler-lock", "animastor:cleanup-lock"))
	}
}
