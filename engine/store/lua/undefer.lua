-- undefer ends deferrals of one book, and takes them out of its index.
local wrong = corrupt('zset', 'string')
if wrong then return wrong end

local deleted = 0
for i = 2, #KEYS do deleted = deleted + redis.call('DEL', KEYS[i]) end
for _, member in ipairs(ARGV) do redis.call('ZREM', KEYS[1], member) end
return {text(deleted)}
