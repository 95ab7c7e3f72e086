-- delivered takes a line that the host has heard from the queue of its scene, if it is still
-- the head. The scene stays on loan while something is left in its queue.
local queue, undelivered = unpack(KEYS)
local line, member, loan = unpack(ARGV)

local wrong = corrupt('list', 'zset')
if wrong then return wrong end

local at = now()
local left = redis.call('LLEN', queue)
if left > 0 and redis.call('LINDEX', queue, '0') == line then
  redis.call('LPOP', queue)
  left = left - 1
end
if left > 0 then
  redis.call('ZADD', undelivered, text(at + int(loan)), member)
else
  redis.call('ZREM', undelivered, member)
end
return {text(left)}
