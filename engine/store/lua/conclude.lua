-- conclude ends a scope, once, and leaves its finale in the outbox in the same step; a
-- scope of which nothing is wanted any more has none. What was written since the caller
-- read it, or is gone, is not concluded. Without an id it forgets a book whose scope is gone.
local scope, openScopes, outbox = unpack(KEYS)
local id, expected, book, line = unpack(ARGV)

local wrong = corrupt('hash', 'set', 'list')
if wrong then return wrong end

local at = now()
local owner, rev = read(scope, '', 'id', 'rev')
if owner ~= id or rev ~= expected then return {'moved', '0'} end

redis.call('DEL', scope)
local listed = redis.call('SREM', openScopes, book)
if line ~= '' then tell(outbox, line .. '|' .. text(at)) end
return {'ok', text(listed)}
