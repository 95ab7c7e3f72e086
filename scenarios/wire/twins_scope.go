package wire

import (
	"strings"

	"github.com/animastor/orchestra/fakes/redis"
)

// orderTwin is order.lua.
func orderTwin(db *redis.DB, keys, args []string) (any, error) {
	scope, openScopes, cancel := keys[0], keys[1], keys[2]
	op, member, book, id, window, force, whole := args[0], args[1], args[2], args[3], args[4], args[5], args[6] == "1"
	if err := corrupt(db, keys, "hash", "set", "string"); err != nil {
		return nil, err
	}

	stops := op == "cancel" || op == "delete"
	owner := get(db, scope, "id")
	if stops && whole {
		db.Del(scope)
		db.SRem(openScopes, book)
		if op == "cancel" {
			db.Set(cancel, num(db.Now()))
		}
		return []string{"ended", owner, "0"}, nil
	}
	if stops && owner == "" {
		return []string{"none", "", "0"}, nil
	}
	number := num(intOr0(get(db, scope, "rev")) + 1)
	var replaced []string
	for i, field := range db.HGetAll(scope) {
		if whole && i%2 == 0 && strings.HasPrefix(field, "order:") {
			replaced = append(replaced, field)
		}
	}
	if owner == "" {
		owner = id
	}

	db.HSet(scope, "id", owner, "rev", number, "last", number, "window", window)
	for _, field := range replaced {
		db.HDel(scope, field)
	}
	db.HSet(scope, "order:"+member, number+"|"+op+"|"+force)
	db.SAdd(openScopes, book)
	if !stops {
		db.Del(cancel)
	}
	return []string{"ok", owner, number}, nil
}

// slideTwin is slide.lua.
func slideTwin(db *redis.DB, keys, args []string) (any, error) {
	scope, id, expected := keys[0], args[0], args[1]
	if err := corrupt(db, keys, "hash"); err != nil {
		return nil, err
	}

	rev := get(db, scope, "rev")
	if get(db, scope, "id") != id || rev != expected {
		return []string{"moved", rev}, nil
	}

	number := num(intOr0(rev) + 1)
	db.HSet(scope, "rev", number)
	for i := 2; i < len(args); i += 2 {
		db.HSet(scope, "scene:"+args[i], args[i+1])
	}
	return []string{"ok", number}, nil
}

// concludeTwin is conclude.lua.
func concludeTwin(db *redis.DB, keys, args []string) (any, error) {
	scope, openScopes, outbox := keys[0], keys[1], keys[2]
	id, expected, book, line := args[0], args[1], args[2], args[3]
	if err := corrupt(db, keys, "hash", "set", "list"); err != nil {
		return nil, err
	}

	if get(db, scope, "id") != id || get(db, scope, "rev") != expected {
		return []string{"moved", "0"}, nil
	}

	db.Del(scope)
	listed := db.SRem(openScopes, book)
	if line != "" {
		tell(db, outbox, line+"|"+num(db.Now()))
	}
	return []string{"ok", num(int64(listed))}, nil
}
