package main

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/sim"
)

// workersPath is a route of the loopback hub alone: no other hub has workers to command.
const workersPath = "/loopback/workers"

// crewMax is how many workers a stage may have: each is a task that asks for jobs.
const crewMax = 1000

// crew is the body of a request there: how many workers of a stage there are from now on, and
// how long the jobs take that they start.
type crew struct {
	Stage     string `json:"stage"`
	Workspace string `json:"workspace,omitempty"` // whose private workers they are; "": everybody's
	Count     int    `json:"count"`
	JobMinMs  int64  `json:"job_min_ms"`
	JobMaxMs  int64  `json:"job_max_ms"`
	SharedMs  int64  `json:"shared_ms,omitempty"` // for how long everybody may use private ones
}

func (c crew) valid() bool {
	return asset.ValidStage(c.Stage) && c.Count >= 0 && c.Count <= crewMax && c.JobMinMs >= 0 && c.JobMaxMs >= c.JobMinMs && c.SharedMs >= 0 &&
		!strings.ContainsAny(c.Workspace, "/?#%")
}

// yard is the workers of the loopback hub, by stage and workspace. It belongs to the world.
type yard struct {
	world *sim.World
	tree  workers.Tree
	hub   *hub.Hub
	key   string
	now   func() time.Time // the hub's clock
	pools map[string]*workers.Pool
}

var _ http.Handler = (*yard)(nil)

// set gives a stage its workers.
func (y *yard) set(c crew) {
	name := c.Stage + " " + c.Workspace
	pool, ok := y.pools[name]
	if !ok {
		pool = workers.Start(y.world, y.tree, workers.Spec{Type: c.Stage, Workspace: c.Workspace, Hub: y.hub.Transport, APIKey: y.key,
			HeartbeatEvery: 5 * time.Second, ProgressEvery: time.Second, PollEvery: 200 * time.Millisecond})
		y.pools[name] = pool
	}
	pool.SetJobTime(time.Duration(c.JobMinMs)*time.Millisecond, time.Duration(c.JobMaxMs)*time.Millisecond)
	pool.Share(0)
	if c.SharedMs > 0 {
		pool.Share(y.now().UnixMilli() + c.SharedMs)
	}
	pool.Resize(c.Count)
}

// ServeHTTP implements http.Handler: it takes a crew from who has the key.
func (y *yard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var c crew
	switch {
	case subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Api-Key")), []byte(y.key)) != 1:
		reply(w, no(http.StatusUnauthorized, "unauthorized", nil))
	case json.NewDecoder(r.Body).Decode(&c) != nil || !c.valid():
		reply(w, no(http.StatusBadRequest, "bad_request", nil))
	default:
		y.set(c)
		reply(w, answer{status: http.StatusNoContent})
	}
}
