-- lock takes a free lock, or renews one's own.
local wrong = corrupt('string')
if wrong then return wrong end

local token = redis.call('GET', KEYS[1])
if token and token ~= ARGV[1] then return {'0'} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {'1'}
