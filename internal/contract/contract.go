// Package contract holds HTTP traffic to an OpenAPI document: docs/hub.openapi.yaml is
// what the engine's client, the hub and its workers must keep, the fakes among them.
//
// Invariants: what is checked is what went over the wire, in both directions, through
// whatever transport; a request that the document does not know is a problem, and so is an
// answer of a status that it does not list.
//
// Not for: production, what an answer means, or what a hub must remember from one
// request to the next (internal/conformance).
package contract

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/router"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// Contract is a document and what was seen of it. It is safe for concurrent use.
type Contract struct {
	one       sync.Mutex
	model     *v3.Document
	validator validator.Validator
	router    router.Router
	seen      map[string]int // exchanges by `operation status`
	problems  []string
}

// Load reads a document, and checks that it is one.
func Load(path string) (*Contract, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	document, err := libopenapi.NewDocument(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	model, err := document.BuildV3Model()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v, problems := validator.NewValidator(document)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s: %w", path, problems[0])
	}
	if ok, problems := v.ValidateDocument(); !ok {
		return nil, fmt.Errorf("%s: %s", path, strings.Join(list(problems), "; "))
	}
	return &Contract{model: &model.Model, validator: v, seen: map[string]int{},
		router: router.NewRouter(&model.Model, router.WithPathOnlyMatching())}, nil
}

// Problems lists how what was seen differs from the document, each difference once.
func (c *Contract) Problems() []string {
	c.one.Lock()
	defer c.one.Unlock()
	return slices.Clone(c.problems)
}

// Seen is how often each answer was seen, by `operation status`: "clear 200".
func (c *Contract) Seen() map[string]int {
	c.one.Lock()
	defer c.one.Unlock()
	return maps.Clone(c.seen)
}

// Answers lists all that the document knows, as Seen does.
func (c *Contract) Answers() (all []string) {
	for _, item := range c.model.Paths.PathItems.FromOldest() {
		for _, op := range item.GetOperations().FromOldest() {
			for status := range op.Responses.Codes.FromOldest() {
				all = append(all, op.OperationId+" "+status)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Transport checks what goes through another transport.
func (c *Contract) Transport(next http.RoundTripper) http.RoundTripper { return transport{c, next} }

type transport struct {
	contract *Contract
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	asked, err := drain(&req.Body)
	if err != nil {
		return nil, err
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	answered, err := drain(&resp.Body)
	if err != nil {
		return nil, err
	}
	t.contract.check(req, asked, *resp, answered)
	return resp, nil
}

// drain reads a body and puts it back.
func drain(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(*body)
	if closed := (*body).Close(); err == nil {
		err = closed
	}
	*body = io.NopCloser(bytes.NewReader(b))
	return b, err
}

// check judges one exchange.
func (c *Contract) check(req *http.Request, asked []byte, resp http.Response, answered []byte) {
	c.one.Lock()
	defer c.one.Unlock()
	r := &http.Request{Method: req.Method, URL: req.URL, Header: req.Header, Host: req.URL.Host, Body: io.NopCloser(bytes.NewReader(asked)),
		ContentLength: int64(len(asked))}
	resp.Body = io.NopCloser(bytes.NewReader(answered))
	what := fmt.Sprintf("%s %s %d", req.Method, req.URL.RequestURI(), resp.StatusCode)
	route, err := c.router.FindRoute(r)
	if err != nil {
		c.problem(what, err.Error())
		return
	}
	what = fmt.Sprintf("%s %d", route.Operation.OperationId, resp.StatusCode)
	c.seen[what]++
	refused := 400 <= resp.StatusCode && resp.StatusCode < 500 // then the request may be as bad as it likes
	if !refused {
		if ok, problems := c.validator.ValidateHttpRequestSync(r); !ok {
			c.problem(what+": request", list(problems)...)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(asked))
	if ok, problems := c.validator.ValidateHttpResponse(r, &resp); !ok {
		c.problem(what+": answer", list(problems)...)
	}
	if resp.ContentLength == 0 && len(answered) == 0 && resp.StatusCode == http.StatusOK {
		c.problem(what+": answer", "it has no body")
	}
}

func (c *Contract) problem(what string, why ...string) {
	for _, w := range why {
		if w = what + ": " + w; !slices.Contains(c.problems, w) {
			c.problems = append(c.problems, w)
		}
	}
}

// list is the gist of the library's errors: where in the body, and what.
func list(problems []*errors.ValidationError) (all []string) {
	for _, p := range problems {
		if len(p.SchemaValidationErrors) == 0 {
			all = append(all, p.Message+": "+p.Reason)
		}
		for _, s := range p.SchemaValidationErrors {
			all = append(all, strings.TrimPrefix(s.FieldPath+": "+s.Reason, ": "))
		}
	}
	return all
}
