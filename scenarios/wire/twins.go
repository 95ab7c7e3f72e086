package wire

import (
	"errors"
	"math"
	"strings"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/fakes/redis"
)

// Twins returns the native twin of each script of package store, by its name. A twin
// reads like its script, so that the two can be compared side by side; a property holds
// them to equal replies, databases and writes.
func Twins() map[string]redis.Twin {
	return map[string]redis.Twin{
		"begin": beginTwin, "renew": renewTwin, "adopt": adoptTwin, "claim": claimTwin, "finish": finishTwin,
		"admit": admitTwin, "mark": markTwin, "forget": forgetTwin, "release": releaseTwin, "accept": acceptTwin,
		"intent": intentTwin, "retire": retireTwin, "restore": restoreTwin,
		"lock": lockTwin, "unlock": unlockTwin, "undefer": undeferTwin, "drain": drainTwin,
		"due": dueTwin, "delivered": deliveredTwin,
		"order": orderTwin, "slide": slideTwin, "conclude": concludeTwin,
	}
}

// What follows is the prelude of the scripts.

const (
	dayMs       = 86_400_000
	outboxLines = 10_000
)

// readInt is the prelude's int.
func readInt(text string) (n int64, ok bool) {
	if text == "" || len(text) > 15 || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(text[i]-'0')
	}
	return n, true
}

// intOr0 is `int(text) or 0`.
func intOr0(text string) int64 {
	n, _ := readInt(text)
	return n
}

// corrupt is the prelude's corrupt. A DB keeps the error of a key that it reads as
// another type, so keys are asked for their type first.
func corrupt(db *redis.DB, keys []string, types ...string) error {
	for i, key := range keys {
		if !db.Exists(key) {
			continue
		}
		want := types[min(i, len(types)-1)]
		if found, _ := db.Do("TYPE", key).(string); found != want {
			return errors.New("CORRUPT " + key + " holds a " + found + ", not a " + want)
		}
	}
	return nil
}

// unpack names the first of the keys or arguments, as unpack(KEYS) and unpack(ARGV) do.
func unpack(values []string, names ...*string) {
	for i, name := range names {
		*name = values[i]
	}
}

// get is `redis.call('HGET', key, field) or ”`.
func get(db *redis.DB, key, field string) string {
	value, _ := db.HGet(key, field)
	return value
}

// intentOf is the prelude's readIntent; generation is 0 for its nil.
func intentOf(db *redis.DB, key string) (generation int64, problem string) {
	if !db.Exists(key) {
		return 0, "intent_missing"
	}
	generation, _ = readInt(get(db, key, "generation"))
	status := get(db, key, "status")
	switch {
	case generation < 1:
		return 0, "intent_corrupt"
	case status == "active":
		return generation, ""
	case status == "cancelled" || status == "deleted":
		return generation, "intent_not_active"
	}
	return 0, "intent_corrupt"
}

// jobState is the state of a job as it stands in the hash of jobs.
func jobState(job string) string {
	state, _, _ := strings.Cut(job, "|")
	return state
}

// unfinished is the prelude's unfinished.
func unfinished(job string) bool {
	state := jobState(job)
	return state != "done" && state != "failed"
}

// held is the keys of what a live dispatch holds.
type held struct{ state, lease, record, jobs, slots, marker, permits string }

// endDispatch is the prelude's endDispatch.
func endDispatch(db *redis.DB, key held, stage, dispatch, outcome string, now int64) {
	db.Del(key.lease, key.record, key.jobs)
	db.ZRem(key.slots, dispatch)
	db.ZRem(key.permits, dispatch)
	db.HDel(key.state, stage+"dispatch", stage+"holder", stage+"renewed", stage+"claim", stage+"claim_until")
	db.SetPX(key.marker, outcome+"|"+num(now), dayMs)
}

// purgeLater is the prelude's purgeLater.
func purgeLater(db *redis.DB, purges, dispatch string, now int64) {
	db.ZAdd(purges, float64(now), dispatch)
	db.ZRemUpTo(purges, float64(now-dayMs))
}

// circuitOf is the prelude's readCircuit; openedAt is 0 for its nil.
func circuitOf(db *redis.DB, breaker string) (openedAt int64, held bool) {
	return intOr0(get(db, breaker, "opened_at")), get(db, breaker, "hold") == "open"
}

// imageComes is the prelude's.
func imageComes(db *redis.DB, state string) bool {
	return asset.Awaited(asset.State(get(db, state, "image.state")))
}

// videoWaits is the prelude's.
func videoWaits(db *redis.DB, state string) bool {
	status := get(db, state, "video.state")
	return (status == "pending" || status == "dirty") && get(db, state, "video.dispatch") == "" && get(db, state, "video.cancelled") == ""
}

// blockVideo is the prelude's.
func blockVideo(db *redis.DB, state string) {
	db.HSet(state, "video.state", "failed", "video.reason", "blocked_by_image")
}

// sceneReady is the prelude's.
func sceneReady(db *redis.DB, state, stage string) bool {
	fields := db.HGetAll(state)
	for i := 0; i < len(fields); i += 2 {
		other, is := strings.CutSuffix(fields[i], "state")
		if is && strings.HasSuffix(other, ".") && other != stage && fields[i+1] != "ready" && fields[i+1] != "placeholder" {
			return false
		}
	}
	return true
}

// ended is the prelude's.
func ended(line, status, why string, now, until int64, generation, also string) string {
	return strings.Join([]string{line, status, why, num(now), num(until), generation, also}, "|")
}

// tell is the prelude's tell.
func tell(db *redis.DB, outbox, line string) {
	db.RPush(outbox, line)
	db.LTrimLast(outbox, outboxLines)
}

// dropReceipt removes a receipt, but not the note that a marker was released.
func dropReceipt(db *redis.DB, receipt string) {
	db.HDel(receipt, "generation", "fence", "dispatch", "payload", "at")
}

// yes is the reply of a script that answers 1 or 0.
func yes(ok bool) []string {
	if ok {
		return []string{"1"}
	}
	return []string{"0"}
}

// backoffMs is min(60000, 10000 * 2 ^ (idle - 3)).
func backoffMs(idle int64) int64 {
	return int64(math.Min(60_000, 10_000*math.Pow(2, float64(idle-3))))
}
