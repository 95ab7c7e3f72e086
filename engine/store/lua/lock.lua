-- lock takes a free lock under a new fence number, or renews the caller's own. Given a
-- number it only renews that one: who slept through his time must not go on as before.
local wrong = corrupt('string')
if wrong then return wrong end

local token, ttl, fence = unpack(ARGV)
local at, held = now(), redis.call('GET', KEYS[1])
local holder, number = unpack(split(held or ''))
if held and holder ~= token or fence ~= '' and number ~= fence then return {'0', ''} end
if not int(number) then number = text(at) end
redis.call('SET', KEYS[1], token .. '|' .. number, 'PX', ttl)
return {'1', number}
