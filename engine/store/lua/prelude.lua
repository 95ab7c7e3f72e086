-- Shared by all scripts; stands in front of each.
--
-- They run alike on Redis 7 and on miniredis: numbers are decimal text of at most 15
-- digits, times are ms, TIME is read once, everything is read and decided before the
-- first write, only declared keys are touched, and a reply is a flat array of strings.

local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function text(number) return string.format('%.0f', number) end

-- int reads what text writes, and nothing else: nil for any other value.
local function int(value)
  if value and #value <= 15 and (value == '0' or string.match(value, '^[1-9]%d*$')) then
    return tonumber(value)
  end
end

-- split cuts a value at each `|`.
local function split(value)
  local parts = {}
  for part in string.gmatch(value .. '|', '([^|]*)|') do parts[#parts + 1] = part end
  return parts
end

-- corrupt is the error that names the first key whose value has the wrong type, so
-- that no script fails after its first write. The types stand in the order of KEYS; the
-- last one holds for all further keys.
local function corrupt(...)
  local types = {...}
  for i, key in ipairs(KEYS) do
    local want, found = types[i] or types[#types], redis.call('TYPE', key).ok
    if found ~= want and found ~= 'none' then
      return redis.error_reply('CORRUPT ' .. key .. ' holds a ' .. found .. ', not a ' .. want)
    end
  end
end

-- read returns fields of a hash, '' for each that is not there. The names get the
-- prefix: 'image.' for the fields of a stage in asset-state, '' elsewhere.
local function read(key, prefix, ...)
  local names = {...}
  for i, name in ipairs(names) do names[i] = prefix .. name end
  local values = redis.call('HMGET', key, unpack(names))
  for i = 1, #names do values[i] = values[i] or '' end
  return unpack(values)
end

-- put writes fields of a hash, given as names and values in turn.
local function put(key, prefix, ...)
  local fields = {...}
  for i = 1, #fields, 2 do fields[i] = prefix .. fields[i] end
  redis.call('HSET', key, unpack(fields))
end

-- drop removes fields of a hash.
local function drop(key, prefix, ...)
  local names = {...}
  for i, name in ipairs(names) do names[i] = prefix .. name end
  redis.call('HDEL', key, unpack(names))
end

-- readIntent returns the generation of an intent (nil if there is none) and what is
-- wrong with it (nil if it is active).
local function readIntent(key)
  if redis.call('EXISTS', key) == 0 then return nil, 'intent_missing' end
  local generation, status = read(key, '', 'generation', 'status')
  generation = int(generation)
  if not generation or generation < 1 then return nil, 'intent_corrupt' end
  if status == 'active' then return generation end
  if status == 'cancelled' or status == 'deleted' then return generation, 'intent_not_active' end
  return nil, 'intent_corrupt'
end

-- unfinished says whether a job, as it stands in the hash of jobs, may still get a result.
local function unfinished(job)
  local state = string.match(job, '^[^|]*')
  return state ~= 'done' and state ~= 'failed'
end

-- endDispatch frees what the live dispatch of a stage holds, and marks its end. It
-- removes before it writes: a script that starts with it runs whole when memory is short.
local function endDispatch(key, stage, dispatch, outcome, at)
  redis.call('DEL', key.lease, key.record, key.jobs)
  redis.call('ZREM', key.slots, dispatch)
  redis.call('ZREM', key.permits, dispatch)
  drop(key.state, stage, 'dispatch', 'holder', 'renewed', 'claim', 'claim_until')
  redis.call('SET', key.marker, outcome .. '|' .. text(at), 'PX', '86400000')
end

-- purgeLater notes that jobs of an ended dispatch may be at the hub. A note lapses after
-- a day.
local function purgeLater(purges, dispatch, at)
  redis.call('ZADD', purges, text(at), dispatch)
  redis.call('ZREMRANGEBYSCORE', purges, '-inf', text(at - 86400000))
end

-- readCircuit returns when the circuit of a stage was opened (nil if it is closed) and
-- whether an operator holds it open. An open circuit whose cool-down is over is
-- half-open; nothing has to be written for that.
local function readCircuit(breaker)
  local openedAt, hold = read(breaker, '', 'opened_at', 'hold')
  openedAt = int(openedAt)
  return openedAt ~= 0 and openedAt or nil, hold == 'open'
end

-- imageComes says whether the image stage of a scene was asked for and is not done; the
-- video is made of its pictures, and waits for them.
local function imageComes(state)
  local status = read(state, 'image.', 'state')
  return status == 'pending' or status == 'dirty' or status == 'generating'
end

-- videoWaits says whether the video stage of a scene could be begun, but for its image.
local function videoWaits(state)
  local status, live, cancelled = read(state, 'video.', 'state', 'dispatch', 'cancelled')
  return (status == 'pending' or status == 'dirty') and live == '' and cancelled == ''
end

-- blockVideo fails the video stage of a scene whose pictures will not come.
local function blockVideo(state)
  put(state, 'video.', 'state', 'failed', 'reason', 'blocked_by_image')
end

-- sceneReady says whether all other stages of a scene that were asked for are ready, or
-- stood in for.
local function sceneReady(state, stage)
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    local other = string.match(fields[i], '^(.*%.)state$')
    if other and other ~= stage and fields[i + 1] ~= 'ready' and fields[i + 1] ~= 'placeholder' then return false end
  end
  return true
end

-- ended completes the line of the outbox that tells how a dispatch ended.
local function ended(line, status, why, at, untilAt, generation, also)
  return table.concat({line, status, why, text(at), text(untilAt), generation, also}, '|')
end

-- tell appends a line to the outbox, which holds the last 10,000.
local function tell(outbox, line)
  redis.call('RPUSH', outbox, line)
  redis.call('LTRIM', outbox, '-10000', '-1')
end
