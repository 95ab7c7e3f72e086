package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ask reads an answer of the hub.
func (s *Stack) ask(path string, into any) error {
	req, err := http.NewRequest(http.MethodGet, s.HubURL()+path, nil)
	if err != nil {
		return err
	}
	resp, err := s.send(req)
	if err != nil {
		return err
	}
	return errors.Join(json.NewDecoder(resp.Body).Decode(into), resp.Body.Close())
}

// send makes a request of the hub; what it does not grant is an error.
func (s *Stack) send(req *http.Request) (*http.Response, error) {
	req.Header.Set("X-Api-Key", Key)
	resp, err := (&http.Client{Timeout: 5 * time.Second}).Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		_ = resp.Body.Close() // the status says it all
		return nil, fmt.Errorf("live: %s %s: %s", req.Method, req.URL.Path, resp.Status)
	}
	return resp, nil
}

// Crew is how many workers of a stage there are, and how long the jobs take that they start
// (`orchestra hub` takes it).
type Crew struct {
	Stage     string `json:"stage"`
	Workspace string `json:"workspace,omitempty"`
	Count     int    `json:"count"`
	JobMinMs  int64  `json:"job_min_ms"`
	JobMaxMs  int64  `json:"job_max_ms"`
	SharedMs  int64  `json:"shared_ms,omitempty"`
}

// SetWorkers gives a stage its workers, and waits until the hub has heard of them.
func (s *Stack) SetWorkers(c Crew) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, s.HubURL()+"/loopback/workers", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := s.send(req)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	name := c.Stage + "-"
	if c.Workspace != "" {
		name += c.Workspace + "-"
	}
	return s.awaitWorkers(name, c.Count)
}

// LiveJobs counts the jobs of a dispatch that the hub has queued or running.
func (s *Stack) LiveJobs(dispatch string) (int, error) {
	list, err := s.liveJobs(dispatch)
	return len(list), err
}

type worker struct {
	ID    string `json:"id"`
	Alive bool   `json:"alive"`
	Busy  bool   `json:"busy"`
}

func (s *Stack) workers() (list []worker, err error) {
	var answer struct{ Workers []worker }
	err = s.ask("/workers", &answer)
	return answer.Workers, err
}

// awaitWorkers waits until so many workers, of names that begin so, have said that they live.
func (s *Stack) awaitWorkers(prefix string, n int) error {
	for range 100 {
		list, err := s.workers()
		list = slices.DeleteFunc(list, func(w worker) bool { return !w.Alive || !strings.HasPrefix(w.ID, prefix) })
		if err == nil && len(list) >= n {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("live: fewer than %d workers %s… have come to the hub", n, prefix)
}

// Leftovers lists what should be gone when all work is done: slots, leases, records and
// jobs in Redis, scenes in the index, lines in the outbox, and live jobs at the hub.
// Receipts and markers lapse by themselves (schema 2).
func (s *Stack) Leftovers(ctx context.Context) (left []string, err error) {
	var dispatches []string
	keys := s.client.Scan(ctx, 0, "animastor:*", 1000).Iterator()
	for keys.Next(ctx) {
		key := keys.Val()
		if i := strings.LastIndex(key, ":dispatch-"); i >= 0 && strings.HasPrefix(key, "animastor:dispatch-completed:") {
			dispatches = append(dispatches, key[i+1:])
		}
		for _, family := range []string{"active-scenes", "dispatch-lease:", "dispatch-jobs:", "dispatch:", "runtime:slots:", "runtime:outbox", "runtime:deferred:"} {
			if strings.HasPrefix(key, "animastor:"+family) {
				left = append(left, key)
			}
		}
	}
	if err := keys.Err(); err != nil {
		return nil, err
	}
	list, err := s.workers()
	if err != nil {
		return nil, err
	}
	for _, w := range list {
		if w.Busy {
			left = append(left, "the job of "+w.ID)
		}
	}
	for _, id := range dispatches {
		jobs, err := s.liveJobs(id)
		if err != nil {
			return nil, err
		}
		left = append(left, jobs...)
	}
	slices.Sort(left)
	return left, nil
}

// liveJobs are the jobs of a dispatch that the hub has queued or running.
func (s *Stack) liveJobs(dispatch string) (list []string, err error) {
	var answer struct {
		Jobs []struct {
			JobID string `json:"job_id"`
			State string
		}
	}
	if err := s.ask("/dispatches/"+url.PathEscape(dispatch), &answer); err != nil {
		return nil, err
	}
	for _, j := range answer.Jobs {
		if j.State == "queued" || j.State == "running" {
			list = append(list, j.State+" "+j.JobID)
		}
	}
	return list, nil
}

// Files are the files of the artifact tree, descriptions included, each with a digest. What a
// killed writer has left half-written under another name (`….upload`) is none: nothing reads it.
func (s *Stack) Files() (map[string]string, error) {
	files := map[string]string{}
	return files, filepath.WalkDir(s.Tree(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(entry.Name(), ".upload") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.Tree(), path)
		sum := sha256.Sum256(text)
		files[name] = hex.EncodeToString(sum[:8])
		return err
	})
}
