package schedule

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/animastor/orchestra/engine/asset"
	"github.com/animastor/orchestra/engine/store"
	"github.com/animastor/orchestra/ports"
)

// What could not be read is remembered of candidates only: a stage that is cancelled,
// finished or deferred is not tried again, and nothing else would take it out.
func TestUnreadIsOfCandidates(t *testing.T) {
	one := ports.SceneID{Book: "b", Chapter: "c", Scene: "s1"}.Of(asset.Image)
	two := ports.SceneID{Book: "b", Chapter: "c", Scene: "s2"}.Of(asset.Image)
	at := time.Unix(1, 0)
	s := New(nil, nil, false, "", nil)
	s.unread = map[ports.StageID]time.Time{one: at, two: at}

	(&tick{s: s, candidates: []store.StageView{{Stage: one}}}).forget()
	require.Equal(t, map[ports.StageID]time.Time{one: at}, s.unread)

	(&tick{s: s}).start(context.Background())
	require.Empty(t, s.unread)
}
