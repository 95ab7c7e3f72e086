-- release frees a completion marker whose artifact is gone, for the live dispatch, and
-- once for each charge of the budget: a job id holds the generation, and the note in its
-- receipt stays as long as a marker would, or until a finish charges. Asked again after a lost answer it finds no marker and says so.
local taskDone, state, receipt = unpack(KEYS)
local stage, dispatch, ttl = unpack(ARGV)

local wrong = corrupt('hash', 'hash', 'hash')
if wrong then return wrong end

if read(state, stage .. '.', 'dispatch') ~= dispatch then return {'kept'} end
if redis.call('EXISTS', taskDone) == 0 then return {'released'} end
if read(receipt, '', 'released') ~= '' then return {'kept'} end

redis.call('DEL', taskDone, receipt)
redis.call('HSET', receipt, 'released', '1')
redis.call('PEXPIRE', receipt, ttl)
return {'released'}
