-- drain moves lines from the head of the outbox into the journals of their scenes, each
-- exactly once, whoever drains: a line moves only while it is the head. A line with no
-- event is dropped.
local maxLength, ttl = unpack(ARGV)

local wrong = corrupt('list', 'stream')
if wrong then return wrong end

local lines = redis.call('LRANGE', KEYS[1], '0', text(#KEYS - 2))
local moved = 0
for i, line in ipairs(lines) do
  local expected, event = ARGV[2 * i + 1], ARGV[2 * i + 2]
  if line ~= expected then break end
  redis.call('LPOP', KEYS[1])
  if event ~= '' then
    redis.call('XADD', KEYS[i + 1], 'MAXLEN', '~', maxLength, '*', 'event', event, 'line', line)
    redis.call('PEXPIRE', KEYS[i + 1], ttl)
  end
  moved = moved + 1
end
return {text(moved)}
