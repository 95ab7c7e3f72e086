-- slide moves the window of a scope: it writes where scenes stand now, unless the scope
-- was written since the caller read it. So two that look at once never take one more
-- scene than the window holds.
local scope = KEYS[1]
local FIRST_SCENE = 3
local id, expected = unpack(ARGV, 1, FIRST_SCENE - 1)

local wrong = corrupt('hash')
if wrong then return wrong end

local owner, rev = read(scope, '', 'id', 'rev')
if owner ~= id or rev ~= expected then return {'moved', rev} end

local number = text((int(rev) or 0) + 1)
put(scope, '', 'rev', number)
for i = FIRST_SCENE, #ARGV, 2 do put(scope, 'scene:', ARGV[i], ARGV[i + 1]) end
return {'ok', number}
