package wire

import "github.com/animastor/orchestra/fakes/redis"

// finishTwin is finish.lua.
func finishTwin(db *redis.DB, keys, args []string) (any, error) {
	const firstReceipt = 14
	var state, lease, record, jobs, slots, marker, deferred, deferredOf, budget, outbox, breaker, failures, permits, purges string
	unpack(keys, &state, &lease, &record, &jobs, &slots, &marker, &deferred, &deferredOf, &budget, &outbox, &breaker, &failures, &permits, &purges)
	var stage, dispatch, caller, outcome, nextState, reason, bucket, windowMs, idleOp, budgetOp,
		limit, refill, member, line, breakerOp, trip, failureWindow, coolDown, purge string
	unpack(args, &stage, &dispatch, &caller, &outcome, &nextState, &reason, &bucket, &windowMs, &idleOp, &budgetOp,
		&limit, &refill, &member, &line, &breakerOp, &trip, &failureWindow, &coolDown, &purge)
	if err := corrupt(db, keys, "hash", "string", "hash", "hash", "zset", "string", "string", "zset", "hash", "list", "hash", "zset", "zset", "zset", "hash"); err != nil {
		return nil, err
	}

	now := db.Now()
	stage += "."
	window := intOr0(windowMs)
	status, why := get(db, state, stage+"state"), get(db, state, stage+"reason")
	idle, next := intOr0(get(db, state, stage+"idle")), intOr0(get(db, state, stage+"next"))
	tokens, since, full := refilled(db, budget, intOr0(limit), intOr0(refill), now)
	c := &circuit{breaker: breaker, failures: failures, permits: permits, now: now,
		trip: intOr0(trip), window: intOr0(failureWindow), coolDown: intOr0(coolDown)}
	c.read(db, dispatch)
	reply := func(verdict string) ([]string, error) {
		left := num(tokens)
		if full {
			left = "-1"
		}
		return []string{verdict, status, why, num(idle), left, num(next), c.String()}, nil
	}
	if get(db, state, stage+"dispatch") != dispatch {
		return reply("finished")
	}
	claimed := get(db, state, stage+"claim") == caller && intOr0(get(db, state, stage+"claim_until")) > now
	if get(db, state, stage+"holder") != caller && !claimed {
		return reply("not_owner")
	}

	generation := get(db, state, stage+"generation")
	status, why = nextState, reason
	switch budgetOp {
	case "charge":
		tokens, full = max(0, tokens-1), false
		if tokens == 0 {
			status, why = "failed", "retry_budget_exhausted"
		}
	case "reset":
		full = true
	}
	switch idleOp {
	case "reset":
		idle, next = 0, 0
	case "inc":
		idle, next = idle+1, 0
		if window == 0 && idle >= 3 {
			next = now + backoffMs(idle)
		}
	}

	also, until := alsoAfter(db, state, stage, status), heldUntil(now, window, next)
	endDispatch(db, held{state, lease, record, jobs, slots, marker, permits}, stage, dispatch, outcome, now)
	dropReceipts(db, keys[firstReceipt:], dispatch)
	spend(db, budgetOp, budget, tokens, since, keys[firstReceipt:])
	c.settle(db, breakerOp, dispatch)
	switch {
	case window > 0:
		db.SetPX(deferred, why+"|"+bucket+"|"+generation+"|"+dispatch+"|"+num(now)+"|"+num(until), window)
		db.ZAdd(deferredOf, float64(until), member)
		db.ZRemUpTo(deferredOf, float64(now))
	case status == "ready":
		db.Del(deferred)
		db.ZRem(deferredOf, member)
	}
	if purge == "1" {
		purgeLater(db, purges, dispatch, now)
	}
	db.HSet(state, stage+"state", status, stage+"reason", why, stage+"idle", num(idle), stage+"next", num(next))
	tellVideo(db, state, stage, status)
	tell(db, outbox, ended(line, status, why, now, until, generation, also))
	return reply("ok")
}

// spend writes the budget as it is after an end; a charge pays for the results of the
// receipts, too.
func spend(db *redis.DB, op, budget string, tokens, since int64, receipts []string) {
	switch op {
	case "reset":
		db.Del(budget)
	case "charge":
		for _, receipt := range receipts {
			db.HDel(receipt, "released")
		}
		db.HSet(budget, "tokens", num(tokens), "at", num(since))
		db.PExpire(budget, dayMs)
	}
}

// heldUntil is until when a stage waits for its window or its backoff; 0: it does not.
func heldUntil(now, window, next int64) int64 {
	switch {
	case window > 0:
		return now + window
	case next > now:
		return next
	}
	return 0
}

// alsoAfter is what the host is told beside the end of a stage itself.
func alsoAfter(db *redis.DB, state, stage, status string) string {
	switch {
	case stage == "image." && status == "failed" && videoWaits(db, state):
		return "video_blocked"
	case status == "ready" && sceneReady(db, state, stage):
		return "scene_ready"
	}
	return ""
}

// tellVideo does what the end of a stage means for the video of its scene, if it is the
// image stage.
func tellVideo(db *redis.DB, state, stage, status string) {
	switch {
	case stage != "image.":
	case status == "failed" && videoWaits(db, state):
		blockVideo(db, state)
	case status == "ready" && videoBlocked(db, state):
		db.HSet(state, "video.state", "pending", "video.reason", "")
	}
}

// videoBlocked says whether the video stage of a scene failed for want of pictures.
func videoBlocked(db *redis.DB, state string) bool {
	return get(db, state, "video.state") == "failed" && get(db, state, "video.reason") == "blocked_by_image" && get(db, state, "video.cancelled") == ""
}

// dropReceipts removes those of the receipts that are the dispatch's own.
func dropReceipts(db *redis.DB, receipts []string, dispatch string) {
	for _, receipt := range receipts {
		if get(db, receipt, "dispatch") == dispatch {
			dropReceipt(db, receipt)
		}
	}
}

// refilled is the budget as finish.lua finds it.
func refilled(db *redis.DB, budget string, limit, refill, now int64) (tokens, since int64, full bool) {
	tokens, known := readInt(get(db, budget, "tokens"))
	since, dated := readInt(get(db, budget, "at"))
	if !known || !dated {
		return limit, now, true
	}
	refills := max(0, (now-since)/refill)
	tokens, since = tokens+refills, since+refills*refill
	if tokens >= limit {
		return limit, now, true
	}
	return tokens, since, false
}

// circuit is the breaker as finish.lua finds it, with its limits.
type circuit struct {
	breaker, failures, permits            string
	now, openedAt, trip, window, coolDown int64
	held, probing                         bool
	failed                                int64
}

// read finds it, for the end of a dispatch.
func (c *circuit) read(db *redis.DB, dispatch string) {
	c.openedAt, c.held = circuitOf(db, c.breaker)
	deadline, has := db.ZScore(c.permits, dispatch)
	c.probing = has && deadline > float64(c.now)
	c.failed = int64(db.ZCountAbove(c.failures, float64(c.now-c.window)))
}

// String is finish.lua's circuit().
func (c *circuit) String() string {
	switch {
	case c.held || c.openedAt > 0 && c.now < c.openedAt+c.coolDown:
		return "open"
	case c.openedAt > 0:
		return "half_open"
	}
	return "closed"
}

// settle tells the breaker how an execution went.
func (c *circuit) settle(db *redis.DB, op, dispatch string) {
	closed := c.openedAt == 0
	switch {
	case op == "success" && c.probing:
		db.Del(c.failures)
		db.HDel(c.breaker, "opened_at")
		db.Del(c.permits)
		c.openedAt = 0
	case op == "success" && closed:
		db.Del(c.failures)
	case op == "failure" && (c.probing || closed && c.failed+1 >= c.trip):
		c.openedAt = c.now
		db.Del(c.failures, c.permits)
		db.HSet(c.breaker, "opened_at", num(c.now))
	case op == "failure" && closed:
		db.ZAdd(c.failures, float64(c.now), dispatch)
		db.ZRemUpTo(c.failures, float64(c.now-c.window))
		db.PExpire(c.failures, c.window)
	}
}
