-- renew extends a live dispatch for its holder, and no other. The hash asset-state is
-- the truth; lease, record, jobs and slot are written anew, so that what was evicted is
-- back. A job whose state was lost is unknown: the hub must be asked about it.
local state, lease, record, jobs, slots = unpack(KEYS)
local stage, dispatch, holder, ttl = unpack(ARGV)
local FIRST_JOB = 5

local wrong = corrupt('hash', 'string', 'hash', 'hash', 'zset')
if wrong then return wrong end

local at = now()
stage = stage .. '.'
local live, owner, generation, fence, version, mark, started =
  read(state, stage, 'dispatch', 'holder', 'generation', 'fence', 'version', 'mark', 'started')
if live ~= dispatch then return {'finished'} end
if owner ~= holder then return {'not_owner'} end

redis.call('SET', lease, dispatch, 'PX', ttl)
redis.call('ZADD', slots, text(at + int(ttl)), dispatch)
put(record, '', 'dispatch_id', dispatch, 'generation', generation, 'fence', fence, 'version', version,
  'mark', mark, 'holder', holder, 'started_at', started)
redis.call('PEXPIRE', record, ttl)
for i = FIRST_JOB, #ARGV do redis.call('HSETNX', jobs, ARGV[i], 'unknown') end
redis.call('PEXPIRE', jobs, ttl)
put(state, stage, 'renewed', text(at))
return {'ok'}
