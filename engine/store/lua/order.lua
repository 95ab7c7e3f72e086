-- order writes down what was asked for of a book, a chapter, a scene or a stage: in the
-- open scope of the book, which a first request opens. An order to stop leaves a scope
-- alone that is not there; one to stop the whole book ends it, without a finale, and
-- what else had been asked for goes with it.
local scope, openScopes, cancel = unpack(KEYS)
local op, member, book, id, window, force, whole = unpack(ARGV)

local wrong = corrupt('hash', 'set', 'string')
if wrong then return wrong end

local at = now()
local stops = op == 'cancel' or op == 'delete'
local owner, rev = read(scope, '', 'id', 'rev')
if stops and whole == '1' then
  redis.call('DEL', scope)
  redis.call('SREM', openScopes, book)
  if op == 'cancel' then redis.call('SET', cancel, text(at)) end
  return {'ended', owner, '0'}
end
if stops and owner == '' then return {'none', '', '0'} end

local number = text((int(rev) or 0) + 1)
local replaced = {}
if whole == '1' then
  for _, field in ipairs(redis.call('HKEYS', scope)) do
    if string.match(field, '^order:') then replaced[#replaced + 1] = field end
  end
end
if owner == '' then owner = id end

put(scope, '', 'id', owner, 'rev', number, 'last', number, 'window', window)
for _, field in ipairs(replaced) do redis.call('HDEL', scope, field) end
put(scope, 'order:', member, number .. '|' .. op .. '|' .. force)
redis.call('SADD', openScopes, book)
if not stops then redis.call('DEL', cancel) end
return {'ok', owner, number}
