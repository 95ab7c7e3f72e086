package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Family is a family of keys, named by its layout (schema 2).
type Family string

// The key families. Published names are kept where the type is the same.
const (
	FamilyAssetState        Family = "animastor:asset-state:{b}:{c}:{s}"
	FamilyIntent            Family = "animastor:intent:{b}:{c}:{s}:{stage}"
	FamilyLease             Family = "animastor:dispatch-lease:{b}:{c}:{s}:{stage}"
	FamilyDispatch          Family = "animastor:dispatch:{b}:{c}:{s}:{stage}"
	FamilyDispatchJobs      Family = "animastor:dispatch-jobs:{dispatch}"
	FamilyDispatchCompleted Family = "animastor:dispatch-completed:{b}:{c}:{s}:{stage}:{dispatch}"
	FamilySlots             Family = "animastor:runtime:slots:{stage}"
	FamilyDeferred          Family = "animastor:runtime:deferred:{b}:{c}:{s}:{stage}"
	FamilyDeferredOf        Family = "animastor:runtime:deferred-of:{b}"
	FamilyBreaker           Family = "animastor:breaker:{stage}"
	FamilyBreakerFailures   Family = "animastor:breaker:{stage}:failures"
	FamilyBreakerPermits    Family = "animastor:breaker:{stage}:permits"
	FamilyBudget            Family = "animastor:budget:{b}:{c}:{s}:{stage}"
	FamilyReceipt           Family = "animastor:receipt:" + jobLayout
	FamilyTaskDone          Family = "animastor:task-done:" + jobLayout
	FamilyActiveScenes      Family = "animastor:active-scenes"
	FamilyScenesOf          Family = "animastor:scenes-of:{b}"
	FamilyCancel            Family = "animastor:generation:cancel:{b}"
	FamilyForce             Family = "animastor:force-dispatch:{b}"
	FamilyImageProgress     Family = "animastor:iu-progress:{b}:{c}:{s}:image"
	FamilyJournal           Family = "animastor:event-journal:{b}:{c}:{s}"
	FamilyHeartbeat         Family = "animastor:worker:heartbeat:{type}:{worker}"
	FamilySchedulerLock     Family = "animastor:runtime:scheduler-lock"
	FamilyCleanupLock       Family = "animastor:cleanup-lock"
	FamilyOutbox            Family = "animastor:runtime:outbox"
	FamilyPurges            Family = "animastor:runtime:purges"
	FamilySuspicion         Family = "animastor:runtime:suspicion"
	FamilyEvents            Family = "animastor:result-events:{b}:{c}:{s}"
	FamilyUndelivered       Family = "animastor:runtime:undelivered"
	FamilyScope             Family = "animastor:scope:{b}"
	FamilyOpenScopes        Family = "animastor:open-scopes"
)

// The layouts of what stands in keys and values but is no key.
const (
	jobLayout             = "{stage}:{b}:{c}:{s}:{unit}:{generation}"
	bookMemberLayout      = "{b}"
	sceneMemberLayout     = "{b}:{c}:{s}"
	bookSceneMemberLayout = "{c}:{s}"
	bookStageMemberLayout = "{c}:{s}:{stage}"
)

// AssetStatePattern matches the keys of FamilyAssetState, and no other: the one
// pattern that the engine SCANs (design 5.2).
const AssetStatePattern = "animastor:asset-state:*"

// families lists all families, in the order of schema 2.
var families = []Family{
	FamilyAssetState, FamilyIntent, FamilyLease, FamilyDispatch, FamilyDispatchJobs, FamilyDispatchCompleted,
	FamilySlots, FamilyDeferred, FamilyDeferredOf, FamilyBreaker, FamilyBreakerFailures, FamilyBreakerPermits,
	FamilyBudget, FamilyReceipt, FamilyTaskDone, FamilyActiveScenes, FamilyScenesOf, FamilyCancel, FamilyForce,
	FamilyImageProgress, FamilyJournal, FamilyHeartbeat, FamilySchedulerLock, FamilyCleanupLock, FamilyOutbox,
	FamilyPurges, FamilySuspicion, FamilyEvents, FamilyUndelivered, FamilyScope, FamilyOpenScopes,
}

// Families returns all families, in the order of schema 2.
func Families() []Family { return slices.Clone(families) }

// has reports whether keys of the family hold a part, such as "stage".
func (f Family) has(part string) bool { return strings.Contains(string(f), "{"+part+"}") }

// part returns the text that stands for {name}.
func (k *Key) part(name string) string {
	if name == "generation" {
		return strconv.FormatInt(k.Generation, 10)
	}
	return Encode(*k.field(name))
}

// setPart is the inverse of part; a text that part does not write is a problem.
func (k *Key) setPart(name, text string) (problem string) {
	if name != "generation" {
		*k.field(name), problem = decode(text)
		return problem
	}
	k.Generation, _ = strconv.ParseInt(text, 10, 64)
	if k.part(name) != text {
		return "the generation is not a plain decimal number"
	}
	return ""
}

func (k *Key) field(name string) *string {
	switch name {
	case "b":
		return &k.Book
	case "c":
		return &k.Chapter
	case "s":
		return &k.Scene
	case "stage":
		return &k.Stage
	case "dispatch":
		return &k.Dispatch
	case "unit":
		return &k.Unit
	case "type":
		return &k.Type
	case "worker":
		return &k.Worker
	}
	panic("keys: a layout has an unknown part: " + name)
}

// fill writes layout with the parts of k in place.
func fill(layout string, k *Key) string {
	b := make([]byte, 0, 128)
	for {
		literal, rest, more := strings.Cut(layout, "{")
		b = append(b, literal...)
		if !more {
			return string(b)
		}
		name, after, _ := strings.Cut(rest, "}")
		b = append(b, k.part(name)...)
		layout = after
	}
}

// match is the inverse of fill. ok says that text has the shape of layout; problem
// then names what fill does not write, if anything.
func match(layout, text string) (k Key, ok bool, problem string) {
	for {
		literal, rest, more := strings.Cut(layout, "{")
		if text, ok = strings.CutPrefix(text, literal); !ok {
			return k, false, ""
		}
		if !more {
			return k, text == "", problem
		}
		name, after, _ := strings.Cut(rest, "}")
		end := strings.IndexByte(text, ':')
		if end < 0 {
			end = len(text)
		}
		if p := k.setPart(name, text[:end]); p != "" && problem == "" {
			problem = fmt.Sprintf("component %q: %s", text[:end], p)
		}
		layout, text = after, text[end:]
	}
}
