package wire

import (
	"strings"

	"github.com/animastor/orchestra/fakes/redis"
)

// intentTwin is intent.lua.
func intentTwin(db *redis.DB, keys, args []string) (any, error) {
	var intent, state, deferred, deferredOf, budget, activeScenes, scenesOf, cancel, outbox,
		lease, record, slots, jobs, marker, permits, purges, scope string
	unpack(keys, &intent, &state, &deferred, &deferredOf, &budget, &activeScenes, &scenesOf, &cancel, &outbox,
		&lease, &record, &slots, &jobs, &marker, &permits, &purges, &scope)
	var op, stage, expected, scene, bookScene, bookStage, force, line, scopeID, order, place, mark, stands string
	unpack(args, &op, &stage, &expected, &scene, &bookScene, &bookStage, &force, &line, &scopeID, &order, &place, &mark, &stands)
	if err := corrupt(db, keys, "hash", "hash", "string", "zset", "hash", "set", "set", "string", "list",
		"string", "hash", "zset", "hash", "string", "zset", "zset", "hash"); err != nil {
		return nil, err
	}

	now := db.Now()
	stage += "."
	live, before, fence := get(db, state, stage+"dispatch"), get(db, state, stage+"state"), get(db, state, stage+"fence")
	current := intOr0(get(db, intent, "generation"))
	switch _, problem := intentOf(db, intent); {
	case scopeID != "" && (get(db, scope, "id") != scopeID || get(db, scope, "last") != order || get(db, scope, "scene:"+bookScene) != place):
		return []string{"stale", ""}, nil
	case scopeID != "" && get(db, intent, "scope") == mark:
		return []string{"started", num(current), before, before, "", num(intOr0(fence))}, nil
	case live != expected:
		return []string{"retry", live}, nil
	case op == "edit" && (problem != "" || db.Exists(cancel)):
		return []string{"kept", "", before, before, "", num(intOr0(fence))}, nil
	}
	last := get(db, state, stage+"generation")
	generation := num(max(current, intOr0(last)) + 1)
	after := stateAfter(op, before, stands == "1")
	stops := op == "cancel" || op == "delete"
	blocks := stage == "image." && stops && imageComes(db, state) && videoWaits(db, state)
	blocked := stage == "video." && !stops && after != "ready" && imageWillNotCome(db, state)
	if blocked {
		after = "failed"
	}
	alone := aloneInScene(db, state, stage+"state")

	if live != "" {
		endDispatch(db, held{state, lease, record, jobs, slots, marker, permits}, stage, live, "cancelled", now)
		purgeLater(db, purges, live, now)
	}
	db.Del(deferred, budget)
	db.ZRem(deferredOf, bookStage)
	db.HDel(state, stage+"idle", stage+"next", stage+"cancelled")
	switch op {
	case "cancel":
		db.HSet(state, stage+"cancelled", num(now))
	case "delete":
		db.HDel(state, stage+"state", stage+"version", stage+"mark", stage+"started", stage+"reason", stage+"floor")
		if alone {
			db.SRem(activeScenes, scene)
			db.SRem(scenesOf, bookScene)
		}
	default:
		db.Del(cancel)
		db.SAdd(activeScenes, scene)
		db.SAdd(scenesOf, bookScene)
	}
	if after != "" {
		db.HSet(state, stage+"state", after)
	}
	if blocked {
		db.HSet(state, stage+"reason", "blocked_by_image")
	}
	if blocks {
		blockVideo(db, state)
	}
	if op == "regenerate" || op == "reset" {
		db.HSet(state, stage+"floor", generation)
	}
	db.HSet(intent, "generation", generation, "status", statusAfter(op), "force", force, "at", num(now), "scope", mark)
	if live != "" {
		tell(db, outbox, ended(line, after, "", now, 0, last, ""))
	}
	return []string{"ok", generation, before, after, live, num(intOr0(fence))}, nil
}

// imageWillNotCome says whether the pictures that a video is made of were given up.
func imageWillNotCome(db *redis.DB, state string) bool {
	return get(db, state, "image.state") == "failed" || imageComes(db, state) && get(db, state, "image.cancelled") != ""
}

// statusAfter is what an intent is after an operation.
func statusAfter(op string) string {
	switch op {
	case "cancel":
		return "cancelled"
	case "delete":
		return "deleted"
	}
	return "active"
}

// stateAfter is what intent.lua makes of a state.
func stateAfter(op, before string, stands bool) string {
	switch {
	case op == "delete":
		return ""
	case op == "cancel" && before != "generating":
		return before
	case op != "cancel" && stands && (before == "" || before == "new"):
		return "ready"
	case op == "cancel" || before != "ready":
		return "pending"
	case op != "request":
		return "dirty"
	}
	return before
}

// aloneInScene says whether no other stage of a scene has a state.
func aloneInScene(db *redis.DB, state, name string) bool {
	all := db.HGetAll(state)
	for i := 0; i < len(all); i += 2 {
		if all[i] != name && strings.HasSuffix(all[i], ".state") {
			return false
		}
	}
	return true
}

// retireTwin is retire.lua.
func retireTwin(db *redis.DB, keys, args []string) (any, error) {
	if err := corrupt(db, keys, "hash", "set", "hash"); err != nil {
		return nil, err
	}
	for i, intent := range keys[2:] {
		status := get(db, keys[0], args[i+1]+".state")
		_, problem := intentOf(db, intent)
		if status != "ready" && status != "failed" && problem != "intent_missing" && problem != "intent_not_active" {
			return yes(false), nil
		}
	}
	db.SRem(keys[1], args[0])
	return yes(true), nil
}

// lockTwin is lock.lua.
func lockTwin(db *redis.DB, keys, args []string) (any, error) {
	if err := corrupt(db, keys, "string"); err != nil {
		return nil, err
	}
	token, fence := args[0], args[2]
	value, taken := db.Get(keys[0])
	parts := strings.Split(value, "|")
	number := ""
	if len(parts) > 1 {
		number = parts[1]
	}
	if taken && parts[0] != token || fence != "" && number != fence {
		return []string{"0", ""}, nil
	}
	if _, ok := readInt(number); !ok {
		number = num(db.Now())
	}
	db.SetPX(keys[0], token+"|"+number, intOr0(args[1]))
	return []string{"1", number}, nil
}

// unlockTwin is unlock.lua.
func unlockTwin(db *redis.DB, keys, args []string) (any, error) {
	if err := corrupt(db, keys, "string"); err != nil {
		return nil, err
	}
	if value, taken := db.Get(keys[0]); !taken || value != args[0]+"|"+args[1] {
		return yes(false), nil
	}
	db.Del(keys[0])
	return yes(true), nil
}

// undeferTwin is undefer.lua.
func undeferTwin(db *redis.DB, keys, args []string) (any, error) {
	if err := corrupt(db, keys, "zset", "string"); err != nil {
		return nil, err
	}
	deleted := db.Del(keys[1:]...)
	for _, member := range args {
		db.ZRem(keys[0], member)
	}
	return []string{num(int64(deleted))}, nil
}

// restoreTwin is restore.lua.
func restoreTwin(db *redis.DB, keys, args []string) (any, error) {
	state, intent, activeScenes, scenesOf, cancel := keys[0], keys[1], keys[2], keys[3], keys[4]
	stage, scene, bookScene, gone := args[0]+".", args[1], args[2], args[3]
	if err := corrupt(db, keys, "hash", "hash", "set", "set", "string"); err != nil {
		return nil, err
	}

	status, live := get(db, state, stage+"state"), get(db, state, stage+"dispatch") != ""
	generation, problem := intentOf(db, intent)
	dirty := !live && status == "ready" && gone != "" && get(db, state, stage+"fence") == gone && !db.Exists(cancel)
	if problem != "" || status == "failed" || status == "ready" && !dirty {
		return []string{"kept"}, nil
	}
	lost := !live && (status == "" || status == "generating")
	verdict := "restored"
	switch {
	case dirty:
		verdict = "dirty"
	case !lost:
		if db.SIsMember(activeScenes, scene) && db.SIsMember(scenesOf, bookScene) {
			return []string{"kept"}, nil
		}
		verdict = "indexed"
	}
	db.SAdd(activeScenes, scene)
	db.SAdd(scenesOf, bookScene)
	switch {
	case dirty:
		db.HSet(state, stage+"state", "dirty", stage+"reason", "artifact_missing")
	case lost:
		db.HSet(state, stage+"state", "pending", stage+"generation", num(generation))
	}
	if _, ok := readInt(get(db, state, stage+"fence")); !ok && !live {
		db.HSet(state, stage+"fence", num(db.Now()))
	}
	return []string{verdict}, nil
}
