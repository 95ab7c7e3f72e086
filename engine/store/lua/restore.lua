-- restore puts a stage that is asked for back to where a tick finds it: one that lost
-- its state, one that is generating without a dispatch, one whose scene left the index.
-- One with a live dispatch gets back its place in the index alone; one that is done is left
-- as it is, but if it is ready, and of its last dispatch (`gone`, its fence) the artifacts do
-- not stand, it is dirty.
-- A state that was lost took the fence with it; the new one starts at the time in ms,
-- above any that was counted.
local state, intent, activeScenes, scenesOf, cancel = unpack(KEYS)
local stage, scene, bookScene, gone = unpack(ARGV)

local wrong = corrupt('hash', 'hash', 'set', 'set', 'string')
if wrong then return wrong end

local at = now()
stage = stage .. '.'
local status, live, fence = read(state, stage, 'state', 'dispatch', 'fence')
local generation, problem = readIntent(intent)
if problem or status == 'failed' then return {'kept'} end
local dirty = live == '' and status == 'ready' and gone ~= '' and fence == gone and redis.call('EXISTS', cancel) == 0
if status == 'ready' and not dirty then return {'kept'} end

local verdict = 'kept'
if redis.call('SISMEMBER', activeScenes, scene) == 0 or redis.call('SISMEMBER', scenesOf, bookScene) == 0 then
  verdict = 'indexed'
end
if live == '' and (status == '' or status == 'generating') then verdict = 'restored' end
if dirty then verdict = 'dirty' end
if verdict == 'kept' then return {verdict} end
redis.call('SADD', activeScenes, scene)
redis.call('SADD', scenesOf, bookScene)
if verdict == 'restored' then put(state, stage, 'state', 'pending', 'generation', text(generation)) end
if dirty then put(state, stage, 'state', 'dirty', 'reason', 'artifact_missing') end
if live == '' and not int(fence) then put(state, stage, 'fence', text(at)) end
return {verdict}
