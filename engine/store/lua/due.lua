-- due lends scenes whose host has something to hear, those first that wait longest. A loan
-- lapses by itself: then another may have the scene.
local undelivered = KEYS[1]
local most, loan = unpack(ARGV)

local wrong = corrupt('zset')
if wrong then return wrong end

local at = now()
local scenes = redis.call('ZRANGEBYSCORE', undelivered, '-inf', text(at), 'LIMIT', '0', most)
for _, scene in ipairs(scenes) do redis.call('ZADD', undelivered, text(at + int(loan)), scene) end
return {text(#scenes), unpack(scenes)}
