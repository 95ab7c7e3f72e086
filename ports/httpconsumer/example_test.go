package httpconsumer_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httpconsumer"
)

// A host hears that a scene's pictures are ready.
func Example() {
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(string(body))
		w.WriteHeader(http.StatusNoContent)
	}))
	defer host.Close()

	consumer := httpconsumer.New(ports.NewSystem(), httpconsumer.Options{URL: host.URL + "/events"})
	err := consumer.Consume(context.Background(), ports.ResultEvent{
		ID: "dispatch-1", Kind: ports.EventReady, Stage: ports.SceneID{Book: "b1", Chapter: "c1", Scene: "s1"}.Of("image"),
		Dispatch: "dispatch-1", Generation: 1, At: time.UnixMilli(1_700_000_000_000),
	})
	fmt.Println(err)
	// Output:
	// {"id":"dispatch-1","kind":"ready","book_id":"b1","chapter_id":"c1","scene_id":"s1","stage":"image","dispatch_id":"dispatch-1","generation":1,"at":1700000000000}
	// <nil>
}
