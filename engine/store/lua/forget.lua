-- forget takes back the receipt of a post that did not happen, if it is the dispatch's own.
local wrong = corrupt('hash')
if wrong then return wrong end

if read(KEYS[1], '', 'dispatch') ~= ARGV[1] then return {'0'} end
drop(KEYS[1], '', 'generation', 'fence', 'dispatch', 'payload', 'at')
return {'1'}
