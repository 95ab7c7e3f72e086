package outcome_test

import (
	"fmt"

	"github.com/animastor/orchestra/engine/outcome"
)

// Five units are done and one lacks a worker: the stage waits for the worker.
func ExampleClassify() {
	var t outcome.Tally
	for range 5 {
		t.Add(outcome.AlreadyCompleted)
	}
	t.Add(outcome.NoWorkerAvailable)
	v, err := outcome.Classify(t.Counts())
	fmt.Println(v.Reason, v.Bucket, v.Window, v.Deferred, v.Retryable, err)

	t.Add(outcome.SendFailed) // and now one that does not defer
	v, err = outcome.Classify(t.Counts())
	fmt.Println(v.Reason, v.Bucket, v.Window, v.Deferred, v.Retryable, err)

	_, err = outcome.Classify([]outcome.Count{{Reason: "no_idea", N: 1}})
	fmt.Println(err)
	// Output:
	// already_completed idempotent 1m0s true false <nil>
	// send_failed immediate 0s false true <nil>
	// outcome: classify "no_idea": 1: unknown reason; add it to the table of package outcome
}

func ExampleBackoff() {
	for idle := int64(1); idle <= 7; idle++ {
		fmt.Print(outcome.Backoff(idle), " ")
	}
	// Output: 0s 0s 10s 20s 40s 1m0s 1m0s
}

func ExampleClassifyFailure() {
	fmt.Println(outcome.ClassifyFailure(outcome.WorkerOutOfMemory, "anything"))
	fmt.Println(outcome.ClassifyFailure("", "CUDA: out of GPU memory"))
	fmt.Println(outcome.ClassifyFailure("image_not_ready", ""))
	// Output:
	// {infrastructure true high}
	// {infrastructure true high}
	// {transient true low}
}
