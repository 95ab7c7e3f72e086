-- retire takes a scene out of the active index if nothing is left to do for it: each
-- stage named is ready or failed, or nobody asks for it any more.
local wrong = corrupt('hash', 'set', 'hash')
if wrong then return wrong end

for i = 3, #KEYS do
  local status = read(KEYS[1], ARGV[i - 1] .. '.', 'state')
  local _, problem = readIntent(KEYS[i])
  if status ~= 'ready' and status ~= 'failed' and problem ~= 'intent_missing' and problem ~= 'intent_not_active' then
    return {'0'}
  end
end
redis.call('SREM', KEYS[2], ARGV[1])
return {'1'}
