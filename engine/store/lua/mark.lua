-- mark notes what became of a post. It never takes back a result.
local state, jobs = unpack(KEYS)
local stage, dispatch, job, mark, ttl = unpack(ARGV)

local wrong = corrupt('hash', 'hash')
if wrong then return wrong end

local stored = redis.call('HGET', jobs, job) or ''
if read(state, stage .. '.', 'dispatch') ~= dispatch then return {'finished', split(stored)[1]} end
if not unfinished(stored) then return {'ok', split(stored)[1]} end

redis.call('HSET', jobs, job, mark)
redis.call('PEXPIRE', jobs, ttl)
return {'ok', mark}
