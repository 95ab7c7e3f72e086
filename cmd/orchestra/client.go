package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"
)

// remote is a replica to talk to.
type remote struct {
	key
	Engine string `env:"ORCHESTRA_ENGINE" default:"http://127.0.0.1:8080" placeholder:"URL" help:"A replica, any one (${default})."`
}

// call makes one request and decodes the answer.
func (c *remote) call(e *env, method, path string, body, into any) error {
	if err := c.key.check(); err != nil {
		return err
	}
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(e.ctx, method, strings.TrimRight(c.Engine, "/")+path, &content)
	if err != nil {
		return &settingError{"engine", "ORCHESTRA_ENGINE", "is no URL as http://host:port", nil}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", c.HubKey)
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return &settingError{"engine", "ORCHESTRA_ENGINE", "no replica answers", err}
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		var why reason
		_ = json.Unmarshal(text, &why) // a body that says nothing leaves the status
		return fmt.Errorf("%s: %s %s", resp.Status, why.Reason, why.Message)
	}
	return json.Unmarshal(text, into)
}

// askCmd is an explicit intent; the name of the command says which.
type askCmd struct {
	remote
	Book    string `arg:"" help:"Id of the book."`
	Chapter string `help:"This chapter of it only."`
	Scene   string `help:"This scene of the chapter only."`
	Stage   string `help:"This stage only: audio, image or video."`
	Force   bool   `help:"Replace a dispatch of an older request. It bypasses no backoff."`
}

// Run implements the command.
func (c *askCmd) Run(e *env, command *kong.Context) error {
	op, _, _ := strings.Cut(command.Command(), " ")
	var did report
	if err := c.call(e, http.MethodPost, "/control/"+op, target{c.Book, c.Chapter, c.Scene, c.Stage, c.Force}, &did); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s %s: %d stages, %d live dispatches ended\n", op, c.Book, did.Stages, len(did.Replaced))
	return nil
}

type statusCmd struct {
	remote
	Book string        `arg:"" help:"Id of the book."`
	Wait time.Duration `help:"Wait this long for all that was asked for to be done; exit with 1 if it is not, or if a stage failed."`
}

// errUnfinished says that not all is as it was waited for.
var errUnfinished = errors.New("not every stage that was asked for is ready")

// Run implements the command.
func (c *statusCmd) Run(e *env) error {
	until := time.Now().Add(c.Wait)
	for {
		var list []stageStatus
		if err := c.call(e, http.MethodGet, "/control/status?book="+url.QueryEscape(c.Book), nil, &list); err != nil {
			return err
		}
		done, ready := settled(list)
		if done || !time.Now().Before(until) {
			c.print(e, list)
			if c.Wait > 0 && !ready {
				return errUnfinished
			}
			return nil
		}
		select {
		case <-e.ctx.Done():
			return e.ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func settled(list []stageStatus) (done, ready bool) {
	done, ready = len(list) > 0, len(list) > 0
	for _, s := range list {
		done = done && s.Done()
		ready = ready && s.State == "ready"
	}
	return done, ready
}

func (c *statusCmd) print(e *env, list []stageStatus) {
	if len(list) == 0 {
		fmt.Fprintf(e.stdout, "nothing of %s was asked for\n", c.Book)
		return
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(w, "%s/%s:%s\t%s\t%s%s\n", s.Chapter, s.Scene, s.Stage, s.State, s.Reason, s.Error)
	}
	_ = w.Flush() // as with any print
}
