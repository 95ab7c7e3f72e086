// Package ports says what the engine needs from the world: a runtime (time,
// tasks, randomness), the job hub, the book content, the artifact store, and an
// observer of what it does. Redis is not behind a port: the engine speaks to it
// through go-redis, and a simulation replaces the connection underneath.
//
// The production adapters live beside the ports (System, and the package
// httphub). The engine never imports an adapter.
//
// Not for: the vocabulary of outcomes (engine/outcome), Redis keys (engine/keys),
// or anything that decides.
package ports
