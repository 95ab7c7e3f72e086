// Package health counts the workers that may take the jobs of a workspace: those of the
// system, its own private ones, and private ones that others share for a while (spec
// runtime 4.14). The hub is the one source, and says by its own clock who lives.
//
// Invariants:
//
//   - A worker counts once, and only with an id, a known scope and a sign of life (WM1,
//     WM3): what is in doubt is no capacity.
//   - A list that could not be read is an error of who asked, never "no worker".
//
// Not for: choosing a worker, which the hub does.
package health

import "github.com/animastor/orchestra/ports"

// Availability counts the live workers of one type, as one workspace sees them.
type Availability struct {
	System, SystemBusy       int // that everybody may use, shared ones included
	Private, PrivateBusy     int // of the workspace itself, shared ones included
	Available, AvailableBusy int // that it may use; each worker once
}

// Idle is how many workers could take a job now.
func (a Availability) Idle() int { return a.Available - a.AvailableBusy }

// Of counts the workers of a type for a workspace; "" has none of its own.
func Of(workers []ports.Worker, kind, workspace string) Availability {
	var a Availability
	seen := map[string]bool{}
	for _, w := range workers {
		if w.ID == "" || w.Type != kind || !w.Alive || seen[w.ID] || !w.Serves(workspace) {
			continue
		}
		seen[w.ID] = true
		busy := 0
		if w.Busy {
			busy = 1
		}
		if w.Global() {
			a.System, a.SystemBusy = a.System+1, a.SystemBusy+busy
		}
		if w.Scope == ports.ScopePrivate && w.Workspace == workspace {
			a.Private, a.PrivateBusy = a.Private+1, a.PrivateBusy+busy
		}
		a.Available, a.AvailableBusy = a.Available+1, a.AvailableBusy+busy
	}
	return a
}
