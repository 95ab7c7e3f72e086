-- finish ends a live dispatch once, for its holder or claimant, with everything that
-- follows from its outcome: state, zero-progress count, deferral, budget, breaker, outbox.
-- The first writes only remove, so that it runs whole when memory is short.
local FIRST_RECEIPT = 15
local state, lease, record, jobs, slots, marker, deferred, deferredOf, budget, outbox,
  breaker, failures, permits, purges = unpack(KEYS, 1, FIRST_RECEIPT - 1)
local stage, dispatch, caller, outcome, nextState, reason, bucket, window, idleOp,
  budgetOp, limit, refill, member, line, breakerOp, trip, failureWindow, coolDown, purge = unpack(ARGV)

local wrong = corrupt('hash', 'string', 'hash', 'hash', 'zset', 'string', 'string', 'zset', 'hash', 'list',
  'hash', 'zset', 'zset', 'zset', 'hash')
if wrong then return wrong end

local at = now()
stage, window, limit, refill = stage .. '.', int(window), int(limit), int(refill)
local live, owner, claim, claimUntil, generation, status, why, idle, nextAt =
  read(state, stage, 'dispatch', 'holder', 'claim', 'claim_until', 'generation', 'state', 'reason', 'idle', 'next')
idle, nextAt = int(idle) or 0, int(nextAt) or 0

-- The budget refills by one token per refill time; a full one waits for its next charge.
local tokens, since = read(budget, '', 'tokens', 'at')
tokens, since = int(tokens), int(since)
local full = not tokens or not since
if not full then
  local refills = math.max(0, math.floor((at - since) / refill))
  tokens, since = tokens + refills, since + refills * refill
  full = tokens >= limit
end
if full then tokens, since = limit, at end

-- Only a dispatch that was let through as a probe decides an open circuit; in a
-- closed one the failures of a real window of time count.
local openedAt, held = readCircuit(breaker)
local probing = false
for _, probe in ipairs(redis.call('ZRANGEBYSCORE', permits, '(' .. text(at), '+inf')) do
  probing = probing or probe == dispatch
end
local failed = redis.call('ZCOUNT', failures, '(' .. text(at - int(failureWindow)), '+inf')
local function circuit()
  if held or openedAt and at < openedAt + int(coolDown) then return 'open' end
  return openedAt and 'half_open' or 'closed'
end

local function reply(verdict)
  return {verdict, status, why, text(idle), full and '-1' or text(tokens), text(nextAt), circuit()}
end
if live ~= dispatch then return reply('finished') end
if caller ~= owner and (caller ~= claim or (int(claimUntil) or 0) <= at) then return reply('not_owner') end

status, why = nextState, reason
if budgetOp == 'charge' then
  tokens, full = math.max(0, tokens - 1), false
  if tokens == 0 then status, why = 'failed', 'retry_budget_exhausted' end
elseif budgetOp == 'reset' then
  full = true
end
if idleOp == 'reset' then idle, nextAt = 0, 0 end
if idleOp == 'inc' then
  idle, nextAt = idle + 1, 0
  if window == 0 and idle >= 3 then nextAt = at + math.min(60000, 10000 * 2 ^ (idle - 3)) end
end
-- Without its pictures the video of the scene cannot be made; with them it can again.
local blocks = stage == 'image.' and status == 'failed' and videoWaits(state)
local video, blocked, cancelled = read(state, 'video.', 'state', 'reason', 'cancelled')
local frees = stage == 'image.' and status == 'ready' and video == 'failed' and blocked == 'blocked_by_image' and cancelled == ''
-- What the host is told beside the end itself: that the scene is ready, or what became of
-- the video.
local also = blocks and 'video_blocked' or status == 'ready' and sceneReady(state, stage) and 'scene_ready' or ''
local untilAt = window > 0 and at + window or nextAt > at and nextAt or 0
local receipts = {}
for i = FIRST_RECEIPT, #KEYS do
  if read(KEYS[i], '', 'dispatch') == dispatch then receipts[#receipts + 1] = KEYS[i] end
end

endDispatch({state = state, lease = lease, record = record, jobs = jobs, slots = slots, marker = marker, permits = permits},
  stage, dispatch, outcome, at)
for _, receipt in ipairs(receipts) do
  drop(receipt, '', 'generation', 'fence', 'dispatch', 'payload', 'at')
end
if budgetOp == 'reset' then redis.call('DEL', budget) end
if breakerOp == 'success' and (probing or not openedAt) then redis.call('DEL', failures) end
if breakerOp == 'success' and probing then
  openedAt = nil
  drop(breaker, '', 'opened_at')
  redis.call('DEL', permits)
end
if breakerOp == 'failure' and (probing or not openedAt and failed + 1 >= int(trip)) then
  openedAt = at
  redis.call('DEL', failures, permits)
  put(breaker, '', 'opened_at', text(at))
elseif breakerOp == 'failure' and not openedAt then
  redis.call('ZADD', failures, text(at), dispatch)
  redis.call('ZREMRANGEBYSCORE', failures, '-inf', text(at - int(failureWindow)))
  redis.call('PEXPIRE', failures, failureWindow)
end
if budgetOp == 'charge' then
  for i = FIRST_RECEIPT, #KEYS do drop(KEYS[i], '', 'released') end -- the charge pays for one more release
  put(budget, '', 'tokens', text(tokens), 'at', text(since))
  redis.call('PEXPIRE', budget, '86400000')
end
if window > 0 then
  redis.call('SET', deferred, table.concat({why, bucket, generation, dispatch, text(at), text(untilAt)}, '|'), 'PX', text(window))
  redis.call('ZADD', deferredOf, text(untilAt), member)
  redis.call('ZREMRANGEBYSCORE', deferredOf, '-inf', text(at))
elseif status == 'ready' then
  redis.call('DEL', deferred)
  redis.call('ZREM', deferredOf, member)
end
if purge == '1' then purgeLater(purges, dispatch, at) end
put(state, stage, 'state', status, 'reason', why, 'idle', text(idle), 'next', text(nextAt))
if blocks then blockVideo(state) end
if frees then put(state, 'video.', 'state', 'pending', 'reason', '') end
tell(outbox, ended(line, status, why, at, untilAt, generation, also))
return reply('ok')
