package wire

import "github.com/animastor/orchestra/fakes/redis"

// admitTwin is admit.lua.
func admitTwin(db *redis.DB, keys, args []string) (any, error) {
	cancel, intent, state, receipt, taskDone, jobs := keys[0], keys[1], keys[2], keys[3], keys[4], keys[5]
	stage, dispatch, holder, generation, fence := args[0]+".", args[1], args[2], args[3], args[4]
	job, payload, ttl := args[5], args[6], intOr0(args[7])
	if err := corrupt(db, keys, "string", "hash", "hash", "hash", "hash", "hash"); err != nil {
		return nil, err
	}

	now := db.Now()
	if db.Exists(cancel) {
		return []string{"intent_not_active", ""}, nil
	}
	current, problem := intentOf(db, intent)
	if problem != "" {
		return []string{problem, ""}, nil
	}
	if current != intOr0(generation) || get(db, state, stage+"dispatch") != dispatch || get(db, state, stage+"holder") != holder {
		return []string{"stale_intent", ""}, nil
	}
	if db.Exists(taskDone) {
		return []string{"already_completed", ""}, nil
	}
	posted := get(db, receipt, "dispatch")
	if posted == dispatch && get(db, receipt, "payload") != payload {
		return []string{"receipt_conflict", ""}, nil
	}
	if posted != "" && posted != dispatch {
		return []string{"duplicate_pending", posted}, nil
	}
	life := max(db.PTTL(receipt), ttl)

	db.HSet(receipt, "generation", generation, "fence", fence, "dispatch", dispatch, "payload", payload, "at", num(now))
	db.PExpire(receipt, life)
	db.HSet(jobs, job, "posting")
	db.PExpire(jobs, ttl)
	return []string{"ok", ""}, nil
}

// markTwin is mark.lua.
func markTwin(db *redis.DB, keys, args []string) (any, error) {
	state, jobs := keys[0], keys[1]
	stage, dispatch, job, mark, ttl := args[0]+".", args[1], args[2], args[3], intOr0(args[4])
	if err := corrupt(db, keys, "hash", "hash"); err != nil {
		return nil, err
	}

	stored := get(db, jobs, job)
	if get(db, state, stage+"dispatch") != dispatch {
		return []string{"finished", jobState(stored)}, nil
	}
	if !unfinished(stored) {
		return []string{"ok", jobState(stored)}, nil
	}

	db.HSet(jobs, job, mark)
	db.PExpire(jobs, ttl)
	return []string{"ok", mark}, nil
}

// forgetTwin is forget.lua.
func forgetTwin(db *redis.DB, keys, args []string) (any, error) {
	if err := corrupt(db, keys, "hash"); err != nil {
		return nil, err
	}
	if get(db, keys[0], "dispatch") != args[0] {
		return yes(false), nil
	}
	dropReceipt(db, keys[0])
	return yes(true), nil
}

// releaseTwin is release.lua.
func releaseTwin(db *redis.DB, keys, args []string) (any, error) {
	taskDone, state, receipt := keys[0], keys[1], keys[2]
	stage, dispatch, ttl := args[0]+".", args[1], intOr0(args[2])
	if err := corrupt(db, keys, "hash", "hash", "hash"); err != nil {
		return nil, err
	}

	if get(db, state, stage+"dispatch") != dispatch {
		return []string{"kept"}, nil
	}
	if !db.Exists(taskDone) {
		return []string{"released"}, nil
	}
	if get(db, receipt, "released") != "" {
		return []string{"kept"}, nil
	}

	db.Del(taskDone, receipt)
	db.HSet(receipt, "released", "1")
	db.PExpire(receipt, ttl)
	return []string{"released"}, nil
}

// acceptTwin is accept.lua.
func acceptTwin(db *redis.DB, keys, args []string) (any, error) {
	state, jobs, taskDone := keys[0], keys[1], keys[2]
	stage, dispatch, fence, generation, job := args[0]+".", args[1], args[2], args[3], args[4]
	kind, result, ttl := args[5], args[6], intOr0(args[7])
	if err := corrupt(db, keys, "hash", "hash", "hash"); err != nil {
		return nil, err
	}

	now := db.Now()
	stored, there := db.HGet(jobs, job)
	if get(db, state, stage+"dispatch") != dispatch || get(db, state, stage+"fence") != fence ||
		get(db, state, stage+"generation") != generation || !there {
		return []string{"stale", "0", "0"}, nil
	}
	left, failed := int64(0), int64(0)
	all := db.HGetAll(jobs)
	for i := 1; i < len(all); i += 2 {
		if unfinished(all[i]) {
			left++
		} else if jobState(all[i]) == "failed" {
			failed++
		}
	}
	if !unfinished(stored) {
		return []string{"duplicate", num(left), num(failed)}, nil
	}
	left--
	if kind == "failed" {
		failed++
	}

	db.HSet(jobs, job, kind+"|"+result)
	if kind == "done" {
		db.HSet(taskDone, "generation", generation, "fence", fence, "dispatch", dispatch, "at", num(now))
		db.PExpire(taskDone, ttl)
	}
	verdict := "accepted"
	if left == 0 {
		verdict = "last"
	}
	return []string{verdict, num(left), num(failed)}, nil
}
