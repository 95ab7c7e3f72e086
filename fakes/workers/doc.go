// Package workers is the GPU workers of a world: processes image-1, image-2, …
// that heartbeat to the hub, claim jobs, report progress, upload an artifact and
// report the result.
//
// Invariants:
//   - A worker runs one job at a time and knows the hub only through HTTP.
//   - How long a job takes is drawn from the seed, the job id and the run: another
//     job, or another worker, does not change it.
//   - It remembers nothing over a restart.
//   - A job that the hub calls gone is dropped without a result.
//
// In the middle of each job a worker makes the call worker.run, whose subject is
// the job: an effect on it decides what becomes of the job (see Effects).
//
// Not for: building artifact paths (the job brings its own), or any judgement of
// results.
package workers
