// Package fakes is the root of the virtual-clock stand-ins: redis, hub, workers, content,
// artifacts, media, pointers, callbacks, consumer. Each lives in a package of its own;
// this one holds what they share: a process of a world as the engine's runtime.
//
// Not for: anything that knows the engine.
package fakes

import (
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Runtime is a process of a world as ports.Runtime.
type Runtime struct{ *sim.Process }

var _ ports.Runtime = Runtime{}

// Group implements ports.Runtime.
func (r Runtime) Group() ports.Group { return r.Process.Group() }
