package redis_test

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/animastor/orchestra/fakes/redis"
)

// A script of the size and shape of the engine's begin: it reads 9 keys, decides,
// and then writes.
const beginSource = `
local now = redis.call('TIME')
local ms = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
local stage, dispatch, holder = ARGV[1], ARGV[2], ARGV[3]
local lease, limit, line = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local function refuse(why) return {why, '0', '0', '', '0'} end

if redis.call('EXISTS', KEYS[8]) == 1 then return refuse('cancelled') end
local generation = redis.call('HGET', KEYS[2], 'generation')
local status = redis.call('HGET', KEYS[2], 'status')
if not generation then return refuse('intent_missing') end
if status ~= 'active' then return refuse('intent_not_active') end
if generation ~= ARGV[4] then return refuse('stale_intent') end
local live = redis.call('HGET', KEYS[1], stage .. '.dispatch')
local fence = redis.call('HGET', KEYS[1], stage .. '.fence')
local nxt = redis.call('HGET', KEYS[1], stage .. '.next')
if live and live ~= '' and live ~= dispatch then return refuse('duplicate') end
if redis.call('GET', KEYS[7]) then return refuse('deferred') end
if nxt and tonumber(nxt) > ms then return refuse('backoff') end
if redis.call('ZCOUNT', KEYS[6], '(' .. string.format('%.0f', ms), '+inf') >= limit then
  if not redis.call('ZSCORE', KEYS[6], dispatch) then return refuse('backpressure') end
end

fence = string.format('%d', tonumber(fence or '0') + 1)
redis.call('SET', KEYS[3], dispatch, 'PX', lease)
redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', string.format('%.0f', ms))
redis.call('ZADD', KEYS[6], string.format('%.0f', ms + lease), dispatch)
redis.call('HSET', KEYS[4], 'dispatch_id', dispatch, 'generation', generation, 'fence', fence, 'holder', holder, 'started_at', string.format('%.0f', ms))
redis.call('PEXPIRE', KEYS[4], lease)
for i = 8, #ARGV do redis.call('HSET', KEYS[5], ARGV[i], 'outstanding') end
redis.call('PEXPIRE', KEYS[5], lease)
redis.call('HSET', KEYS[1], stage .. '.state', 'generating', stage .. '.dispatch', dispatch, stage .. '.fence', fence, stage .. '.generation', generation)
redis.call('RPUSH', KEYS[9], line)
redis.call('LTRIM', KEYS[9], -100, -1)
return {'ok', generation, fence, '', '0'}
`

var (
	beginSHA     = shaOf(beginSource)
	beginKeys    = []string{"asset-state", "intent", "lease", "record", "jobs", "slots", "deferred", "cancel", "outbox"}
	beginArgs    = []any{"image", "d1", "e1", "7", "1200000", "4", "started|d1|b1|c1|s1|image", "job1", "job2"}
	beginScripts = []redis.Script{{Name: "begin", SHA: beginSHA, Source: beginSource, Twin: begin}}
)

func begin(db *redis.DB, keys, args []string) (any, error) {
	asset, intent, lease, record, jobs, slots, deferred, cancel, outbox := keys[0], keys[1], keys[2], keys[3], keys[4], keys[5], keys[6], keys[7], keys[8]
	stage, dispatch, holder := args[0], args[1], args[2]
	leaseMs, _ := strconv.ParseInt(args[4], 10, 64)
	limit, _ := strconv.Atoi(args[5])
	now := db.Now()
	refuse := func(why string) (any, error) { return []string{why, "0", "0", "", "0"}, nil }

	if db.Exists(cancel) {
		return refuse("cancelled")
	}
	generation, known := db.HGet(intent, "generation")
	status, _ := db.HGet(intent, "status")
	switch {
	case !known:
		return refuse("intent_missing")
	case status != "active":
		return refuse("intent_not_active")
	case generation != args[3]:
		return refuse("stale_intent")
	}
	live, _ := db.HGet(asset, stage+".dispatch")
	fence, _ := db.HGet(asset, stage+".fence")
	next, _ := db.HGet(asset, stage+".next")
	if live != "" && live != dispatch {
		return refuse("duplicate")
	}
	if _, ok := db.Get(deferred); ok {
		return refuse("deferred")
	}
	if ms, err := strconv.ParseInt(next, 10, 64); err == nil && ms > now {
		return refuse("backoff")
	}
	if db.ZCountAbove(slots, float64(now)) >= limit {
		if _, ok := db.ZScore(slots, dispatch); !ok {
			return refuse("backpressure")
		}
	}

	n, _ := strconv.Atoi(fence)
	fence = strconv.Itoa(n + 1)
	db.SetPX(lease, dispatch, leaseMs)
	db.ZRemUpTo(slots, float64(now))
	db.ZAdd(slots, float64(now+leaseMs), dispatch)
	db.HSet(record, "dispatch_id", dispatch, "generation", generation, "fence", fence, "holder", holder, "started_at", fmt.Sprint(now))
	db.PExpire(record, leaseMs)
	for _, job := range args[7:] {
		db.HSet(jobs, job, "outstanding")
	}
	db.PExpire(jobs, leaseMs)
	db.HSet(asset, stage+".state", "generating", stage+".dispatch", dispatch, stage+".fence", fence, stage+".generation", generation)
	db.RPush(outbox, args[6])
	db.LTrimLast(outbox, 100)
	return []string{"ok", generation, fence, "", "0"}, nil
}

func shaOf(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}
