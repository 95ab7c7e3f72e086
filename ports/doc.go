// Package ports says what the engine needs from the world, and who is that in production:
//
//	Runtime       time, tasks, randomness            System
//	Hub           the job hub                        package httphub
//	Content       the books                          package bookdir
//	Artifacts     what workers have made             package artifactdir
//	Media         merges of it                       package artifactdir
//	Placeholders  silence until there is audio       package artifactdir, or nobody
//	Pointers      which pictures are published       package pgstore, or nobody
//	Timings       when they are shown                package pgstore, or nobody
//	Consumer      the host, which hears of results   package httpconsumer, or nobody
//	Observer      what the engine does, for logs     cmd/orchestra
//
// Redis is not behind a port: the engine speaks to it through go-redis, and a simulation
// replaces the connection underneath. The engine never imports an adapter.
//
// Not for: the vocabulary of outcomes (engine/outcome), Redis keys (engine/keys),
// or anything that decides.
package ports
