-- intent records what was asked for of a stage (request, regenerate, reset, edit,
-- cancel, delete) as a new generation, forgets every deferral, budget and backoff of the old
-- one, and ends the live dispatch in the same step, to be purged. If another dispatch is live than the
-- caller named, it says which, and writes nothing. A start for a scope happens once for its mark, and
-- only while the scope has no later order and the scene still stands where the caller read it.
local intent, state, deferred, deferredOf, budget, activeScenes, scenesOf, cancel, outbox,
  lease, record, slots, jobs, marker, permits, purges, scope = unpack(KEYS)
local op, stage, expected, scene, bookScene, bookStage, force, line, scopeID, order, place, mark, stands = unpack(ARGV)

local wrong = corrupt('hash', 'hash', 'string', 'zset', 'hash', 'set', 'set', 'string', 'list',
  'string', 'hash', 'zset', 'hash', 'string', 'zset', 'zset', 'hash')
if wrong then return wrong end

local at = now()
local name = stage .. '.state'
stage = stage .. '.'
local live, before, last, fence = read(state, stage, 'dispatch', 'state', 'generation', 'fence')
local current, started = read(intent, '', 'generation', 'scope')
if scopeID ~= '' then
  local owner, lastOrder = read(scope, '', 'id', 'last')
  if owner ~= scopeID or lastOrder ~= order or read(scope, 'scene:', bookScene) ~= place then return {'stale', ''} end
  if started == mark then return {'started', text(int(current) or 0), before, before, '', text(int(fence) or 0)} end
end
if live ~= expected then return {'retry', live} end

-- Who edits does not ask for what nobody has asked for.
if op == 'edit' and (select(2, readIntent(intent)) or redis.call('EXISTS', cancel) == 1) then
  return {'kept', '', before, before, '', text(int(fence) or 0)}
end
local generation = text(math.max(int(current) or 0, int(last) or 0) + 1)
local after = before
if op == 'delete' then after = ''
elseif op == 'cancel' then after = before == 'generating' and 'pending' or before
elseif stands == '1' and (before == '' or before == 'new') then after = 'ready'
elseif before ~= 'ready' then after = 'pending'
elseif op ~= 'request' then after = 'dirty' end
-- A video cannot be made of pictures that nobody will make.
local stops = op == 'cancel' or op == 'delete'
local image, imageCancelled = read(state, 'image.', 'state', 'cancelled')
local blocks = stage == 'image.' and stops and imageComes(state) and videoWaits(state)
local blocked = stage == 'video.' and not stops and after ~= 'ready' and
  (image == 'failed' or imageComes(state) and imageCancelled ~= '')
if blocked then after = 'failed' end
local alone = true -- no other stage of the scene has a state
for _, field in ipairs(redis.call('HKEYS', state)) do
  if field ~= name and string.match(field, '%.state$') then alone = false end
end

if live ~= '' then
  endDispatch({state = state, lease = lease, record = record, jobs = jobs, slots = slots, marker = marker, permits = permits},
    stage, live, 'cancelled', at)
  purgeLater(purges, live, at)
end
redis.call('DEL', deferred, budget)
redis.call('ZREM', deferredOf, bookStage)
drop(state, stage, 'idle', 'next', 'cancelled')
local status = 'active'
if op == 'cancel' then
  status = 'cancelled'
  put(state, stage, 'cancelled', text(at))
elseif op == 'delete' then
  status = 'deleted'
  drop(state, stage, 'state', 'version', 'mark', 'started', 'reason', 'floor')
  if alone then
    redis.call('SREM', activeScenes, scene)
    redis.call('SREM', scenesOf, bookScene)
  end
else
  redis.call('DEL', cancel)
  redis.call('SADD', activeScenes, scene)
  redis.call('SADD', scenesOf, bookScene)
end
if after ~= '' then put(state, stage, 'state', after) end
if blocked then put(state, stage, 'reason', 'blocked_by_image') end
if blocks then blockVideo(state) end
if op == 'regenerate' or op == 'reset' then put(state, stage, 'floor', generation) end
put(intent, '', 'generation', generation, 'status', status, 'force', force, 'at', text(at), 'scope', mark)
if live ~= '' then tell(outbox, ended(line, after, '', at, 0, last, '')) end
return {'ok', generation, before, after, live, text(int(fence) or 0)}
