// Package hub is the job hub of a world: an http.Handler with the routes of
// schema 5 over a queue in memory, and a transport that turns the requests of a
// process into calls of the kernel.
//
//	POST   /jobs                       202 | 409 {reason, dispatch_id} | 503 {reason}
//	GET    /jobs/{id}                  JobStatus | 404
//	GET    /dispatches/{id}            {jobs: [JobStatus]}, by job id
//	DELETE /queue/clear?dispatch_id=   {ok, cleared, scope}; or ?book_id=
//	GET    /workers                    {workers: [Worker]}, by id
//	POST   /workers/{id}/heartbeat     {type} -> 204
//	POST   /workers/{id}/claim         {type} -> 200 Claim | 204
//	POST   /jobs/{id}/progress         Progress -> 204 | 410
//	POST   /jobs/{id}/result           JobResult -> 204 | 410
//
// Invariants:
//   - It is a state machine: it never waits, and starts no task. What is due by
//     time (a silent worker, an old result) is done before the next request.
//   - At most one job of an id is queued or running.
//   - Per scene and stage no job is accepted with a fence below the highest seen,
//     of a cleared dispatch, or with a fence that a book clear has covered
//     (unless Options.NoFences; design 5.1).
//   - A restart loses jobs and results. Fences, cleared dispatches and workers are
//     kept, as a hub with a database would.
//
// It is not safe for concurrent use: behind a real listener, serve one request at
// a time.
//
// Not for: delivering results (package callbacks takes them from OnResult), the
// workers themselves (package workers), anything that knows the engine.
package hub
