package workers_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/animastor/orchestra/fakes/artifacts"
	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/fakes/workers"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// A job given to the hub becomes an artifact.
func Example() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	h, tree := hub.New(w, w.Process("hub"), hub.Options{}), artifacts.New(w, nil)
	workers.Start(w, tree, workers.Spec{Type: "image", N: 2, Hub: h.Transport})
	h.OnResult = func(r ports.JobResult) { fmt.Println(r.UnitID, "ok:", r.OK) }
	w.RunFor(time.Second)

	// Any http.Handler's client will do.
	job := `{"job_id":"image:b1:c1:s1:u1:1","dispatch_id":"d1","book_id":"b1","chapter_id":"c1","scene_id":"s1","stage":"image","unit_id":"u1","generation":1,"fence":1,"path":"s1/u1.png"}`
	request, _ := http.NewRequest(http.MethodPost, "http://hub/jobs", strings.NewReader(job))
	h.ServeHTTP(discard{}, request)

	w.RunFor(2 * time.Minute)
	fmt.Println(tree.List()[0].Path)
	// Output:
	// u1 ok: true
	// s1/u1.png
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
