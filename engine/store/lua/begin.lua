-- begin creates a dispatch with all that it needs, or refuses and writes nothing.
-- Asked again for the dispatch that is live, it says ok again: the answer was lost.
-- The first write is a SET, so that it is refused whole when memory is short.
local state, intent, lease, record, jobs, slots, deferred, cancel, outbox, breaker, permits = unpack(KEYS)
local FIRST_JOB = 13
local stage, dispatch, holder, expected, version, mark, ttl, limit, line, coolDown, probes, permit = unpack(ARGV, 1, FIRST_JOB - 1)

local wrong = corrupt('hash', 'hash', 'string', 'hash', 'hash', 'zset', 'string', 'string', 'list', 'hash', 'zset')
if wrong then return wrong end

local at = now()
stage = stage .. '.'
local live, status, generation, fence, nextAt = read(state, stage, 'dispatch', 'state', 'generation', 'fence', 'next')
fence, nextAt = int(fence) or 0, int(nextAt) or 0
if live == dispatch then return {'ok', generation, text(fence), '', '0'} end

local current, problem = readIntent(intent)
local function refuse(verdict, reason, untilAt)
  return {verdict, text(current or 0), text(fence), reason or '', text(untilAt or 0)}
end
if redis.call('EXISTS', cancel) == 1 then return refuse('cancelled') end
if problem then return refuse(problem) end
if current ~= int(expected) then return refuse('stale_intent') end

local dispatchable = status == 'pending' or status == 'dirty' or status == 'placeholder'
if not dispatchable and not (status == 'generating' and live ~= '') then return refuse('not_dispatchable') end
if stage == 'video.' and imageComes(state) then return refuse('image_not_ready') end

-- A deferral holds for its own generation until its time; what cannot be read does not.
local reason, _, deferredFor, _, _, deferredUntil, more = unpack(split(redis.call('GET', deferred) or ''))
deferredUntil = int(deferredUntil)
if not more and deferredUntil and deferredUntil > at and int(deferredFor) == current then
  return refuse('deferred_capacity', reason, deferredUntil)
end
if nextAt > at then return refuse('backoff', '', nextAt) end
if live ~= '' then return refuse('duplicate') end
local openedAt, held = readCircuit(breaker)
if held or openedAt and at < openedAt + int(coolDown) then
  return refuse('circuit_open', '', held and 0 or openedAt + int(coolDown))
end
if openedAt and redis.call('ZCOUNT', permits, '(' .. text(at), '+inf') >= int(probes) then
  return refuse('half_open_limit')
end
if redis.call('ZCOUNT', slots, '(' .. text(at), '+inf') >= int(limit) then return refuse('backpressure') end

fence = fence + 1
redis.call('SET', lease, dispatch, 'PX', ttl)
redis.call('ZADD', slots, text(at + int(ttl)), dispatch)
redis.call('ZREMRANGEBYSCORE', slots, '-inf', text(at))
if openedAt then
  redis.call('ZADD', permits, text(at + int(permit)), dispatch)
  redis.call('ZREMRANGEBYSCORE', permits, '-inf', text(at))
  redis.call('PEXPIRE', permits, permit) -- the newest permit is the last to lapse
end
redis.call('DEL', deferred)
put(record, '', 'dispatch_id', dispatch, 'generation', expected, 'fence', text(fence), 'version', version,
  'mark', mark, 'holder', holder, 'started_at', text(at))
redis.call('PEXPIRE', record, ttl)
for i = FIRST_JOB, #ARGV do redis.call('HSET', jobs, ARGV[i], 'outstanding') end
redis.call('PEXPIRE', jobs, ttl)
put(state, stage, 'state', 'generating', 'dispatch', dispatch, 'generation', expected, 'fence', text(fence),
  'version', version, 'mark', mark, 'holder', holder, 'renewed', text(at), 'started', text(at))
drop(state, stage, 'claim', 'claim_until')
tell(outbox, line)
return {'ok', expected, text(fence), openedAt and 'half_open' or '', '0'}
