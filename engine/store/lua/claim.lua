-- claim gives one caller the completion of a live dispatch for a while. A lapsed claim
-- can be taken; whoever holds it may ask again, and holds it longer.
local stage, dispatch, claimant, ttl = unpack(ARGV)

local wrong = corrupt('hash')
if wrong then return wrong end

local at = now()
stage = stage .. '.'
local live, claim, claimUntil = read(KEYS[1], stage, 'dispatch', 'claim', 'claim_until')
if live ~= dispatch then return {'finished'} end
if claim ~= '' and claim ~= claimant and (int(claimUntil) or 0) > at then return {'in_progress'} end

put(KEYS[1], stage, 'claim', claimant, 'claim_until', text(at + int(ttl)))
return {'ok'}
