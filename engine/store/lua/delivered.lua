-- delivered takes a line that the host has heard from the queue of its scene. The scene stays
-- on loan while something is left there. If another line is the head, another has told this
-- one, and the loan is his: nothing is written.
local queue, undelivered = unpack(KEYS)
local line, member, loan = unpack(ARGV)

local wrong = corrupt('list', 'zset')
if wrong then return wrong end

local at = now()
local head = redis.call('LINDEX', queue, '0')
if head and head ~= line then return {'moved'} end

redis.call('LPOP', queue)
if redis.call('LLEN', queue) == 0 then
  redis.call('ZREM', undelivered, member)
  return {'last'}
end
redis.call('ZADD', undelivered, text(at + int(loan)), member)
return {'ok'}
