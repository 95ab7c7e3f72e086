package properties_test

import (
	"context"
	"fmt"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/keys"
	"github.com/animastor/orchestra/fakes/redis"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/properties"
	"github.com/animastor/orchestra/sim"
)

// A defect joins raw ids with `:`; the property names the key that it wrote.
func Example() {
	world := sim.New(sim.Options{})
	defer world.Close()
	scene := ports.SceneID{Book: "a:b", Chapter: "c1", Scene: "s1"}
	server := redis.New(world, redis.Options{})
	set := properties.New(properties.View{
		World: world, Redis: server.Peek(), Profile: asset.ProfileOf, Tick: 5 * time.Second, Replicas: 1,
		Scenes:      func() []ports.SceneID { return []ports.SceneID{scene} },
		Wanted:      func() []ports.StageID { return []ports.StageID{scene.Of("image")} },
		ScopeEchoed: func() bool { return true },
		Fenced:      func() bool { return true },
	})
	world.Trace().Watch(set.Event)
	server.OnWrite(set.Write)

	engine := world.Process("e1")
	client := server.Client(engine)
	engine.Go(engine.Context(), "engine", func(ctx context.Context) {
		client.Set(ctx, keys.Cancel("a:b"), "1", 0)
		client.Set(ctx, "animastor:generation:cancel:"+"a:b", "1", 0)
	})
	world.RunFor(time.Second)

	set.End()
	for _, v := range set.Violations() {
		fmt.Println(v)
	}
	// Output:
	// key-encoding: animastor:generation:cancel:a:b: set wrote a key that no builder of package keys writes
	//      0.000000s e1/engine write set animastor:generation:cancel:a:b
}
