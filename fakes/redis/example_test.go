package redis_test

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/sim"
)

// A lock with a TTL, taken through the ordinary go-redis client, in virtual time.
// The answer of the second attempt is lost: whether it took the lock, only the
// server knows.
func Example() {
	w := sim.New(sim.Options{Seed: 1, Latency: map[string]sim.Latency{redis.Service: {Min: time.Millisecond, Max: time.Millisecond}}})
	defer w.Close()
	server := redis.New(w, redis.Options{})
	p := w.Process("p")
	client := server.Client(p)
	w.Inject(sim.Rule{ID: "the second", Match: func(n sim.CallName) bool { return n.Verb == "set" && n.N == 2 }, Effect: "lost"})

	p.Go(p.Context(), "main", func(ctx context.Context) {
		fmt.Println(client.SetNX(ctx, "lock", "me", time.Hour).Result())
		_ = p.Sleep(ctx, 2*time.Hour)
		fmt.Println(client.SetNX(ctx, "lock", "me", time.Hour).Result())
	})
	w.RunFor(3 * time.Hour)
	fmt.Println("taken:", server.Peek().Exists("lock"))
	// Output:
	// true <nil>
	// false read sim: connection reset by peer
	// taken: true
}
