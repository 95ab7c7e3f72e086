package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"github.com/animastor/orchestra/ports"
)

// remote is a replica to talk to.
type remote struct {
	key
	Engine string `env:"ORCHESTRA_ENGINE" default:"http://127.0.0.1:8080" placeholder:"URL" help:"A replica, any one (${default})."`
}

const requestAtMost = time.Minute // to a replica, until all of its answer is there

// newClient returns the client of a command, for all of its requests.
func newClient() *http.Client {
	dialer := net.Dialer{Timeout: connectAtMost}
	return &http.Client{Timeout: requestAtMost, Transport: &http.Transport{DialContext: dialer.DialContext, Proxy: http.ProxyFromEnvironment}}
}

// call makes one request and decodes the answer.
func (c *remote) call(e *env, method, path string, body, into any) error {
	if err := errors.Join(c.key.check(), checkURL("engine", c.Engine)); err != nil {
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
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", c.HubKey)
	resp, err := e.client.Do(req)
	if err != nil {
		return unanswered(e.ctx, method, err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &settingError{"engine", "ORCHESTRA_ENGINE", "who answers at " + c.Engine + " is no replica", err}
	}
	return nil
}

// errInterrupted says that somebody did not want to wait any longer.
var errInterrupted = errors.New("interrupted")

// unanswered says why there is no answer. Only if nobody was reached, the setting may be wrong.
// Who interrupts a question loses nothing by it.
func unanswered(ctx context.Context, method string, err error) error {
	if ctx.Err() != nil && method == http.MethodGet {
		return errInterrupted
	}
	if op := (*net.OpError)(nil); ctx.Err() == nil && errors.As(err, &op) && op.Op == "dial" {
		return &settingError{"engine", "ORCHESTRA_ENGINE", "no replica answers", err}
	}
	return fmt.Errorf("there is no answer, and it may have been done: %w", err)
}

// refused says why a request was. A replica always gives a reason.
func (c *remote) refused(resp *http.Response, text []byte) error {
	var why reason
	switch err := json.Unmarshal(text, &why); {
	case err != nil || why.Reason == "":
		return &settingError{"engine", "ORCHESTRA_ENGINE", "who answers at " + c.Engine + " is no replica", errors.New(resp.Status)}
	case resp.StatusCode == http.StatusUnauthorized:
		return &settingError{"hub-key", "ORCHESTRA_HUB_KEY", "is not the key of the replica at " + c.Engine, nil}
	case why.Message == "":
		return fmt.Errorf("%s: %s", resp.Status, why.Reason)
	}
	return fmt.Errorf("%s: %s: %s", resp.Status, why.Reason, why.Message)
}

// part is a book, or a part of it.
type part struct {
	Book    string `arg:"" help:"Id of the book."`
	Chapter string `help:"This chapter of it only."`
	Scene   string `help:"This scene of the chapter only."`
}

func (p part) target() target { return target{Book: p.Book, Chapter: p.Chapter, Scene: p.Scene} }

// askCmd is an explicit intent; the name of the command says which.
type askCmd struct {
	remote
	part
	Stage string `help:"This stage only: audio, image or video."`
	Force bool   `help:"Replace a dispatch of an older request. It bypasses no backoff."`
}

// Run implements the command.
func (c *askCmd) Run(e *env, command *kong.Context) error {
	op, _, _ := strings.Cut(command.Command(), " ")
	t := c.target()
	t.Stage, t.Force = c.Stage, c.Force
	return c.ask(e, op, t)
}

// ask sends an explicit intent and says what it did.
func (c *remote) ask(e *env, op string, t target) error {
	var did report
	if err := c.call(e, http.MethodPost, "/control/"+op, t, &did); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s %s: %d stages, %d live dispatches ended%s\n", op, t.Book, did.Stages, len(did.Replaced), unasked(did.Stages == 0 && stops(op)))
	return nil
}

// stops says whether an intent is about what was asked for before, and nothing else.
func stops(op string) bool { return op == "cancel" || op == "delete" || op == "edit" }

// unasked is said of an order that had nothing to do: perhaps the id is misspelt.
func unasked(is bool) string {
	if is {
		return ": nothing of it was asked for"
	}
	return ""
}

type editCmd struct {
	remote
	part
	Stage string   `help:"This stage only: audio, image or video."`
	Units []string `placeholder:"ID" help:"Pictures of the scene that are to be made anew in any case (needs PostgreSQL). A comma in an id is written \\,."`
}

// Run implements the command.
func (c *editCmd) Run(e *env) error {
	t := c.target()
	t.Stage, t.Units = c.Stage, c.Units
	return c.ask(e, "edit", t)
}

type timesCmd struct {
	remote
	Book    string `arg:"" help:"Id of the book."`
	Chapter string `required:"" help:"Chapter of the scene."`
	Scene   string `required:"" help:"Scene of the chapter."`
}

// Run implements the command.
func (c *timesCmd) Run(e *env) error {
	var is sceneTimes
	query := url.Values{"book": {c.Book}, "chapter": {c.Chapter}, "scene": {c.Scene}}
	if err := c.call(e, http.MethodGet, "/control/times?"+query.Encode(), nil, &is); err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, t := range is.Times {
		fmt.Fprintf(w, "%s\t%dms\t%dms\t\n", ports.Quote(t.Unit), t.StartMS, t.EndMS)
	}
	_ = w.Flush() // as with any print
	return nil
}

type clearCmd struct {
	Deferrals deferralsCmd `cmd:"" help:"End the backoff windows of a book, or of one scene: what waits is tried at the next tick."`
}

type deferralsCmd struct {
	remote
	part
}

// Run implements the command.
func (c *deferralsCmd) Run(e *env) error {
	var did cleared
	if err := c.call(e, http.MethodPost, "/control/clear-deferrals", c.target(), &did); err != nil {
		return err
	}
	var list []stageStatus
	if did.Cleared == 0 {
		if err := c.status(e, c.Book, &list); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.stdout, "clear deferrals %s: %d were open%s\n", c.Book, did.Cleared, unasked(did.Cleared == 0 && len(list) == 0))
	return nil
}

type reconcileCmd struct {
	remote
	Force bool `help:"Also make again most of what is ready: its artifacts are gone, and you know why."`
}

// Run implements the command.
func (c *reconcileCmd) Run(e *env) error {
	var did passReport
	if err := c.call(e, http.MethodPost, "/control/reconcile", passOrder{c.Force}, &did); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "reconcile: %d scenes, %d live dispatches, %d ready stages looked at; %d results fed, %d dispatches adopted, %d lost, %d slots released, %d purged, %d stages restored, %d moot, %d withheld, %d errors\n",
		did.Scenes, did.Live, did.Proved, did.Fed, did.Adopted, did.Lost, did.Released, did.Purged, did.Restored, did.Moot, did.Withheld, did.Errors)
	return nil
}

// status reads where the stages of a book are that were asked for.
func (c *remote) status(e *env, book string, list *[]stageStatus) error {
	return c.call(e, http.MethodGet, "/control/status?book="+url.QueryEscape(book), nil, list)
}

type statusCmd struct {
	remote
	Book string        `arg:"" help:"Id of the book."`
	Wait time.Duration `help:"Wait this long for all that was asked for to be done; exit with 1 if it is not, or if a stage failed."`
}

// errUnfinished says that not all is as it was waited for.
var errUnfinished = errors.New("not every stage that was asked for is ready")

// Validate implements what kong asks for.
func (c *statusCmd) Validate() error {
	if c.Wait < 0 {
		return fmt.Errorf("--wait=%s: it is at least 0s; 0s asks once", c.Wait)
	}
	return nil
}

// Run implements the command.
func (c *statusCmd) Run(e *env) error {
	until := time.Now().Add(c.Wait)
	for {
		var list []stageStatus
		if err := c.status(e, c.Book, &list); err != nil {
			return err
		}
		if len(list) == 0 { // a name that is misspelt would be waited for in vain
			return fmt.Errorf("nothing of %s was asked for; is that its id?", ports.Quote(c.Book))
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
			return errInterrupted
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func settled(list []stageStatus) (done, ready bool) {
	done, ready = true, true
	for _, s := range list {
		done = done && s.Done()
		ready = ready && s.State == "ready"
	}
	return done, ready
}

func (c *statusCmd) print(e *env, list []stageStatus) {
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(w, "%s/%s:%s\t%s\t%s%s\n", s.Chapter, s.Scene, s.Stage, s.State, s.Reason, s.Error)
	}
	_ = w.Flush() // as with any print
}
