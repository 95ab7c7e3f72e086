package wire

import (
	"strings"

	"github.com/animastor/orchestra/fakes/redis"
)

// beginTwin is begin.lua.
func beginTwin(db *redis.DB, keys, args []string) (any, error) {
	const firstJob = 12
	b := beginOf(keys, args)
	if err := corrupt(db, keys, "hash", "hash", "string", "hash", "hash", "zset", "string", "string", "list", "hash", "zset"); err != nil {
		return nil, err
	}

	now := db.Now()
	ttl, permit := intOr0(b.ttlMs), intOr0(b.permitMs)
	fence := intOr0(get(db, b.state, b.stage+"fence"))
	if get(db, b.state, b.stage+"dispatch") == b.dispatch {
		return []string{"ok", get(db, b.state, b.stage+"generation"), num(fence), "", "0"}, nil
	}
	if refusal := b.refuse(db, now, fence); refusal != nil {
		return refusal, nil
	}

	fence++
	at, fenced := num(now), num(fence)
	db.SetPX(b.lease, b.dispatch, ttl)
	db.ZAdd(b.slots, float64(now+ttl), b.dispatch)
	db.ZRemUpTo(b.slots, float64(now))
	probe := ""
	if openedAt, _ := circuitOf(db, b.breaker); openedAt > 0 {
		probe = "half_open"
		db.ZAdd(b.permits, float64(now+permit), b.dispatch)
		db.ZRemUpTo(b.permits, float64(now))
		db.PExpire(b.permits, permit)
	}
	db.Del(b.deferred)
	db.HSet(b.record, "dispatch_id", b.dispatch, "generation", b.expected, "fence", fenced, "version", b.version,
		"mark", b.mark, "holder", b.holder, "started_at", at)
	db.PExpire(b.record, ttl)
	for _, job := range args[firstJob:] {
		db.HSet(b.jobs, job, "outstanding")
	}
	db.PExpire(b.jobs, ttl)
	db.HSet(b.state, b.stage+"state", "generating", b.stage+"dispatch", b.dispatch, b.stage+"generation", b.expected, b.stage+"fence", fenced,
		b.stage+"version", b.version, b.stage+"mark", b.mark, b.stage+"holder", b.holder, b.stage+"renewed", at, b.stage+"started", at)
	db.HDel(b.state, b.stage+"claim", b.stage+"claim_until")
	tell(db, b.outbox, b.line)
	return []string{"ok", b.expected, fenced, probe, "0"}, nil
}

// begin is the keys and arguments of begin.lua, but for the jobs.
type begin struct {
	state, intent, lease, record, jobs, slots, deferred, cancel, outbox, breaker, permits            string
	stage, dispatch, holder, expected, version, mark, ttlMs, limit, line, coolDown, probes, permitMs string
}

func beginOf(keys, args []string) *begin {
	b := &begin{}
	unpack(keys, &b.state, &b.intent, &b.lease, &b.record, &b.jobs, &b.slots, &b.deferred, &b.cancel, &b.outbox, &b.breaker, &b.permits)
	unpack(args, &b.stage, &b.dispatch, &b.holder, &b.expected, &b.version, &b.mark, &b.ttlMs, &b.limit, &b.line, &b.coolDown, &b.probes, &b.permitMs)
	b.stage += "."
	return b
}

// refuse is the middle of begin.lua: nil if nothing speaks against the dispatch.
func (b *begin) refuse(db *redis.DB, now, fence int64) []string {
	current, problem := intentOf(db, b.intent)
	refuse := func(verdict, reason string, until int64) []string {
		return []string{verdict, num(current), num(fence), reason, num(until)}
	}
	if db.Exists(b.cancel) {
		return refuse("cancelled", "", 0)
	}
	if problem != "" {
		return refuse(problem, "", 0)
	}
	if current != intOr0(b.expected) {
		return refuse("stale_intent", "", 0)
	}
	status, live := get(db, b.state, b.stage+"state"), get(db, b.state, b.stage+"dispatch")
	dispatchable := status == "pending" || status == "dirty" || status == "placeholder"
	if !dispatchable && (status != "generating" || live == "") {
		return refuse("not_dispatchable", "", 0)
	}
	if b.stage == "video." && imageComes(db, b.state) {
		return refuse("image_not_ready", "", 0)
	}
	if deferral, ok := db.Get(b.deferred); ok {
		parts := strings.Split(deferral, "|")
		if len(parts) == 6 && intOr0(parts[5]) > now && intOr0(parts[2]) == current {
			return refuse("deferred_capacity", parts[0], intOr0(parts[5]))
		}
	}
	if next := intOr0(get(db, b.state, b.stage+"next")); next > now {
		return refuse("backoff", "", next)
	}
	if live != "" {
		return refuse("duplicate", "", 0)
	}
	openedAt, held := circuitOf(db, b.breaker)
	switch until := openedAt + intOr0(b.coolDown); {
	case held:
		return refuse("circuit_open", "", 0)
	case openedAt > 0 && now < until:
		return refuse("circuit_open", "", until)
	case openedAt > 0 && int64(db.ZCountAbove(b.permits, float64(now))) >= intOr0(b.probes):
		return refuse("half_open_limit", "", 0)
	}
	if int64(db.ZCountAbove(b.slots, float64(now))) >= intOr0(b.limit) {
		return refuse("backpressure", "", 0)
	}
	return nil
}

// renewTwin is renew.lua.
func renewTwin(db *redis.DB, keys, args []string) (any, error) {
	state, lease, record, jobs, slots := keys[0], keys[1], keys[2], keys[3], keys[4]
	stage, dispatch, holder, ttl := args[0]+".", args[1], args[2], intOr0(args[3])
	if err := corrupt(db, keys, "hash", "string", "hash", "hash", "zset"); err != nil {
		return nil, err
	}

	now := db.Now()
	if get(db, state, stage+"dispatch") != dispatch {
		return []string{"finished"}, nil
	}
	if get(db, state, stage+"holder") != holder {
		return []string{"not_owner"}, nil
	}

	db.SetPX(lease, dispatch, ttl)
	db.ZAdd(slots, float64(now+ttl), dispatch)
	db.HSet(record, "dispatch_id", dispatch, "generation", get(db, state, stage+"generation"), "fence", get(db, state, stage+"fence"),
		"version", get(db, state, stage+"version"), "mark", get(db, state, stage+"mark"), "holder", holder,
		"started_at", get(db, state, stage+"started"))
	db.PExpire(record, ttl)
	for _, job := range args[4:] {
		if _, there := db.HGet(jobs, job); !there {
			db.HSet(jobs, job, "unknown")
		}
	}
	db.PExpire(jobs, ttl)
	db.HSet(state, stage+"renewed", num(now))
	return []string{"ok"}, nil
}

// adoptTwin is adopt.lua.
func adoptTwin(db *redis.DB, keys, args []string) (any, error) {
	state, record := keys[0], keys[1]
	stage, dispatch, holder, stale := args[0]+".", args[1], args[2], intOr0(args[3])
	if err := corrupt(db, keys, "hash", "hash"); err != nil {
		return nil, err
	}

	now := db.Now()
	if get(db, state, stage+"dispatch") != dispatch {
		return []string{"finished"}, nil
	}
	if get(db, state, stage+"holder") != holder && intOr0(get(db, state, stage+"renewed")) > now-stale {
		return []string{"fresh"}, nil
	}

	db.HSet(state, stage+"holder", holder, stage+"renewed", num(now))
	if db.Exists(record) {
		db.HSet(record, "holder", holder)
	}
	return []string{
		"ok", get(db, state, stage+"generation"), get(db, state, stage+"fence"), get(db, state, stage+"version"),
		get(db, state, stage+"mark"), get(db, state, stage+"started"),
	}, nil
}

// claimTwin is claim.lua.
func claimTwin(db *redis.DB, keys, args []string) (any, error) {
	state := keys[0]
	stage, dispatch, claimant, ttl := args[0]+".", args[1], args[2], intOr0(args[3])
	if err := corrupt(db, keys, "hash"); err != nil {
		return nil, err
	}

	now := db.Now()
	if get(db, state, stage+"dispatch") != dispatch {
		return []string{"finished"}, nil
	}
	claim := get(db, state, stage+"claim")
	if claim != "" && claim != claimant && intOr0(get(db, state, stage+"claim_until")) > now {
		return []string{"in_progress"}, nil
	}

	db.HSet(state, stage+"claim", claimant, stage+"claim_until", num(now+ttl))
	return []string{"ok"}, nil
}
