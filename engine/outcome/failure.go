package outcome

import (
	"slices"
	"strings"
)

// Failure codes: what workers, hub and engine say went wrong, as JobResult.Code.
// Lost and ArtifactMissing are codes as well as reasons.
const (
	WorkerCrashed         = "worker_crashed"
	WorkerOutOfMemory     = "worker_out_of_memory"
	DiskFull              = "disk_full"
	FilesystemError       = "filesystem_error"
	FFmpegMissing         = "ffmpeg_missing"
	RedisUnavailable      = "redis_unavailable"
	InvalidWorkflow       = "invalid_workflow"
	InvalidAsset          = "invalid_asset"
	InvalidSceneData      = "invalid_scene_data"
	MissingField          = "missing_required_field"
	CorruptedInput        = "corrupted_input"
	UnsupportedFormat     = "unsupported_format"
	InvalidTransition     = "invalid_transition"
	DuplicateDispatch     = "duplicate_dispatch"
	StaleLease            = "stale_lease"
	TokenMismatch         = "token_mismatch"
	CounterDrift          = "counter_drift"
	JobTimeout            = "job_timeout"
	UploadFailed          = "upload_failed"
	DependencyUnavailable = "dependency_unavailable"
)

// The classes of failures (spec runtime 6).
const (
	Infrastructure = "infrastructure" // the machinery is broken; the breaker counts these
	Permanent      = "permanent"      // the input is; the same job fails again
	Orchestration  = "orchestration"  // the engine contradicted itself
	Transient      = "transient"      // anything else
)

// Failure is what is known of a failure. Everything follows from the class.
type Failure struct {
	Class     string
	Retryable bool
	Severity  string // high, medium, low
}

var (
	infrastructure = Failure{Infrastructure, true, "high"}
	permanent      = Failure{Permanent, false, "high"}
	orchestration  = Failure{Orchestration, false, "medium"}
	transient      = Failure{Transient, true, "low"}
)

// CodeEntry is a failure code and what it means.
type CodeEntry struct {
	Code string
	Failure
}

var codes = []CodeEntry{
	{WorkerCrashed, infrastructure},
	{WorkerOutOfMemory, infrastructure},
	{DiskFull, infrastructure},
	{FilesystemError, infrastructure},
	{FFmpegMissing, infrastructure},
	{RedisUnavailable, infrastructure},
	{Lost, infrastructure},
	{InvalidWorkflow, permanent},
	{InvalidAsset, permanent},
	{InvalidSceneData, permanent},
	{MissingField, permanent},
	{CorruptedInput, permanent},
	{UnsupportedFormat, permanent},
	{InvalidTransition, orchestration},
	{DuplicateDispatch, orchestration},
	{StaleLease, orchestration},
	{TokenMismatch, orchestration},
	{CounterDrift, orchestration},
	{JobTimeout, transient},
	{UploadFailed, transient},
	{DependencyUnavailable, transient},
	{ArtifactMissing, transient},
}

// Codes returns every failure code, by class.
func Codes() []CodeEntry { return slices.Clone(codes) }

// foreign maps what the errors of others say, tried in this order when there is no
// code of ours. The words must follow each other in the message, which is in lower
// case; a `$` after the last says that the message ends with it.
var foreign = []struct {
	words string
	Failure
}{
	{"redis unavailable", infrastructure},
	{"redis connection", infrastructure},
	{"filesystem error", infrastructure},
	{"ffmpeg missing", infrastructure},
	{"ffmpeg not found", infrastructure},
	{"disk full", infrastructure},
	{"out of memory", infrastructure},
	{"invalid workflow", permanent},
	{"invalid asset", permanent},
	{"corrupted", permanent},
	{"invalid scene data", permanent},
	{"missing required field", permanent},
	{"unsupported format", permanent},
	{"not found$", permanent},
	{"invalid transition", orchestration},
	{"duplicate dispatch", orchestration},
	{"stale lease", orchestration},
	{"counter drift", orchestration},
	{"token mismatch", orchestration},
}

// ClassifyFailure says what kind of failure a code and a message mean. A code of
// Codes decides alone: rewording a message changes nothing (spec runtime RB8). For
// the errors of others the message is searched for words, then the code for a
// refusal of the operating system (EPERM, EACCES, ENOENT: permanent). All else,
// nothing at all included, is transient.
func ClassifyFailure(code, message string) Failure {
	for i := range codes {
		if codes[i].Code == code {
			return codes[i].Failure
		}
	}
	message = strings.ToLower(message)
	for i := range foreign {
		if says(message, foreign[i].words) {
			return foreign[i].Failure
		}
	}
	switch code {
	case "EPERM", "EACCES", "ENOENT":
		return permanent
	}
	return transient
}

// says reports whether the words follow each other in the message, with anything
// between them.
func says(message, words string) bool {
	words, atEnd := strings.CutSuffix(words, "$")
	fields := strings.Fields(words)
	if last := fields[len(fields)-1]; atEnd {
		var ok bool
		if message, ok = strings.CutSuffix(message, last); !ok {
			return false
		}
		fields = fields[:len(fields)-1]
	}
	for _, word := range fields {
		_, rest, ok := strings.Cut(message, word)
		if !ok {
			return false
		}
		message = rest
	}
	return true
}
