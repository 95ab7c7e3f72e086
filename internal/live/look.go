package live

import (
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
	req.Header.Set("X-Api-Key", Key)
	resp, err := (&http.Client{Timeout: 5 * time.Second}).Do(req)
	if err != nil {
		return err
	}
	return errors.Join(json.NewDecoder(resp.Body).Decode(into), resp.Body.Close())
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

// awaitWorkers waits for the first workers to say that they live.
func (s *Stack) awaitWorkers() error {
	for range 100 {
		if list, err := s.workers(); err == nil && len(list) > 0 {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("live: no worker has come to the hub")
}

// Leftovers lists what should be gone when all work is done: slots, leases, records and
// jobs in Redis, scenes in the index, lines in the outbox, and live jobs at the hub.
// Receipts and markers lapse by themselves (schema 2).
func (s *Stack) Leftovers(ctx context.Context) (left []string, err error) {
	var dispatches []string
	keys := s.Redis.Scan(ctx, 0, "animastor:*", 1000).Iterator()
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
		var answer struct {
			Jobs []struct {
				JobID string `json:"job_id"`
				State string
			}
		}
		if err := s.ask("/dispatches/"+url.PathEscape(id), &answer); err != nil {
			return nil, err
		}
		for _, j := range answer.Jobs {
			if j.State == "queued" || j.State == "running" {
				left = append(left, fmt.Sprintf("%s %s", j.State, j.JobID))
			}
		}
	}
	slices.Sort(left)
	return left, nil
}

// Stands says whether a whole file stands at a path of the artifact tree.
func (s *Stack) Stands(path string) (bool, error) {
	for _, name := range []string{path, path + ".json"} {
		info, err := os.Stat(filepath.Join(s.Artifacts, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil || info.Size() == 0 {
			return false, err
		}
	}
	return true, nil
}

// Files are the files of the artifact tree, descriptions included, each with a digest.
func (s *Stack) Files() (map[string]string, error) {
	files := map[string]string{}
	return files, filepath.WalkDir(s.Artifacts, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.Artifacts, path)
		sum := sha256.Sum256(text)
		files[name] = hex.EncodeToString(sum[:8])
		return err
	})
}
