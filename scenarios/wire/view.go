package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/properties"
	"github.com/animastor/orchestra/sim"
)

// View is what properties may see of the world.
func (w *World) View() properties.View {
	return properties.View{
		World:       w.Sim,
		Redis:       w.Redis.Peek(),
		Profile:     w.profile,
		Tick:        w.opts.Config.Tick,
		Pass:        w.opts.Config.Reconcile,
		Replicas:    len(w.engines),
		Consumer:    true,
		Scenes:      w.Content.All,
		Enabled:     w.enabled,
		Wanted:      w.Recorder.Wanted,
		Stands:      w.missing,
		Pictured:    w.hasPicture,
		Disturbed:   func(s ports.SceneID) time.Duration { return w.disturbed[s] },
		Marks:       w.Pointers.MarksOf,
		Published:   w.settles,
		ScopeEchoed: func() bool { return w.opts.Hub.Scope == hub.ScopeEcho },
		Fenced:      func() bool { return !w.opts.Hub.NoFences },
	}
}

func (w *World) enabled(s ports.StageID) bool {
	scene, ok := w.Content.Get(s.SceneID)
	return ok && scene.Layers[s.Stage]
}

// State is the state of a stage, as Redis has it; new if it was never asked for.
func (w *World) State(s ports.StageID) asset.State {
	if state := w.field(s, "state"); state != "" {
		return asset.State(state)
	}
	return asset.New
}

// Done says whether nothing is left to do for a stage.
func (w *World) Done(s ports.StageID) bool { return asset.Done(w.State(s), true) }

func (w *World) field(s ports.StageID, name string) string {
	return w.Redis.Peek().HGetAll(keys.AssetState(s.SceneID))[s.Stage+"."+name]
}

// Generation is the generation of a stage's intent; 0: never asked for.
func (w *World) Generation(s ports.StageID) int64 {
	return number(w.Redis.Peek().HGetAll(keys.Intent(s))["generation"])
}

// asked says whether the intent of a stage asks for work.
func (w *World) asked(s ports.StageID) bool {
	return w.Redis.Peek().HGetAll(keys.Intent(s))["status"] == store.StatusActive
}

// OpenScopes lists the books of which something that was asked for is not concluded.
func (w *World) OpenScopes() (books []string) {
	for _, member := range w.Redis.Peek().SMembers(keys.OpenScopes()) {
		if book, err := keys.ParseBookMember(member); err == nil {
			books = append(books, book)
		}
	}
	return books
}

// Finales counts the finales that the journal of a book holds.
func (w *World) Finales(book string) int {
	return w.Redis.Peek().XLen(keys.Journal(ports.SceneID{Book: book}))
}

// deferral is the open deferral of a stage that holds for its generation.
func (w *World) deferral(s ports.StageID) []string {
	text, ok := w.Redis.Peek().Get(keys.Deferred(s))
	parts := strings.Split(text, "|")
	if !ok || len(parts) != 6 || number(parts[2]) != w.Generation(s) || number(parts[5]) <= w.nowMs() {
		return nil
	}
	return parts
}

// Deferred says whether a deferral holds a stage back.
func (w *World) Deferred(s ports.StageID) bool { return w.deferral(s) != nil }

// DeferralAge is the time since the open deferral was written; 0: none is open.
func (w *World) DeferralAge(s ports.StageID) time.Duration {
	if d := w.deferral(s); d != nil {
		return time.Duration(w.nowMs()-number(d[4])) * time.Millisecond
	}
	return 0
}

// Leased says whether a stage has a dispatch lease.
func (w *World) Leased(s ports.StageID) bool { return w.Redis.Peek().Exists(keys.Lease(s)) }

// Indexed says whether a scene is in the active index.
func (w *World) Indexed(s ports.SceneID) bool {
	return slices.Contains(w.Redis.Peek().SMembers(keys.ActiveScenes()), keys.SceneMember(s))
}

// SlotsUsed counts the unexpired holders of a stage's slots.
func (w *World) SlotsUsed(stage string) int {
	n := 0
	for _, m := range w.Redis.Peek().ZRange(keys.Slots(stage)) {
		if m.Score > float64(w.nowMs()) {
			n++
		}
	}
	return n
}

// Circuit is the state of the breaker of a stage.
func (w *World) Circuit(stage string) string {
	return Circuit(w.Redis.Peek().HGetAll(keys.Breaker(stage)), w.profile(stage), w.Sim.Now())
}

// Circuit is the state of a breaker, as Redis has it: closed, open or half_open.
func Circuit(breaker map[string]string, p asset.Profile, now time.Time) string {
	opened := number(breaker["opened_at"])
	switch {
	case breaker["hold"] == "open", opened > 0 && now.UnixMilli() < opened+p.Breaker.CoolDown.Milliseconds():
		return "open"
	case opened > 0:
		return "half_open"
	}
	return "closed"
}

// Budget is what is left of the retry budget of a stage.
func (w *World) Budget(s ports.StageID) (tokens int, full bool) {
	return Budget(w.Redis.Peek().HGetAll(keys.Budget(s)), w.profile(s.Stage), w.Sim.Now())
}

// Budget is what is left of a retry budget, as Redis has it, with what has come back since
// the last failure.
func Budget(budget map[string]string, p asset.Profile, now time.Time) (tokens int, full bool) {
	if budget["tokens"] == "" {
		return p.RetryBudget, true
	}
	back := (now.UnixMilli() - number(budget["at"])) / p.RefillEvery.Milliseconds()
	tokens = min(p.RetryBudget, int(number(budget["tokens"])+max(0, back)))
	return tokens, tokens == p.RetryBudget
}

func (w *World) profile(stage string) asset.Profile {
	if p, ok := w.opts.Config.Profiles[stage]; ok {
		return p
	}
	return asset.ProfileOf(stage)
}

// LiveJobs counts the jobs of a stage that the hub has queued or running.
func (w *World) LiveJobs(s ports.StageID) int {
	n := 0
	for _, j := range w.Hub.Jobs() {
		if j.StageID() == s && (j.State == ports.JobQueued || j.State == ports.JobRunning) {
			n++
		}
	}
	return n
}

// JournalLen is the number of events in the journal of a scene.
func (w *World) JournalLen(s ports.SceneID) int { return w.Redis.Peek().XLen(keys.Journal(s)) }

// Counter sums what the replicas count themselves (engine/metrics), as far as `process
// name stage label` matches a glob; `-` stands for a part that is empty.
func (w *World) Counter(glob string) (n int) {
	for _, r := range w.replicas() {
		for _, s := range r.engine.Counters() {
			text := strings.Join([]string{r.p.Name(), s.Name, cmp.Or(s.Stage, "-"), cmp.Or(s.Label, "-")}, " ")
			if glob == "" || sim.Glob(glob, text) {
				n += int(s.Value)
			}
		}
	}
	return n
}

// Placeholder says whether silence stands in for the file of a stage.
func (w *World) Placeholder(s ports.StageID) bool {
	file, _ := w.Artifacts.Get(keys.ScenePath(s.SceneID, s.Stage))
	return file.Placeholder
}

// Timed is how long the pictures of a scene are shown, all together; 0: nobody knows.
func (w *World) Timed(s ports.SceneID) (total time.Duration) {
	for _, u := range w.Content.Times(s) {
		total += u.End - u.Start
	}
	return total
}

// Progress is the number of ready image units of a scene, as it is shown.
func (w *World) Progress(s ports.SceneID) int {
	text, _ := w.Redis.Peek().Get(keys.ImageProgress(s))
	return int(number(text))
}

// Undelivered is the number of result events of a scene that wait for the consumer.
func (w *World) Undelivered(s ports.SceneID) int { return len(w.Redis.Peek().LRange(keys.Events(s))) }

// KeyOf is the key of a family that belongs to a target; "" if there is none now.
func (w *World) KeyOf(family string, t ports.StageID) string {
	return KeyOf(family, t, w.field(t, "dispatch"))
}

// KeyOf is the key of a family that belongs to a target, whose live dispatch is as given; "" if
// there is no such key without one.
func KeyOf(family string, t ports.StageID, dispatch string) string {
	for _, f := range keys.Families() {
		name := strings.TrimPrefix(strings.TrimPrefix(string(f), "animastor:"), "runtime:")
		if family != "cancel" && !strings.HasPrefix(name, family+":") || family == "cancel" && !strings.HasPrefix(name, "generation:cancel:") {
			continue
		}
		k := keys.Key{Family: f, StageID: t}
		if family == "dispatch-jobs" {
			if k.Dispatch = dispatch; dispatch == "" {
				return ""
			}
		}
		return k.String()
	}
	panic("wire: no key family " + family)
}

func (w *World) nowMs() int64 { return w.Sim.Now().UnixMilli() }

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// Dump spells the keys that match a glob, with their values, one a line.
func Dump(p redis.Peek, glob string) []string {
	var lines []string
	for _, k := range p.Keys() {
		if glob != "" && !sim.Glob(glob, k) {
			continue
		}
		switch p.Type(k) {
		case "string":
			v, _ := p.Get(k)
			lines = append(lines, k+" = "+v)
		case "hash":
			hash := p.HGetAll(k)
			for _, f := range sortedKeys(hash) {
				lines = append(lines, k+" "+f+" = "+hash[f])
			}
		case "zset":
			for _, m := range p.ZRange(k) {
				lines = append(lines, fmt.Sprintf("%s %s = %.0f", k, m.Name, m.Score))
			}
		case "set":
			for _, m := range p.SMembers(k) {
				lines = append(lines, k+" has "+m)
			}
		case "list":
			for i, v := range p.LRange(k) {
				lines = append(lines, fmt.Sprintf("%s %d = %s", k, i, v))
			}
		case "stream":
			lines = append(lines, fmt.Sprintf("%s has %d entries", k, p.XLen(k)))
		}
	}
	return lines
}

func sortedKeys(m map[string]string) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
