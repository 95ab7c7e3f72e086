package health_test

import (
	"fmt"

	"github.com/animastor/orchestra/engine/health"
	"github.com/animastor/orchestra/ports"
)

func ExampleOf() {
	workers := []ports.Worker{
		{ID: "gpu-1", Type: "image", Alive: true, Scope: ports.ScopeSystem, Busy: true},
		{ID: "gpu-2", Type: "image", Alive: true, Scope: ports.ScopePrivate, Workspace: "w1"},
	}
	fmt.Println(health.Of(workers, "image", "w1").Idle(), health.Of(workers, "image", "w2").Idle())
	// Output: 1 0
}
