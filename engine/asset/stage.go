package asset

import (
	"fmt"
	"slices"
	"time"

	"github.com/animastor/orchestra/engine/guard"
)

// The stages of a scene.
const (
	Audio = "audio"
	Image = "image"
	Video = "video"
)

// Stages returns the stages in the order in which a tick looks at them.
func Stages() []string { return []string{Audio, Image, Video} }

// ValidStage reports whether stage is one of Stages.
func ValidStage(stage string) bool {
	return stage == Audio || stage == Image || stage == Video
}

// Profile is what the engine must know of a kind of stage: its limits and times.
type Profile struct {
	Stage            string
	Slots            int           // dispatches that may be live at once (spec runtime 2)
	Lease            time.Duration // L: time to live of lease, record and jobs at begin
	RenewedLease     time.Duration // time to live after a renewal: L + 180 s
	RenewEvery       time.Duration // time between two renewals
	JobTimeout       time.Duration // a worker's time for one job
	ProgressDeadline time.Duration // since the last progress; then the dispatch is lost: JobTimeout + 5 min
	RetryBudget      int           // failures that a stage may have in stock
	RefillEvery      time.Duration // one token of the budget returns in this time (design 5.4.4)
	Breaker          guard.Breaker // of all stages of the kind (design 5.4.3)
}

var profiles = []Profile{
	profile(Audio, 8, 1860*time.Second, 10*time.Minute),
	profile(Image, 4, 1200*time.Second, 20*time.Minute),
	profile(Video, 2, 1800*time.Second, 60*time.Minute),
}

// profile adds what the stages share.
func profile(stage string, slots int, lease, jobTimeout time.Duration) Profile {
	return Profile{
		Stage:        stage,
		Slots:        slots,
		Lease:        lease,
		RenewedLease: lease + 180*time.Second,
		RenewEvery:   30 * time.Second,
		RetryBudget:  10,
		RefillEvery:  6 * time.Minute,
		Breaker:      guard.Published(),
	}.WithJobTimeout(jobTimeout)
}

// WithJobTimeout is the profile with another time for one job, and what follows from it.
func (p Profile) WithJobTimeout(d time.Duration) Profile {
	p.JobTimeout, p.ProgressDeadline = d, d+5*time.Minute
	return p
}

// Profiles returns the profile of each stage, in the order of Stages.
func Profiles() []Profile { return slices.Clone(profiles) }

// ProfileOf returns the profile of a stage. There is no fallback: a stage that is
// not ValidStage must have been refused at the door, so it panics.
func ProfileOf(stage string) Profile {
	for _, p := range profiles {
		if p.Stage == stage {
			return p
		}
	}
	panic(fmt.Sprintf("asset: no profile of stage %q; check ValidStage first", stage))
}
