-- adopt makes another incarnation the holder of a live dispatch that nobody renewed
-- for a while. Asked again by the holder, it says ok again: the answer was lost.
local state, record = unpack(KEYS)
local stage, dispatch, holder, stale = unpack(ARGV)

local wrong = corrupt('hash', 'hash')
if wrong then return wrong end

local at = now()
stage = stage .. '.'
local live, owner, renewed, generation, fence, version, mark, started =
  read(state, stage, 'dispatch', 'holder', 'renewed', 'generation', 'fence', 'version', 'mark', 'started')
if live ~= dispatch then return {'finished'} end
if owner ~= holder and (int(renewed) or 0) > at - int(stale) then return {'fresh'} end
local recorded = redis.call('EXISTS', record) == 1

put(state, stage, 'holder', holder, 'renewed', text(at))
if recorded then redis.call('HSET', record, 'holder', holder) end
return {'ok', generation, fence, version, mark, started}
