-- drain moves lines from the head of the outbox into the journals of their scenes, and those
-- that the host is to be told into the queues of their scenes, each exactly once, whoever
-- drains: a line moves only while it is the head. A line with no event goes into no journal.
local outbox, undelivered = unpack(KEYS)
local maxLength, ttl = unpack(ARGV)
local FIRST_KEY, FIRST_LINE = 3, 3 -- of each line: journal, queue; line, event, member

local types = {'list', 'zset'}
for i = FIRST_KEY, #KEYS, 2 do types[i], types[i + 1] = 'stream', 'list' end
local wrong = corrupt(unpack(types))
if wrong then return wrong end

local at = text(now())
local moves = (#KEYS - FIRST_KEY + 1) / 2
local lines = redis.call('LRANGE', outbox, '0', text(moves - 1))
local moved = 0
for i, line in ipairs(lines) do
  local journal, queue = KEYS[FIRST_KEY + 2 * (i - 1)], KEYS[FIRST_KEY + 2 * (i - 1) + 1]
  local expected, event, member = unpack(ARGV, FIRST_LINE + 3 * (i - 1), FIRST_LINE + 3 * (i - 1) + 2)
  if line ~= expected then break end
  redis.call('LPOP', outbox)
  if event ~= '' then
    redis.call('XADD', journal, 'MAXLEN', '~', maxLength, '*', 'event', event, 'line', line)
    redis.call('PEXPIRE', journal, ttl)
  end
  if member ~= '' then
    redis.call('RPUSH', queue, line)
    redis.call('LTRIM', queue, '-' .. maxLength, '-1')
    redis.call('PEXPIRE', queue, ttl)
    if not redis.call('ZSCORE', undelivered, member) then redis.call('ZADD', undelivered, at, member) end
  end
  moved = moved + 1
end
return {text(moved)}
