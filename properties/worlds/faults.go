package worlds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/animastor/orchestra/scenarios/lang"
)

// services are the calls that a fault can hit.
var services = []service{
	{"redis", []string{"begin", "finish", "admit", "mark", "accept", "claim", "renew", "adopt", "intent", "retire", "release",
		"forget", "undefer", "drain", "order", "slide", "conclude", "pipeline", "lrange", "hgetall", "*"}},
	{"hub", []string{"post", "post", "clear", "dispatch", "job", "workers", "claim", "heartbeat", "progress", "result", "*"}},
	{"callback", []string{"deliver"}},
	{"worker", []string{"run"}},
	{"content", []string{"scene", "*"}},
	{"artifacts", []string{"stat", "put"}},
	{"media", []string{"merge"}},
	{"consumer", []string{"consume"}},
	{"pg", []string{"pointer", "marks", "publish", "mark", "settle", "stamp", "version", "tombstone", "*"}},
}

// effectsOf lists what can become of a call of a service and verb.
func effectsOf(service, verb string) []*lang.FaultEffect {
	return slices.DeleteFunc(lang.Effects(), func(e *lang.FaultEffect) bool { return e.Service != "" && e.Service != service || !e.Hits(verb) })
}

// service is one whose calls a fault can hit.
type service struct {
	name  string
	verbs []string // `*` is any of them
}

// fault writes a fault of the plan.
func (d *drawer) fault() { d.faultOf(pick(d, services...)) }

// faultOf writes a fault of a service.
func (d *drawer) faultOf(service service) {
	verb := pick(d, service.verbs...)
	effect := pick(d, effectsOf(service.name, verb)...)
	parts := []string{"fault", service.name, verb}
	if glob := d.glob(); glob != "" {
		parts = append(parts, glob)
	}
	parts = append(parts, effect.Name)
	for _, key := range effect.AllKeys() {
		parts = append(parts, d.effectKey(key))
	}
	if on := d.process(effect.Name == "crash", service.name); on != "" {
		parts = append(parts, "on="+on)
	}

	when, endless := d.occasion()
	if when != "" {
		parts = append(parts, when)
	}
	from := d.Intn(d.end)
	if endless || stops(effect.Name) || rarely(d, 2) {
		parts = append(parts, "for="+seconds(min(pick(d, 60, 10, 30, 120, 300, 900), d.end-from)))
	}
	text := strings.Join(parts, " ")
	if from > 0 {
		text = "at " + seconds(from) + " " + text
	}
	d.line("%s", text)
}

// stops says whether an effect stops the process that makes the call.
func stops(effect string) bool {
	return effect == "crash" || effect == "hang" || effect == "pause"
}

// glob draws the subject of a fault: a book, or nothing for all of them. An id with
// a blank or a control character has no glob that is no quoted word.
func (d *drawer) glob() string {
	id := pick(d, d.books...).id
	if !rarely(d, 4) || strings.ContainsAny(id, ` \`) {
		return ""
	}
	return id + "/*"
}

// process draws whose calls a fault hits. A crash names its victim unless the
// service has but one caller: a crash of the client would be a world without one.
func (d *drawer) process(crash bool, service string) string {
	if service == "callback" || service == "worker" || !crash && !rarely(d, 3) {
		return ""
	}
	if service == "hub" && rarely(d, 3) {
		return fmt.Sprintf("%s-%d", d.kind(), between(d, 1, max(1, d.shape.Workers)))
	}
	return d.engine()
}

func (d *drawer) engine() string { return fmt.Sprintf("e%d", between(d, 1, d.engines)) }

// effectKey draws a key of an effect.
func (d *drawer) effectKey(key string) string {
	switch key {
	case "delay":
		return "delay=" + pick(d, "1s", "5s", "15s", "40s", "100s", "5m")
	case "when":
		return "when=" + pick(d, "before", "after")
	case "status":
		return "status=" + pick(d, "400", "404", "409", "413", "429", "500", "502")
	case "first":
		return "first=" + pick(d, "0", "1", "2", "3")
	case "key":
		return `key="animastor:runtime:scheduler-lock"` // what may be evicted without harm
	case "code":
		return "code=" + pick(d, "job_timeout", "worker_crashed", "invalid_asset", "upload_failed", "dependency_unavailable", "stale_lease")
	}
	panic("worlds: the effects have a new key " + key + "; draw it in effectKey")
}

// occasion draws how often a fault fires; endless says that it does so for ever.
func (d *drawer) occasion() (keys string, endless bool) {
	switch d.Intn(4) {
	case 0:
		first := between(d, 1, 8)
		return fmt.Sprintf("nth=%d..%d", first, first+d.Intn(3)), false
	case 1:
		return fmt.Sprintf("rate=%s", pick(d, "5%", "20%", "50%")), true
	case 2:
		return fmt.Sprintf("rate=%s count=%d", pick(d, "5%", "20%"), between(d, 1, 4)), false
	}
	return "", true
}

// evictable are the families that the engine can do without: derived, or for
// people to read.
var evictable = []struct {
	family string
	level  int
}{
	{"dispatch-lease", stageLevel}, {"dispatch", stageLevel}, {"event-journal", sceneLevel},
}

// trouble writes something that befalls a process or a key.
func (d *drawer) trouble() {
	life := pick(d, "1s", "10s", "45s", "100s", "5m", "20m")
	switch d.Intn(11) {
	case 0:
		d.at("pause %s for=%s", d.engine(), life)
	case 1:
		d.at("crash %s for=%s", d.engine(), life)
	case 2:
		d.at("restart %s", pick(d, d.engine(), "hub"))
	case 3:
		d.at("workers %s=%d job=%s", d.kind(), d.Intn(d.shape.Workers+1), d.jobTime())
	case 4:
		d.at("clock %s offset=%s", d.engine(), pick(d, "1s", "-1s", "30s", "-30s"))
	case 5:
		d.at("hub %s", d.hubWays())
	case 6:
		d.at("pause hub for=%s", life)
	case 7, 8: // the safety of nothing depends on the tick lock (design 5.5)
		d.line(`every %s until %s evict "animastor:runtime:scheduler-lock"`, pick(d, "3s", "1s", "100ms"), seconds(between(d, 1, d.end)))
	case 9:
		d.at("failover lose=%d", d.Intn(3))
	case 10:
		e := pick(d, evictable...)
		d.at("evict redis %s %s", e.family, d.path(e.level))
	}
}
