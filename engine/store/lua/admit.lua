-- admit lets the holder of a live dispatch post a job, and leaves a receipt that says
-- whose post it is. A refusal writes nothing.
local cancel, intent, state, receipt, taskDone, jobs = unpack(KEYS)
local stage, dispatch, holder, generation, fence, job, payload, ttl = unpack(ARGV)

local wrong = corrupt('string', 'hash', 'hash', 'hash', 'hash', 'hash')
if wrong then return wrong end

local at = now()
if redis.call('EXISTS', cancel) == 1 then return {'intent_not_active', ''} end
local current, problem = readIntent(intent)
if problem then return {problem, ''} end
local live, owner = read(state, stage .. '.', 'dispatch', 'holder')
if current ~= int(generation) or live ~= dispatch or owner ~= holder then return {'stale_intent', ''} end
if redis.call('EXISTS', taskDone) == 1 then return {'already_completed', ''} end
local posted, posting = read(receipt, '', 'dispatch', 'payload')
if posted == dispatch and posting ~= payload then return {'receipt_conflict', ''} end
if posted ~= '' and posted ~= dispatch then return {'duplicate_pending', posted} end
-- The note of a release outlives the receipt, so a receipt never shortens it.
local life = text(math.max(redis.call('PTTL', receipt), int(ttl)))

put(receipt, '', 'generation', generation, 'fence', fence, 'dispatch', dispatch, 'payload', payload, 'at', text(at))
redis.call('PEXPIRE', receipt, life)
redis.call('HSET', jobs, job, 'posting')
redis.call('PEXPIRE', jobs, ttl)
return {'ok', ''}
