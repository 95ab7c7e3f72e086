package guard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/guard"
	"github.com/animastor/orchestra/engine/outcome"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		code    string
		claimed bool
		want    guard.Evidence
	}{
		{outcome.WorkerOutOfMemory, true, guard.Failure},
		{outcome.WorkerOutOfMemory, false, guard.None},
		{outcome.InvalidWorkflow, true, guard.None},
		{outcome.ArtifactMissing, true, guard.None},
		{outcome.Lost, true, guard.Failure},
		{outcome.Lost, false, guard.None},
	} {
		require.Equal(t, c.want, guard.Judge(outcome.ClassifyFailure(c.code, ""), c.claimed), "%s, claimed %t", c.code, c.claimed)
	}
}
