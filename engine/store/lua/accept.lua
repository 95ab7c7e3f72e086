-- accept takes the result of one job, once, for the live dispatch that posted it.
local state, jobs, taskDone = unpack(KEYS)
local stage, dispatch, fence, generation, job, kind, result, ttl = unpack(ARGV)

local wrong = corrupt('hash', 'hash', 'hash')
if wrong then return wrong end

local at = now()
local live, liveFence, liveGeneration = read(state, stage .. '.', 'dispatch', 'fence', 'generation')
local stored = redis.call('HGET', jobs, job)
if live ~= dispatch or liveFence ~= fence or liveGeneration ~= generation or not stored then
  return {'stale', '0', '0'}
end

local left, failed = 0, 0
for _, other in ipairs(redis.call('HVALS', jobs)) do
  if unfinished(other) then left = left + 1
  elseif split(other)[1] == 'failed' then failed = failed + 1 end
end
if not unfinished(stored) then return {'duplicate', text(left), text(failed)} end
left = left - 1
if kind == 'failed' then failed = failed + 1 end

redis.call('HSET', jobs, job, kind .. '|' .. result)
if kind == 'done' then
  put(taskDone, '', 'generation', generation, 'fence', fence, 'dispatch', dispatch, 'at', text(at))
  redis.call('PEXPIRE', taskDone, ttl)
end
return {left == 0 and 'last' or 'accepted', text(left), text(failed)}
