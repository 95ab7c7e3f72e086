package properties

// Property describes one property of design 6.
type Property struct {
	ID        string
	Statement string
	Source    string // what taught us, in the words of the specification
}

// entry is a property and how it is made; one without make is watched elsewhere.
type entry struct {
	Property
	make func(*watch) any
}

// list holds the properties in the order of design 6. The statement of each stands
// here once; its file says how it is told.
var list = []entry{
	{Property{"bounded-churn",
		"Per stage and between two explicit intents, in T seconds: zero-progress attempts <= 1 + T/60 while the window is that of a capacity reason, " +
			"1 + T/900 while it is that of an idempotent or fence-rejected one, 6 + T/60 else; attempts that sent jobs <= 1 + budget + T/360; " +
			"journal events <= 4 per attempt + 2 per refusal edge + 1 per reset and repair; no write on a tick that begins nothing.",
		"stage 115 D3, DF6, DF7"}, newBoundedChurn},
	{Property{"key-encoding",
		"Every key written decodes to ids that exist, and encodes back to itself; so no two ids share a key.",
		"audit 117 M1, KY1 to KY8"}, newKeyEncoding},
	{Property{"classification",
		"Reason, bucket, window, deferred and retryable of every finish equal those of an independent classifier fed with the job outcomes in the trace.",
		"audit 117 M3, DF3, DF5, DF16"}, newClassification},
	{Property{"pass-abort",
		"A reconcile pass that could not read the hub, the pointer store, the artifacts or the content ends incomplete: it has begun and restored nothing, " +
			"and adopted nothing of which the hub never had a job; without the hub it has declared nothing lost; the next complete pass repairs what it left.",
		"audit 143a B2, design 5.4.6"}, newPassAbort},
	{Property{"single-owner",
		"At most one dispatch is live per scene and stage; a write by any other is refused.",
		"DS4, DS5, DS6, KY4"}, newSingleOwner},
	{Property{"slots",
		"Unfinished holders, and live dispatches that had their slot taken away, never exceed the limit of a stage, and are none at rest.",
		"DS1, DS2, QU1"}, newSlots},
	{Property{"finish-once",
		"Every dispatch finishes exactly once.",
		"FN1, FN3"}, newFinishOnce},
	{Property{"one-job",
		"There are never two live jobs for one unit and generation, and a unit's result is accepted once unless its marker was released.",
		"DS4, B5, design 5.4.11, 5.4.13"}, newOneJob},
	{Property{"fresh-deferral",
		"No deferral older than the last explicit intent holds, and force never bypasses one.",
		"audit 117 M2, DF1, DF2"}, newFreshDeferral},
	{Property{"fair-accounting",
		"Retry budget and breaker move once per end of a dispatch, by its results: a token for a bad result, a missing artifact or a loss after a claim, " +
			"a full budget after success and explicit intent; only failures of the machinery under a worker's hands count, the fifth in 120 s opens the " +
			"circuit, and in an open one only a permit holder decides.",
		"RB1 to RB8, CB4, CB5, CB8, design 5.4.3, 5.4.4"}, newFairAccounting},
	{Property{"isolation",
		"An operation on one id touches only keys, and members of shared collections, that decode to it; expired members may be trimmed.",
		"audit 117 M1, KY1, KY2, KY3"}, newIsolation},
	{Property{"no-lost-work",
		"Every wanted stage that is not done is in the active index, and under `settle` everything becomes done within the bound.",
		"SC4, design 5.4.5"}, newNoLostWork},
	{Property{"evidence",
		"A stage that is generating lacks dispatch, lease or record no longer than a reconcile period and its grace, while an engine lives and Redis and hub answer.",
		"LS1 to LS5, design 5.4.9"}, newEvidence},
	{Property{"unknown-is-not-absent",
		"What stands is not made again, whatever could not be read: no pass puts back a ready stage whose artifacts stand, no dispatch has a job for a picture that stands, " +
			"and a dirty mark goes only when a picture was published for it.",
		"audit 143a B1, B2, N1, H-10, H-14, H-26, H-46, design 5.4.6"}, newUnknownIsNotAbsent},
	{Property{"true-ready",
		"A stage becomes READY only when its artifacts stand: whole, of a generation that is good enough, of the version of their units, and with no dirty mark that its dispatch was to settle.",
		"H-01, H-11, H-12, design 5.4.8"}, newTrueReady},
	{Property{"cancel",
		"Nothing cancelled is begun or becomes ready before the next request; after the cancel is acknowledged the hub accepts no job of it, and those that it had are cleared.",
		"SC3, design 5.4.2, 5.4.10"}, newCancel},
	{Property{"permits",
		"At most two dispatches at once hold a permit of a half-open circuit, nothing else passes it; a permit goes with its dispatch or by its deadline, and " +
			"the circuit gives it to a stage that waits.",
		"CB1 to CB4, CB9"}, newPermits},
	{Property{"timers",
		"A renewal runs only while its process owns a live dispatch, or until its next run; one process renews a dispatch once per period.",
		"DS7, DS8, LS1"}, newTimers},
	{Property{"bounded-store",
		"Keys are bounded by live entities and retention: nothing of a dispatch outlives it but its marker, and what is not kept for good has a time to live. " +
			"What is left of a dispatch whose state was evicted goes with its lease.",
		"schema 2, DS1, DS5"}, newBoundedStore},
	{Property{"result-events",
		"The consumer is told of the end of every dispatch, at least once, never before it, and of the dispatches of one scene in the order of their ends.",
		"design 5.4.16, H-19"}, newResultEvents},
	{Property{"exact-sweep",
		"A sweep removes exactly the jobs of its scope, and counts as done only if the hub echoes that scope; a complete pass leaves no job of a dispatch that had ended before it.",
		"audit 121 N1, HB1, design 5.4.10"}, newExactSweep},
	{Property{"one-finale",
		"What was asked for of a book ends with one finale, which counts its scenes by what became of them: not before each stage of it was started and is done or " +
			"was stopped, not after the book was cancelled; it comes into the journal of the book once, and none is missing after `settle`. " +
			"A stage that is done counts, even if its intent was evicted.",
		"H-05, H-67, spec orchestration 9.6.9"}, newOneFinale},
	{Property{"fairness",
		"An error of one scene delays no other by more than a tick; no dispatchable stage is overtaken more often than there are wanted ones, times replicas.",
		"SC2, SC3"}, newFairness},
	{Property{"replay",
		"The same scenario and seed give the same digest. The runner checks this one.",
		"design 1"}, nil},
}

// IDs lists the ids of all properties, in the order of design 6.
func IDs() []string {
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = p.ID
	}
	return ids
}

// Doc describes the property of that id; ok is false if there is none.
func Doc(id string) (p Property, ok bool) {
	for _, e := range list {
		if e.ID == id {
			return e.Property, true
		}
	}
	return Property{}, false
}
