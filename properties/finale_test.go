package properties_test

import (
	"testing"
	"time"

	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/consumer"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// order writes an order into the scope x of the book, number n of it.
func (b *bench) order(about ports.StageID, op string, n int64) {
	key := keys.Scope("b1")
	b.write("api/"+op, "order", func(db *redis.DB) {
		db.HSet(key, "id", "x", "order:"+keys.BookStageMember(about), itoa(n)+"|"+op+"|0")
		db.SAdd(keys.OpenScopes(), "b1")
	}, key, keys.OpenScopes())
}

// conclude ends the scope x; line is what it leaves in the outbox.
func (b *bench) conclude(line string) {
	key := keys.Scope("b1")
	b.write("e1/window", "conclude", func(db *redis.DB) {
		db.Del(key, keys.OpenScopes())
		if line != "" {
			db.RPush(keys.Outbox(), line)
		}
	}, key, keys.OpenScopes(), keys.Outbox())
}

// made asks for a stage, and makes it.
func (b *bench) made(s ports.StageID, state string) {
	b.request(s, 1)
	b.begin(s, "d-"+s.Scene, 1)
	b.end(s, "d-"+s.Scene, state)
}

// drain moves what the outbox holds into the journal of the book, n times.
func (b *bench) drain(n int) {
	b.write("e1/outbox", "drain", func(db *redis.DB) {
		db.Del(keys.Outbox())
		for range n {
			db.XAdd(keys.Journal(ports.SceneID{Book: "b1"}), 10, "event", "GENERATION_COMPLETE")
		}
	}, keys.Outbox(), keys.Journal(ports.SceneID{Book: "b1"}))
}

// hear lets the host hear of the end of the scope x.
func (b *bench) hear() {
	b.world.Emit(sim.Event{Kind: "heard", Data: consumer.Heard{ResultEvent: ports.ResultEvent{ID: "x", Kind: ports.EventComplete, Dispatch: "x"}}})
}

func TestOneFinale(t *testing.T) {
	book := ports.StageID{SceneID: ports.SceneID{Book: "b1"}}
	whole := func(b *bench, second string) {
		b.order(book, "request", 1)
		b.made(s1, "ready")
		b.made(s2, second)
	}
	told := ports.Concluded{Book: "b1", Scope: "x", Ready: 2}
	play(t, "one-finale", []scene{
		{"all is made", func(b *bench) {
			whole(b, "ready")
			b.conclude("concluded|x|2|0|b1|0")
			b.set.Rest()
			b.drain(1)
			b.tell("e1/outbox", told)
			b.hear()
			b.set.Rest()
			b.set.Late(time.Hour)
		}, ""},
		{"a scene has failed", func(b *bench) {
			whole(b, "failed")
			b.conclude("concluded|x|1|1|b1|0")
		}, ""},
		{"a failure is not told", func(b *bench) {
			whole(b, "failed")
			b.conclude("concluded|x|2|0|b1|0")
		}, "counts 2 ready, 0 failed; 1 and 1 are"},
		{"a scene is under way", func(b *bench) {
			whole(b, "pending")
			b.conclude("concluded|x|1|0|b1|0")
		}, "b1/c1/s2:image is pending"},
		{"a scene waits", func(b *bench) {
			b.order(book, "request", 1)
			b.made(s1, "ready")
			b.conclude("concluded|x|1|0|b1|0")
		}, "b1/c1/s2:image was not started for it"},
		{"the intent of one that is ready was evicted", func(b *bench) {
			whole(b, "ready")
			b.redis.Evict(keys.Intent(s2))
			b.conclude("concluded|x|2|0|b1|0")
		}, ""},
		{"the intent of one under way was evicted", func(b *bench) {
			whole(b, "pending")
			b.redis.Evict(keys.Intent(s2))
			b.conclude("concluded|x|1|0|b1|0")
		}, "b1/c1/s2:image is pending"},
		{"the intent of one that is ready from before was evicted", func(b *bench) {
			b.made(s1, "ready")
			b.made(s2, "ready")
			b.wait(time.Second)
			b.order(s2, "regenerate", 1)
			b.redis.Evict(keys.Intent(s2))
			b.conclude("concluded|x|1|0|b1|0")
		}, "b1/c1/s2:image was not started for it"},
		{"a scene is ready from before", func(b *bench) {
			b.made(s1, "ready")
			b.made(s2, "ready")
			b.wait(time.Second)
			b.order(book, "regenerate", 1)
			b.conclude("concluded|x|2|0|b1|0")
		}, "b1/c1/s1:image was not started for it"},
		{"a scene that nobody asked for", func(b *bench) {
			b.order(s1, "request", 1)
			b.made(s1, "ready")
			b.conclude("concluded|x|1|0|b1|0")
		}, ""},
		{"a scene that was cancelled", func(b *bench) {
			whole(b, "pending")
			b.order(s2, "cancel", 2)
			b.conclude("concluded|x|1|0|b1|0")
		}, ""},
		{"a scene asked for again after its cancel", func(b *bench) {
			whole(b, "pending")
			b.order(s2, "cancel", 2)
			b.order(ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s2"}.Of(""), "request", 3)
			b.conclude("concluded|x|1|0|b1|0")
		}, "b1/c1/s2:image is pending"},
		{"nothing is left of it", func(b *bench) {
			b.order(s1, "request", 1)
			b.order(s1, "cancel", 2)
			b.conclude("")
		}, ""},
		{"no finale", func(b *bench) {
			whole(b, "ready")
			b.conclude("")
		}, "ended without a finale"},
		{"after the cancel of the book", func(b *bench) {
			whole(b, "ready")
			b.write("api/cancel", "order", func(db *redis.DB) { db.Set(keys.Cancel("b1"), "1") }, keys.Cancel("b1"))
			b.conclude("concluded|x|2|0|b1|0")
		}, "it was cancelled, and a finale follows"},
		{"twice", func(b *bench) {
			for range 2 {
				whole(b, "ready")
				b.conclude("concluded|x|2|0|b1|0")
			}
		}, "its scope x ended twice"},
		{"told twice", func(b *bench) {
			whole(b, "ready")
			b.conclude("concluded|x|2|0|b1|0")
			b.tell("e1/outbox", told)
			b.tell("e2/outbox", told)
		}, "a finale was told twice"},
		{"told twice, since a failover took the first telling back", func(b *bench) {
			whole(b, "ready")
			b.conclude("concluded|x|2|0|b1|0")
			b.drain(1)
			b.tell("e1/outbox", told)
			b.redis.DB().RPush(keys.Outbox(), "concluded|x|2|0|b1|0")
			b.set.Failover([]string{keys.Outbox()})
			b.tell("e2/outbox", told)
		}, ""},
		{"told before it ended", func(b *bench) {
			whole(b, "ready")
			b.tell("e1/outbox", told)
		}, "of a scope that has not ended"},
		{"journaled twice", func(b *bench) {
			whole(b, "ready")
			b.conclude("concluded|x|2|0|b1|0")
			b.drain(2)
			b.hear()
			b.set.Rest()
		}, "hold 2 finales, and 1 scopes ended with one"},
		{"the host is not told", func(b *bench) {
			whole(b, "ready")
			b.conclude("concluded|x|2|0|b1|0")
			b.drain(1)
			b.set.Rest()
		}, "nobody told the host"},
		{"missing", func(b *bench) {
			whole(b, "ready")
			b.set.Late(time.Hour)
		}, "its scope x is open after settle"},
	})
}
