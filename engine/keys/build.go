package keys

import "github.com/animastor/orchestra/ports"

func ofScene(f Family, s ports.SceneID) string {
	return fill(string(f), &Key{StageID: ports.StageID{SceneID: s}})
}

func ofStage(f Family, s ports.StageID) string { return fill(string(f), &Key{StageID: s}) }

func ofBook(f Family, book string) string { return ofScene(f, ports.SceneID{Book: book}) }

func ofKind(f Family, stage string) string { return ofStage(f, ports.StageID{Stage: stage}) }

// AssetState is the hash of a scene's stage states.
func AssetState(s ports.SceneID) string { return ofScene(FamilyAssetState, s) }

// Intent is the hash of what was asked for of a stage.
func Intent(s ports.StageID) string { return ofStage(FamilyIntent, s) }

// Lease is the string that a stage's live dispatch keeps alive.
func Lease(s ports.StageID) string { return ofStage(FamilyLease, s) }

// Dispatch is the record of a stage's live dispatch.
func Dispatch(s ports.StageID) string { return ofStage(FamilyDispatch, s) }

// DispatchJobs is the hash of a dispatch's jobs.
func DispatchJobs(dispatch string) string {
	return fill(string(FamilyDispatchJobs), &Key{Dispatch: dispatch})
}

// DispatchCompleted is the marker of a finished dispatch.
func DispatchCompleted(s ports.StageID, dispatch string) string {
	return fill(string(FamilyDispatchCompleted), &Key{StageID: s, Dispatch: dispatch})
}

// Slots is the sorted set of dispatches that hold a slot of a kind of stage.
func Slots(stage string) string { return ofKind(FamilySlots, stage) }

// Deferred is the open deferral of a stage.
func Deferred(s ports.StageID) string { return ofStage(FamilyDeferred, s) }

// DeferredOf is the index of a book's deferrals; its members are BookStageMember.
func DeferredOf(book string) string { return ofBook(FamilyDeferredOf, book) }

// Breaker is the circuit of a kind of stage.
func Breaker(stage string) string { return ofKind(FamilyBreaker, stage) }

// BreakerFailures is the sorted set of failures that a circuit counts.
func BreakerFailures(stage string) string { return ofKind(FamilyBreakerFailures, stage) }

// BreakerPermits is the sorted set of half-open permits of a circuit.
func BreakerPermits(stage string) string { return ofKind(FamilyBreakerPermits, stage) }

// Budget is the retry budget of a stage.
func Budget(s ports.StageID) string { return ofStage(FamilyBudget, s) }

// Receipt is the admission receipt of a job. The job id is one that Job made; it
// stands in the key as it is.
func Receipt(jobID string) string { return "animastor:receipt:" + jobID }

// TaskDone is the completion marker of a job. The job id is one that Job made; it
// stands in the key as it is.
func TaskDone(jobID string) string { return "animastor:task-done:" + jobID }

// ActiveScenes is the set of scenes that a tick looks at; its members are SceneMember.
func ActiveScenes() string { return string(FamilyActiveScenes) }

// ScenesOf is the set of a book's active scenes; its members are BookSceneMember.
func ScenesOf(book string) string { return ofBook(FamilyScenesOf, book) }

// Cancel is the cancel flag of a book.
func Cancel(book string) string { return ofBook(FamilyCancel, book) }

// Force is the force flag of a book.
func Force(book string) string { return ofBook(FamilyForce, book) }

// ImageProgress is the number of ready image units of a scene.
func ImageProgress(s ports.SceneID) string { return ofScene(FamilyImageProgress, s) }

// Journal is the event stream of a scene, or of a book if only that is named.
func Journal(s ports.SceneID) string { return ofScene(FamilyJournal, s) }

// Heartbeat is the sign of life of a worker. workerType is the stage it works for.
func Heartbeat(workerType, worker string) string {
	return fill(string(FamilyHeartbeat), &Key{Type: workerType, Worker: worker})
}

// SchedulerLock is the tick lock.
func SchedulerLock() string { return string(FamilySchedulerLock) }

// CleanupLock is the reconcile lock.
func CleanupLock() string { return string(FamilyCleanupLock) }

// Outbox is the list of what scripts have decided and nobody has journaled yet: ends of
// dispatches and finales.
func Outbox() string { return string(FamilyOutbox) }

// Purges is the sorted set of ended dispatches whose jobs may still be at the hub.
func Purges() string { return string(FamilyPurges) }

// Suspicion is what suspicious passes in a row have found, and how many of them.
func Suspicion() string { return string(FamilySuspicion) }

// Events is the list of result events of a scene, or of a book if only that is named, that
// the host has not heard.
func Events(s ports.SceneID) string { return ofScene(FamilyEvents, s) }

// Undelivered is the sorted set of scenes whose Events wait; its members are SceneMember.
func Undelivered() string { return string(FamilyUndelivered) }

// Scope is the open scope of a book; its fields are named by BookStageMember and
// BookSceneMember.
func Scope(book string) string { return ofBook(FamilyScope, book) }

// OpenScopes is the set of books with an open scope; its members are BookMember.
func OpenScopes() string { return string(FamilyOpenScopes) }

// Job is the id of the job for one unit of a stage. It holds no dispatch id, so
// that posting the same work again is a duplicate (schema 5).
func Job(s ports.StageID, unit string, generation int64) string {
	return fill(jobLayout, &Key{StageID: s, Unit: unit, Generation: generation})
}

// BookMember names a book in OpenScopes.
func BookMember(book string) string { return ofBook(bookMemberLayout, book) }

// SceneMember names a scene in ActiveScenes.
func SceneMember(s ports.SceneID) string { return ofScene(sceneMemberLayout, s) }

// BookSceneMember names a scene in ScenesOf its book.
func BookSceneMember(s ports.SceneID) string { return ofScene(bookSceneMemberLayout, s) }

// BookStageMember names a stage in DeferredOf its book.
func BookStageMember(s ports.StageID) string { return ofStage(bookStageMemberLayout, s) }
