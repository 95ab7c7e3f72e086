-- unlock gives back one's own lock, and nobody else's.
local wrong = corrupt('string')
if wrong then return wrong end

if redis.call('GET', KEYS[1]) ~= ARGV[1] .. '|' .. ARGV[2] then return {'0'} end
redis.call('DEL', KEYS[1])
return {'1'}
