package httphub_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/ports/httphub"
)

// An answer is a definite no, or it is ambiguous.
func Example() {
	status := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"reason":"no_worker_available"}`))
	}))
	defer server.Close()

	client := httphub.New(ports.NewSystem(), httphub.Options{BaseURL: server.URL})
	err := client.Post(context.Background(), ports.Job{JobID: "image:b1:c1:s1:u1:1"})
	if no := new(ports.Rejected); errors.As(err, &no) {
		fmt.Println(no.Reason)
	}
	status = http.StatusBadGateway
	err = client.Post(context.Background(), ports.Job{JobID: "image:b1:c1:s1:u1:1"})
	fmt.Println(errors.Is(err, ports.ErrAmbiguous))
	// Output:
	// no_worker_available
	// true
}
