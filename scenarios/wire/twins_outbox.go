package wire

import "github.com/animastor/orchestra/fakes/redis"

// drainTwin is drain.lua.
func drainTwin(db *redis.DB, keys, args []string) (any, error) {
	outbox, undelivered := keys[0], keys[1]
	types := []string{"list", "zset"}
	for range (len(keys) - 2) / 2 {
		types = append(types, "stream", "list")
	}
	if err := corrupt(db, keys, types...); err != nil {
		return nil, err
	}
	maxLength, ttl, moved := intOr0(args[0]), intOr0(args[1]), int64(0)
	for i := range (len(keys) - 2) / 2 {
		journal, queue := keys[2+2*i], keys[3+2*i]
		expected, event, member := args[2+3*i], args[3+3*i], args[4+3*i]
		if line, ok := db.LIndex(outbox, 0); !ok || line != expected {
			break
		}
		db.LPop(outbox)
		if event != "" {
			db.XAdd(journal, maxLength, "event", event, "line", expected)
			db.PExpire(journal, ttl)
		}
		if member != "" {
			db.RPush(queue, expected)
			db.LTrimLast(queue, int(maxLength))
			db.PExpire(queue, ttl)
			if _, waits := db.ZScore(undelivered, member); !waits {
				db.ZAdd(undelivered, float64(db.Now()), member)
			}
		}
		moved++
	}
	return []string{num(moved)}, nil
}

// dueTwin is due.lua.
func dueTwin(db *redis.DB, keys, args []string) (any, error) {
	if err := corrupt(db, keys, "zset"); err != nil {
		return nil, err
	}
	var scenes []string
	for _, scene := range db.ZRange(keys[0], 0, int(intOr0(args[0]))-1) {
		if score, _ := db.ZScore(keys[0], scene); score <= float64(db.Now()) {
			scenes = append(scenes, scene)
		}
	}
	for _, scene := range scenes {
		db.ZAdd(keys[0], float64(db.Now()+intOr0(args[1])), scene)
	}
	return append([]string{num(int64(len(scenes)))}, scenes...), nil
}

// deliveredTwin is delivered.lua.
func deliveredTwin(db *redis.DB, keys, args []string) (any, error) {
	queue, undelivered := keys[0], keys[1]
	if err := corrupt(db, keys, "list", "zset"); err != nil {
		return nil, err
	}
	if head, ok := db.LIndex(queue, 0); ok && head != args[0] {
		return []string{"moved"}, nil
	}
	db.LPop(queue)
	if db.LLen(queue) == 0 {
		db.ZRem(undelivered, args[1])
		return []string{"last"}, nil
	}
	db.ZAdd(undelivered, float64(db.Now()+intOr0(args[2])), args[1])
	return []string{"ok"}, nil
}
