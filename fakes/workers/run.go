package workers

import (
	"context"
	"strconv"
	"time"

	"github.com/animastor/orchestra/fakes/hub"
	"github.com/animastor/orchestra/ports"
	"github.com/animastor/orchestra/sim"
)

// Effects are the effects of the call worker.run beside those of the kernel. Of
// those, crash ends the worker in the middle of the job, hang leaves it
// heartbeating without progress for good, and slow does so for the rule's delay.
var Effects = sim.Effects{
	"crawl":     nil, // the rest of the job takes 50 times longer, with progress
	"oom":       nil, // fails with worker_out_of_memory
	"fail":      nil, // fails with the code in param, else invalid_workflow
	"half":      nil, // the upload stays unfinished (size 0), and the result says ok
	"wrong":     nil, // uploads its own artifact, and reports the result of another unit
	"duplicate": nil, // reports twice
}

const crawlFactor = 50

// run runs a claimed job to its end.
func (k *worker) run(ctx context.Context, c hub.Claim) {
	before := k.pool.last
	k.pool.last = c.Job
	half := k.duration(c) / 2
	if !k.toil(ctx, c, half) {
		return
	}
	fx, err := k.fate(c)
	effect := ""
	if fx != nil {
		effect = fx.Effect
	}
	switch {
	case err != nil:
		k.fail(ctx, c, "worker_crashed", err.Error())
		return
	case effect == "oom":
		k.fail(ctx, c, "worker_out_of_memory", "CUDA out of memory")
		return
	case effect == "fail" && fx.Param != "":
		k.fail(ctx, c, fx.Param, "")
		return
	case effect == "fail":
		k.fail(ctx, c, "invalid_workflow", "the workflow has no output node")
		return
	case effect == "crawl":
		half *= crawlFactor
	}
	if !k.toil(ctx, c, half) {
		return
	}
	k.complete(ctx, c, effect, before)
}

// fate is the call that the fault plan may have an effect on.
func (k *worker) fate(c hub.Claim) (*sim.Fired, error) {
	reply, err := k.pool.w.Do(&sim.Call{
		Service: "worker", Verb: "run", Subject: c.StageID().String() + "/" + ports.Quote(c.UnitID), Detail: "run " + strconv.Itoa(c.Run),
		Effects: Effects,
		Do:      func(fx *sim.Fired) (any, error) { return fx, nil },
	})
	if err != nil {
		return nil, err
	}
	return reply.(*sim.Fired), nil
}

// duration is how long the job takes in this run.
func (k *worker) duration(c hub.Claim) time.Duration {
	h := k.pool.w.Hash("job", c.JobID, strconv.Itoa(c.Run))
	return k.spec.JobTimeMin + time.Duration(h%uint64(k.spec.JobTimeMax-k.spec.JobTimeMin+1))
}

func (k *worker) fail(ctx context.Context, c hub.Claim, code, message string) {
	r := k.result(c.Job)
	r.Code, r.Message = code, message
	k.report(ctx, c, r)
}

// Of each chunk of audio.
const (
	audio   = "audio"
	spoken  = 3 * time.Second
	silence = time.Second // at its end
)

// complete uploads the artifact and reports it.
func (k *worker) complete(ctx context.Context, c hub.Claim, effect string, before ports.Job) {
	size := 1<<16 + int64(k.pool.w.Hash("size", c.JobID)%(1<<20))
	if effect == "half" {
		size = 0
	}
	file := ports.Artifact{Path: c.Path, Generation: c.Generation, Version: c.Version, Size: size, Composition: c.Composition()}
	if c.Stage == audio {
		file.Duration, file.Trimmed = spoken, spoken-silence
	}
	if err := k.upload(ctx, file); err != nil {
		k.fail(ctx, c, "upload_failed", err.Error())
		return
	}
	job := c.Job
	if effect == "wrong" {
		job = another(job, before)
	}
	r := k.result(job)
	r.OK, r.Artifact = true, job.Path
	k.report(ctx, c, r)
	if effect == "duplicate" {
		k.report(ctx, c, r)
	}
}

// another is job with the unit of the job before it, as if a buffer had not been
// cleared; without one, with a unit that nobody asked for.
func another(job, before ports.Job) ports.Job {
	if before.UnitID == "" || before.UnitID == job.UnitID {
		before.UnitID, before.JobID, before.Path = job.UnitID+"-other", job.JobID+"-other", job.Path
	}
	job.UnitID, job.JobID, job.Path = before.UnitID, before.JobID, before.Path
	return job
}

func (k *worker) result(j ports.Job) ports.JobResult {
	return ports.JobResult{
		JobID: j.JobID, DispatchID: j.DispatchID, BookID: j.BookID, ChapterID: j.ChapterID, SceneID: j.SceneID,
		Stage: j.Stage, UnitID: j.UnitID, Generation: j.Generation, Fence: j.Fence, Version: j.Version, Worker: k.Name(),
	}
}
